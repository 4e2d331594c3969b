"""What Python compiled: the files of ``__pycache__``, which a repository may track, and a build may leave.

Python looks at the time and the size of a source, or at its hash, before it runs what it compiled of it.  So such a
file says nothing that its source does not, with one exception: a file may ask not to be checked (PEP 552).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path, PurePosixPath

CACHE = "__pycache__"
_SUFFIXES = (".pyc", ".pyo")
_HEAD, _HASHED, _CHECKED = 8, 1, 2  # bytes with the flags, and these (PEP 552)


def is_cache(path: str) -> bool:
    """Whether a path is in a folder of what Python compiled."""
    return CACHE in PurePosixPath(path).parts


def source_of(path: str) -> str:
    """The source that Python compiled to this file; empty if it is no such file."""
    pure = PurePosixPath(path)
    if pure.suffix not in _SUFFIXES:
        return ""
    if pure.parent.name != CACHE:
        return str(pure.with_suffix(".py"))
    return str(pure.parent.parent / f"{pure.name.split('.')[0]}.py")


def runs_unchecked(path: Path) -> bool:
    """Whether Python runs a compiled file whatever its source says."""
    head = b""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(_HEAD)
    flags = int.from_bytes(head[4:], "little")
    return len(head) == _HEAD and bool(flags & _HASHED) and not flags & _CHECKED
