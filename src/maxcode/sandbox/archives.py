"""Reads tar archives that a program may have written: no compression, and no member that is longer than its bytes.

A header of 512 bytes can say that a file of holes is as long as one likes, and so can a compressed archive.
"""

from __future__ import annotations

import io
import tarfile

BROKEN = (tarfile.TarError, EOFError, ValueError, OSError, RecursionError)  # what an archive that is none raises


def opened(archive: bytes) -> tarfile.TarFile:
    """The archive, to read it member by member; any of ``BROKEN``, here or later, where it is none."""
    return tarfile.open(fileobj=io.BytesIO(archive), mode="r:")


def content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | None:
    """The bytes of a plain file, None for what is none; one of ``BROKEN`` for a file of holes."""
    if member.issparse():
        raise tarfile.ReadError(f"{member.name[:80]!r} is a file of holes")
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
        return None
    file = archive.extractfile(member)
    return file.read() if file is not None else None
