"""The cache folder of maxcode, and the compilation of its own small C programs.

The shim, the self-test and ``fill.c`` are trusted source files of this package.  They are compiled on first use with
the machine's compiler, and cached under the hash of their text.  No code of a policy is compiled here.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
import subprocess
from pathlib import Path

import anyio.to_thread

from maxcode.errors import InputError, MachineError, UnsafeError

SHIM = Path(__file__).with_name("shim.c")
PROBE = Path(__file__).with_name("probe.c")
FILL = Path(__file__).with_name("fill.c")
_FLAGS = ("-std=gnu17", "-O2", "-pthread")
_SHARED = ("-shared", "-fPIC", "-lm")


def cache_root() -> Path:
    """The cache folder: $MAXCODE_CACHE, /var/cache/maxcode for root, else the user's cache.

    It is created if needed.  InputError if it cannot be written, if others can write it (maxcode runs programs from
    it), or if maxcode runs as root and the sandbox user cannot enter it.
    """
    path = _cache_path()
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o755)
        about = path.stat()
    except OSError as error:
        raise InputError(f"cannot use the cache folder {path}: {error.strerror}; {_CURE}") from error
    if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(f"the cache folder {path} must belong to you and be writable by you alone; {_CURE}")
    if not os.access(path, os.W_OK):
        raise InputError(f"cannot write to the cache folder {path}; {_CURE}")
    closed = next((at for at in (path, *path.parents) if not at.stat().st_mode & stat.S_IXOTH), None)
    if os.geteuid() == 0 and closed is not None:
        raise InputError(f"the sandbox user cannot enter {closed}, which contains the cache folder; {_CURE}")
    return path


_CURE = "set MAXCODE_CACHE to a folder of your own"


def _cache_path() -> Path:
    if chosen := os.environ.get("MAXCODE_CACHE"):
        return Path(chosen).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/maxcode")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "maxcode"


def digest_of(source: Path) -> str:
    """A hash over a C program of this package, ``NAME.c`` with its ``NAME_*.h``, and its compiler flags."""
    texts = [path.read_bytes() for path in (source, *_headers(source))]
    return hashlib.sha256(b"\0".join([*texts, " ".join((*_FLAGS, *_SHARED)).encode()])).hexdigest()[:20]


def _headers(source: Path) -> list[Path]:
    return sorted(source.parent.glob(f"{source.stem}_*.h"))


async def own_program(source: Path, cache: Path) -> Path:
    """The compiled C program ``source`` of this package, from ``cache`` or compiled now (about a second).

    UnsafeError if there is no C compiler; MachineError if it fails.
    """
    built = cache / f"{source.stem}-{digest_of(source)}"
    if not built.exists():
        await anyio.to_thread.run_sync(_compile, source, built, _FLAGS)
    return built


def own_library(source: Path, cache: Path) -> Path:
    """The compiled library ``source`` of this package, for this process to load."""
    built = cache / f"{source.stem}-{digest_of(source)}.so"
    if not built.exists():
        _compile(source, built, (*_FLAGS, *_SHARED))
    return built


def _compile(source: Path, built: Path, flags: tuple[str, ...]) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        raise UnsafeError("the sandbox needs a C compiler to build its shim; install gcc")
    scratch = built.with_name(f"{built.name}.{secrets.token_hex(4)}")
    done = subprocess.run([compiler, str(source), *flags, "-o", str(scratch)], capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        raise MachineError(f"{compiler} cannot build {source.name} of maxcode:\n{words[:2000]}")
    scratch.chmod(0o755)  # whatever the umask is: the sandbox user starts it
    scratch.replace(built)
