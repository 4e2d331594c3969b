"""What a compiled program needs to start: the dynamic linker and the compiler's runtime libraries, and no more.

A session for compiled programs gets these as fresh copies in memory of its own, in place of the host's /usr.  A file
of the host is shared by all runs, and which of its pages are resident is a note from one run to the next: 22 times
faster, once, for a program that touched cold pages of a library when it had worked, and looked for them in later runs.
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
_CACHE = Path("/etc/ld.so.cache")  # where the linker looks up the places of libraries


async def find_runtime() -> dict[str, Path]:
    """Path in the sandbox -> file of the host; empty when there is no C compiler to ask."""
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        return {}
    asked = [await anyio.run_process([compiler, f"-print-file-name={name}"], check=False) for name in _LIBRARIES]
    return dict(_places([Path(one.stdout.decode(errors="replace").strip()) for one in asked]))


def _places(libraries: list[Path]) -> Iterator[tuple[str, Path]]:
    """Each file under the name by which it is asked for, whose folder is the real one."""
    linkers = [path for pattern in _LINKERS for path in Path("/").glob(pattern[1:])]
    for path in (*linkers, *libraries, _CACHE):
        if path.is_absolute() and path.is_file():  # a library that the compiler does not know is a bare name
            yield str(path.parent.resolve() / path.name), path.resolve()
