"""Compiles C++ or CUDA to a shared object with ``g++`` or ``nvcc``, and loads it through ctypes.

    from maxcode.native import load

    lib = load('extern "C" void twice(const float *x, float *y, long n) {...}')
    lib.twice(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_long(x.numel()))

``load`` takes a tenth of a second; ``torch.utils.cpp_extension.load_inline`` takes most of a minute.  ``load_cuda``
takes two seconds; ``load_inline`` takes minutes.  This file needs only the compiler, so a program can ship a copy.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path

FLAGS = ("-O3", "-march=native", "-ffast-math", "-fopenmp", "-std=c++17")
CUDA_FLAGS = ("-O3", "-std=c++17", "-lineinfo")


def load(source: str, flags: tuple[str, ...] = FLAGS) -> ctypes.CDLL:
    """Compiles ``source``, or takes the library from the cache.  RuntimeError with the messages of g++.

    The cache is $MAXCODE_NATIVE, else ``~/.cache/maxcode/native``.
    """
    path = _place(repr((source, flags)))
    if not path.exists():
        _compile(source, flags, path)
    return ctypes.CDLL(str(path))


def load_cuda(source: str, flags: tuple[str, ...] = CUDA_FLAGS) -> ctypes.CDLL:
    """Compiles CUDA likewise: the library has the ``extern "C"`` functions that launch the kernels of ``source``.

    A launcher takes pointers (``data_ptr()`` of tensors on the GPU) and the stream to launch on
    (``torch.cuda.current_stream().cuda_stream``).  $MAXCODE_CUDA_ARCH is the GPU to compile for (``sm_90``); the
    default is the GPU of this machine.  The ``.log`` file next to the library has the messages of nvcc and ptxas about
    registers and spills.  RuntimeError with the messages of nvcc.
    """
    arch = os.environ.get("MAXCODE_CUDA_ARCH") or "native"
    path = _place(repr((source, flags, arch)))
    if not path.exists():
        _compile_cuda(source, (f"-arch={arch}", *flags), path)
    return ctypes.CDLL(str(path))


def _place(key: str) -> Path:
    folder = Path(os.environ.get("MAXCODE_NATIVE") or Path.home() / ".cache" / "maxcode" / "native")
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.so"


def _compile(source: str, flags: tuple[str, ...], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    argv = ["g++", "-shared", "-fPIC", *flags, "-x", "c++", "-", "-o", str(made)]
    ran = subprocess.run(argv, input=source.encode(), capture_output=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"g++ cannot compile the source:\n{ran.stderr.decode(errors='replace')[:8000]}")
    os.replace(made, path)


def _compile_cuda(source: str, flags: tuple[str, ...], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made, text = path.with_suffix(f".{os.getpid()}"), path.with_suffix(".cu")
    text.write_text(source)
    argv = ["nvcc", "-shared", "-Xcompiler", "-fPIC", "-Xptxas", "-v", *flags, str(text), "-o", str(made)]
    ran = subprocess.run(argv, capture_output=True, check=False)
    words = (ran.stdout + ran.stderr).decode(errors="replace")
    path.with_suffix(".log").write_text(words)
    if ran.returncode:
        raise RuntimeError(f"nvcc cannot compile the source:\n{words[:8000]}")
    os.replace(made, path)
