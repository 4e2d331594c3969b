"""C++ in a Python module by the shortest way: ``g++`` to a shared object, called through ctypes.

    from maxcode.native import load

    lib = load('extern "C" void twice(const float *x, float *y, long n) {...}')
    lib.twice(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_long(x.numel()))

A tenth of a second where ``torch.utils.cpp_extension.load_inline`` takes most of a minute.  Needs nothing but g++, so
this file can be copied beside a program that uses it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path

FLAGS = ("-O3", "-march=native", "-ffast-math", "-fopenmp", "-std=c++17")


def load(source: str, flags: tuple[str, ...] = FLAGS) -> ctypes.CDLL:
    """The library compiled from ``source``, from the cache where it was before; RuntimeError with g++'s words.

    The cache is $MAXCODE_NATIVE, else ``~/.cache/maxcode/native``.
    """
    folder = Path(os.environ.get("MAXCODE_NATIVE") or Path.home() / ".cache" / "maxcode" / "native")
    path = folder / f"{hashlib.sha256(repr((source, flags)).encode()).hexdigest()[:32]}.so"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _compile(source, flags, path)
    return ctypes.CDLL(str(path))


def _compile(source: str, flags: tuple[str, ...], path: Path) -> None:
    made = path.with_suffix(f".{os.getpid()}")
    argv = ["g++", "-shared", "-fPIC", *flags, "-x", "c++", "-", "-o", str(made)]
    ran = subprocess.run(argv, input=source.encode(), capture_output=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"g++ refused it:\n{ran.stderr.decode(errors='replace')[:8000]}")
    os.replace(made, path)
