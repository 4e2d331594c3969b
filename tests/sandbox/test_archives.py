"""Archives that a program may have written are read without trust."""

from __future__ import annotations

import io
import tarfile

import pytest

from maxcode.sandbox.archives import BROKEN, content, opened


def packed(size: int = 3, kind: bytes = tarfile.REGTYPE, mode: str = "w") -> bytes:
    """An archive with one member of three bytes that says it is so long."""
    about = tarfile.TarInfo("a.so")
    about.size, about.type = 3, kind
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        archive.addfile(about, io.BytesIO(b"abc"))
    if size == 3:
        return out.getvalue()
    head = bytearray(out.getvalue())
    head[124:136] = b"%011o\0" % size
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head[:512])
    return bytes(head)


def holes() -> bytes:
    """A file of holes: its header says that it is 40 GB long."""
    head = bytearray(packed(kind=tarfile.GNUTYPE_SPARSE))
    head[386:483] = bytes(97)
    head[483:495] = b"\x80" + (40 << 30).to_bytes(11, "big")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head[:512])
    return bytes(head)


def read(archive: bytes) -> list[bytes | None]:
    with opened(archive) as found:
        return [content(found, member) for member in found]


def test_a_plain_file_is_read_and_a_folder_is_none() -> None:
    assert read(packed()) == [b"abc"]
    assert read(packed(kind=tarfile.DIRTYPE)) == [None]


@pytest.mark.parametrize(
    "archive",
    [b"x" * 100, packed(1 << 30), holes(), packed(mode="w:gz"), packed(mode="w:xz"), packed(kind=b"L") * 2000],
    ids=["no archive", "too short", "holes", "gzip", "xz", "names of names"],
)
def test_what_would_take_more_memory_than_it_has_bytes_is_broken(archive: bytes) -> None:
    with pytest.raises(BROKEN):
        read(archive)
