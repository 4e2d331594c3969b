"""A folder of the cache that belongs to the user alone (0700), and so does every file in it; what does not, or is not
whole, is not read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.files import write_whole
from maxcode.errors import InputError

_DIGEST = 32  # bytes of SHA-256 before the content


@final
@dataclass(frozen=True, slots=True)
class OwnFolder:
    """The folder at ``path``.  ``files``, ``size``: how many files and bytes are kept at most; ``file_size``: bytes of
    one file at most."""

    path: Path
    files: int
    size: int
    file_size: int

    def find(self, name: str) -> bytes | None:
        """The content of a file that is ours and whole; None if there is none."""
        path = self.path / name
        try:
            content = self._read(path) if self._is_ours() else None
        except OSError:
            return None
        if content is not None:
            with contextlib.suppress(OSError):
                os.utime(path)
        return content

    def keep(self, name: str, content: bytes) -> None:
        """Keeps a content; does nothing if it is too large or cannot be written."""
        if len(content) > self.file_size - _DIGEST:
            return
        with contextlib.suppress(OSError, InputError):
            self.path.mkdir(mode=0o700, exist_ok=True)
            if self._is_ours():
                write_whole(self.path / name, hashlib.sha256(content).digest() + content)
                self._shrink()

    def _read(self, path: Path) -> bytes | None:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            about = os.fstat(fd)
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_size > self.file_size:
                return None
            digest, content = file.read(_DIGEST), file.read(self.file_size)
        return content if hashlib.sha256(content).digest() == digest else None

    def _is_ours(self) -> bool:
        """Whether it is a folder, no link, that nobody else can enter."""
        try:
            about = self.path.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and stat.S_IMODE(about.st_mode) == 0o700

    def _shrink(self) -> None:
        """Removes the files that were not used for longest, until the folder is within its bounds."""
        files = sorted(((one, one.stat()) for one in self.path.iterdir()), key=lambda one: -one[1].st_mtime)
        size = 0
        for number, (path, about) in enumerate(files):
            size += about.st_size
            if number >= self.files or size > self.size:
                path.unlink(missing_ok=True)


def stamp(path: Path | str, follows: bool = True) -> str:
    """Path, mode, size, inode and times of change of a file, or of a link itself."""
    try:
        about = os.stat(path, follow_symlinks=follows)
    except OSError:
        return f"{path} -"
    return f"{path} {about.st_mode} {about.st_size} {about.st_ino} {about.st_mtime_ns} {about.st_ctime_ns}"


def processor() -> Iterator[bytes]:
    """The lines of /proc/cpuinfo on which a build for this very processor depends."""
    for line in Path("/proc/cpuinfo").read_bytes().split(b"\n\n", 1)[0].splitlines():
        if line.split(b"\t")[0] in (b"model name", b"flags", b"Features", b"CPU part", b"cpu family", b"model"):
            yield line
