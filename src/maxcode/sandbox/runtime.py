"""The files that a compiled program needs to start: the dynamic linker and the compiler's runtime libraries.

A session for compiled programs gets fresh copies of them in its own memory, instead of the host's /usr.  All runs share
a file of the host, and a run can leave information for the next in the set of its resident pages.  One program did so:
it touched cold pages of a library after it had done its work, looked for them in later runs, and was 22 times faster.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio

_LINKERS = ("/lib64/ld-linux-*.so.*", "/lib/ld-linux-*.so.*", "/lib/ld-musl-*.so.*")
_LIBRARIES = (
    *("libc.so.6", "libm.so.6", "libmvec.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"),
    *("libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1", "libatomic.so.1", "libquadmath.so.0"),
)
CACHE = Path("/etc/ld.so.cache")  # where the linker finds the paths of libraries


async def find_runtime() -> dict[str, Path]:
    """Path in the sandbox -> file of the host; empty if there is no C compiler to ask."""
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        return {}
    asked = [await anyio.run_process([compiler, f"-print-file-name={name}"], check=False) for name in _LIBRARIES]
    return dict(_places([Path(answer.stdout.decode(errors="replace").strip()) for answer in asked]))


def find_linkers() -> list[Path]:
    """The dynamic linkers of this machine."""
    return [path for pattern in _LINKERS for path in Path("/").glob(pattern[1:])]


def _places(libraries: list[Path]) -> Iterator[tuple[str, Path]]:
    """(path in the sandbox, file) of each file; the path has the requested name in the real folder."""
    for path in (*find_linkers(), *libraries, CACHE):
        if path.is_absolute() and path.is_file():  # the compiler prints a bare name for a library it does not know
            yield str(path.parent.resolve() / path.name), path.resolve()
