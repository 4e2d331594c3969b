"""Files of the user: read within bounds and with clear errors, and replaced atomically.

Every file that a user names is read through ``read_file``, ``read_lines``, ``read_text``, ``read_toml`` or ``opened``:
a device or a named pipe would never end, and a huge file would take all memory.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, final

from maxcode.core.confined import is_outside, refuse_outside
from maxcode.errors import InputError

TEXT_AT_MOST = 64 << 20  # bytes: what people and maxcode write as a text, such as a source, a certificate or a table
DATA_AT_MOST = 1 << 30  # bytes: one input or one expected output of a test
RECORD_AT_MOST = 4 << 30  # bytes: what grows line by line, and weights


@final
@dataclass(frozen=True, slots=True)
class FileKind:
    """What a file is for.

    ``name``     its name in messages, such as "the source"; may be empty
    ``cure``     what to do if it cannot be opened
    ``at_most``  bytes
    ``grows``    another process may append to it: then it is read up to the end that it had when it was opened
    ``error``    the class of its errors
    """

    name: str = ""
    cure: str = "correct its name, or its rights"
    at_most: int = TEXT_AT_MOST
    grows: bool = False
    error: type[InputError] = InputError

    def fault(self, path: Path, why: str, cure: str = "") -> InputError:
        """The error for ``path`` in one sentence."""
        return self.error(f"cannot read {f'{self.name} {path}'.strip()}: {why}; {cure or self.cure}")


TEXT = FileKind()
TEST = FileKind("the test file", at_most=DATA_AT_MOST)


def opened(path: Path, kind: FileKind = TEXT) -> BinaryIO:
    """A regular file of at most ``kind.at_most`` bytes, open for reading.

    Raises InputError for another kind of file, without opening it and without waiting, for a larger one, for one that
    cannot be read, and for one outside the folders that may be read from (``confined.py``).
    """
    try:
        refuse_outside(path, kind.name or "the file")
        _check(path, os.stat(path), kind)
        # Not blocking: between the two looks the name may become that of a named pipe.
        file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb")  # noqa: SIM115
    except OSError as error:
        raise _translated(path, error, kind) from error
    except ValueError as error:
        raise kind.fault(path, "its name has a NUL character", "correct its name") from error
    try:
        _check(path, os.fstat(file.fileno()), kind)
        if is_outside(Path(f"/proc/self/fd/{file.fileno()}")):  # so may it become that of a link
            raise kind.fault(path, "it was replaced while it was opened", "leave it as it is")
    except InputError:
        file.close()
        raise
    return file


def read_file(path: Path, kind: FileKind = TEXT) -> bytes:
    """The bytes of a file; raises InputError as ``opened``, and if the file changes while it is read."""
    with opened(path, kind) as file:
        before = os.fstat(file.fileno())
        try:
            content = file.read(before.st_size + (not kind.grows))
        except OSError as error:
            raise _translated(path, error, kind) from error
        except MemoryError as error:
            raise kind.fault(path, "it does not fit into memory", "give a smaller file, or raise the limit") from error
        after = os.fstat(file.fileno())
    if not kind.grows and (len(content), before.st_mtime_ns) != (before.st_size, after.st_mtime_ns):
        raise kind.fault(path, "it changed while it was read", "wait until it is written, and repeat the command")
    return content


def read_lines(path: Path, kind: FileKind = TEXT) -> Iterator[bytes]:
    """The lines of a file that grows, without their newlines, up to the end that it had when it was opened; a last line
    without a newline is left out.  One line at a time is in memory.  Raises InputError as ``opened``."""
    with opened(path, kind) as file:
        left = os.fstat(file.fileno()).st_size
        try:
            for line in file:
                left -= len(line)
                if left < 0 or not line.endswith(b"\n"):
                    return
                yield line[:-1]
        except OSError as error:
            raise _translated(path, error, kind) from error


def read_stream(stream: BinaryIO, kind: FileKind) -> str:
    """The text of a pipe up to its end, with its line endings unchanged; raises InputError as ``read_text``."""
    content = stream.read(kind.at_most + 1)
    if len(content) > kind.at_most:
        raise kind.error(f"{kind.name} has more than {kind.at_most} bytes; give less")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise kind.error(f"{kind.name} is not UTF-8 (byte {error.start}); write it as UTF-8") from error


def _translated(path: Path, error: OSError, kind: FileKind) -> InputError:
    if error.errno == errno.ELOOP:
        return kind.fault(path, "its symbolic links lead in a circle", "correct the link")
    return kind.fault(path, error.strerror or str(error))


def read_text(path: Path, kind: FileKind = TEXT) -> str:
    """The text of a UTF-8 file with its line endings unchanged; raises InputError as ``read_file``."""
    try:
        return read_file(path, kind).decode()
    except UnicodeDecodeError as error:
        raise kind.fault(path, f"it is not UTF-8 (byte {error.start})", "save it as UTF-8") from error


_OTHERS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _check(path: Path, found: os.stat_result, kind: FileKind) -> None:
    if not stat.S_ISREG(found.st_mode):
        what = _OTHERS.get(stat.S_IFMT(found.st_mode), "no file")
        raise kind.fault(path, f"it is {what}", "name a file" if what == "a folder" else "name a regular file")
    if found.st_size > kind.at_most:
        raise kind.fault(
            path, f"it has {found.st_size} bytes, and at most {kind.at_most} are read", "give a smaller file"
        )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder; at the end of the block that file replaces ``path``.

    A reader sees the old file or the new one, also after a kill.  After an error ``path`` is unchanged.  InputError if
    it cannot be written.
    """
    scratch = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")  # two processes may write the same file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield scratch
        scratch.replace(path)
    except OSError as error:
        raise InputError(f"cannot write to {path}: {error.strerror}; {_cure(error)}") from error
    finally:
        _remove(scratch)


def _cure(error: OSError) -> str:
    room = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "choose another --out, or make room there" if room else "choose another --out"


def write_whole(path: Path, content: bytes) -> None:
    """Replaces a file by one with this content, as ``replacing`` does."""
    with replacing(path) as scratch:
        scratch.write_bytes(content)


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Holds the lock that a file stands for, which is made if need be; a link is not followed.

    Yields False, at once, if another one holds it and ``wait`` is not set.  InputError if the file cannot be opened.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InputError(f"cannot lock {path}: {error.strerror}; let it be a file that you may write") from error
    try:
        yield _held(file, wait)
    finally:
        os.close(file)


def _held(file: int, wait: bool) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_toml(path: Path, what: str = "") -> dict[str, Any]:
    """The keys of a TOML file, unchecked; InputError with the line if it cannot be read.

    ``what``: what the file is for, used in the message.
    """
    name = f"{what} {path}".strip()
    try:
        return tomllib.loads(read_text(path, FileKind(what)))
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, a number of thousands of digits, deep nesting
        raise InputError(f"cannot read {name}: it is not valid TOML: {error}; correct it there") from error


def _remove(scratch: Path) -> None:
    try:
        scratch.unlink(missing_ok=True)
    except OSError:  # the folder is gone, or a part of its path is a file: then there is no scratch file
        return
