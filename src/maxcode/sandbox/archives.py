"""Reads tar archives that a program may have written: no compression, and no member that is longer than its bytes.

A header of 512 bytes can say that a file of holes is as long as one likes, and so can a compressed archive.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath
from tarfile import ReadError
from typing import Self, final

# What an archive that is none raises.
BROKEN = (tarfile.TarError, EOFError, ValueError, ArithmeticError, OSError, RecursionError)
MEMBERS_AT_MOST = 400_000
_LONG_NUMBER = re.compile(rb"\d{200}")
_FURTHER = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)


@final
class _Member(tarfile.TarInfo):
    """A member, with what tarfile does not check in every version: a size below zero leads back to an earlier member,
    for ever; in further fields it looks at the rest of a number from each of its digits; it keeps all members."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        assert tarfile.fileobj is not None
        began = tarfile.fileobj.tell()
        if _LONG_NUMBER.search(_further(tarfile)):
            raise ReadError("a number in the fields of a member is too long")
        tarfile.fileobj.seek(began)
        found = super().fromtarfile(tarfile)
        known = len(tarfile.members)  # type: ignore[attr-defined]
        if found.size < 0 or tarfile.offset <= began or known >= MEMBERS_AT_MOST:
            raise ReadError(f"{found.name[:80]!r} has {found.size} bytes, or comes after {MEMBERS_AT_MOST} others")
        return found


def _further(archive: tarfile.TarFile) -> bytes:
    """The further fields that are here; empty if a member itself is, or nothing that can be read."""
    assert archive.fileobj is not None
    try:
        head = tarfile.TarInfo.frombuf(archive.fileobj.read(tarfile.BLOCKSIZE), tarfile.ENCODING, "surrogateescape")
    except tarfile.TarError:
        return b""
    return archive.fileobj.read(max(0, head.size)) if head.type in _FURTHER else b""


def opened(archive: bytes) -> tarfile.TarFile:
    """The archive, to read it member by member; any of ``BROKEN``, here or later, where it is none."""
    return tarfile.open(fileobj=io.BytesIO(archive), mode="r:", tarinfo=_Member)


def content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | None:
    """The bytes of a plain file, None for what is none; one of ``BROKEN`` for a file of holes."""
    if member.issparse():
        raise tarfile.ReadError(f"{member.name[:80]!r} is a file of holes")
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
        return None
    file = archive.extractfile(member)
    return file.read() if file is not None else None


def unpack(archive: bytes, folder: Path) -> None:
    """Makes the files and links of an archive in an empty folder; any of ``BROKEN`` where it is none, or a name leaves
    the folder.  Files of holes, what is no file, and hard links to these are left out.

    Links may point anywhere, as a virtual environment's do.  They come last, and never below another, so that nothing
    is written through one.
    """
    with opened(archive) as packed:
        symbolic = {one.name: one.linkname for one in packed if one.issym()}
        links = {one.name: symbolic.get(one.linkname if one.islnk() else one.name, "") for one in packed.getmembers()}
        files = (one for one in packed if not links[one.name])
        packed.extractall(folder, list(_plain(files)), filter="data")
    for name, to in links.items():
        if to:
            _link(folder, PurePosixPath(name), to)


def _plain(members: Iterable[tarfile.TarInfo]) -> Iterator[tarfile.TarInfo]:
    """Folders and files, and the hard links to files before them: of another one tarfile would make the target anew,
    whatever it is."""
    made: dict[str, bool] = {}
    for one in members:
        target = normpath(one.linkname)
        if one.islnk() and target not in made:
            raise tarfile.ReadError(f"{one.name[:80]!r} is a link to what is not in the folder")
        is_file = made[target] if one.islnk() else one.isreg() and not one.issparse()
        made[normpath(one.name)] = is_file
        if is_file or one.isdir():
            yield one


def _link(folder: Path, name: PurePosixPath, to: str) -> None:
    below = [folder / one for one in name.parents]
    if name.is_absolute() or ".." in name.parts or any(one.is_symlink() for one in below):
        raise tarfile.ReadError(f"{str(name)[:80]!r} is not in the folder")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    os.symlink(to, folder / name)
