"""Archives that a program may have written are read without trust."""

from __future__ import annotations

import io
import tarfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from maxcode.sandbox.archives import BROKEN, content, opened, unpack


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


def with_fields(fields: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """A member, and then one with these further fields."""
    about = tarfile.TarInfo("fields")
    about.size, about.type = len(fields), kind
    padded = fields + bytes(-len(fields) % tarfile.BLOCKSIZE)
    first = packed()[: 2 * tarfile.BLOCKSIZE]
    return first + about.tobuf(tarfile.USTAR_FORMAT) + padded + packed()


def field(name: str, value: str) -> bytes:
    rest = f" {name}={value}\n"
    size = next(size for size in range(len(rest), len(rest) + 9) if len(f"{size}{rest}") == size)
    return f"{size}{rest}".encode()


@pytest.mark.parametrize(
    "archive",
    [with_fields(field("size", "-1536")), with_fields(field("size", "-2560")), with_fields(b"1" * 10_000_000),
     with_fields(b"1" * 10_000_000, tarfile.XGLTYPE)],
    ids=["back to itself", "back to the first", "digits", "digits for all"],
)  # fmt: skip
def test_fields_that_would_be_read_for_ever_are_broken(archive: bytes) -> None:
    began = time.process_time()
    with pytest.raises(BROKEN):
        read(archive)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("when", ["nan", "inf", "1e300", "-1e300", "9" * 100])
def test_a_time_that_no_clock_shows_is_broken_or_is_none(tmp_path: Path, when: str) -> None:
    archive = with_fields(field("mtime", when))
    assert read(archive) == [b"abc", b"abc"]
    with suppress(*BROKEN):
        unpack(archive, tmp_path)


def test_further_fields_are_read_as_ever() -> None:
    with opened(with_fields(field("path", "long/" * 60 + "name"))) as found:
        assert [len(member.name) for member in found] == [4, 304]


Member = tuple[str, bytes, str]  # name, type, content or target


def made_of(*members: Member) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, kind, text in members:
            one = tarfile.TarInfo(name)
            one.type, one.mode = kind, 0o755
            if kind == tarfile.REGTYPE:
                one.size = len(text)
                archive.addfile(one, io.BytesIO(text.encode()))
            else:
                one.linkname = text
                archive.addfile(one)
    return made.getvalue()


FILE, LINK, SAME = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE


def test_links_stay_as_they_are_wherever_they_point(tmp_path: Path) -> None:
    unpack(
        made_of(
            ("./.venv/bin/python3", LINK, "/usr/bin/python3"),
            ("./.venv/bin/python", SAME, "./.venv/bin/python3"),
            ("./up", LINK, "../../elsewhere"),
            ("./main", FILE, "echo"),
            ("./same", SAME, "./main"),
        ),
        tmp_path,
    )
    found = {str(one.relative_to(tmp_path)): str(one.readlink()) for one in tmp_path.rglob("*") if one.is_symlink()}
    assert found == {
        ".venv/bin/python3": "/usr/bin/python3", ".venv/bin/python": "/usr/bin/python3", "up": "../../elsewhere",
    }  # fmt: skip
    assert (tmp_path / "same").read_text() == "echo"


@pytest.mark.parametrize(
    "members",
    [
        [("a", LINK, "{out}"), ("a/stolen", FILE, "x")],
        [("a", LINK, "{out}"), ("a/stolen", LINK, "/etc")],
        [("b/c", LINK, ".."), ("a", LINK, "{out}"), ("b/c/a/stolen", LINK, "/etc")],
        [("a", LINK, "{out}"), ("b", LINK, "a"), ("b/stolen", SAME, "b")],
        [("../out/stolen", LINK, "/etc")],
        [("../out/stolen", FILE, "x")],
        [("stolen", SAME, "../out/secret")],
    ],
)
def test_nothing_is_written_outside_the_folder(tmp_path: Path, members: list[Member]) -> None:
    out, folder = tmp_path / "out", tmp_path / "in"
    out.mkdir()
    folder.mkdir()
    (out / "secret").write_text("secret")
    with pytest.raises(BROKEN):
        unpack(made_of(*((name, kind, text.replace("{out}", str(out))) for name, kind, text in members)), folder)
    assert [one.name for one in out.iterdir()] == ["secret"] and not (folder / "stolen").exists()


def test_what_is_no_file_and_links_to_it_are_left_out(tmp_path: Path) -> None:
    pipe, device = tarfile.FIFOTYPE, tarfile.CHRTYPE
    archive = made_of(
        ("ctl", pipe, ""), ("zero", device, ""), ("to", SAME, "./ctl"), ("on", SAME, "to"), ("main", FILE, "echo")
    )
    unpack(archive, tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["main"]


def test_a_link_to_a_file_of_holes_makes_none(tmp_path: Path) -> None:
    blocks = holes()[:1024]  # without the end of the archive
    unpack(blocks + made_of(("same", SAME, "a.so"), ("main", FILE, "echo")), tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["main"]
