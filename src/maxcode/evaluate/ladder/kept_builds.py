"""Builds of *originals* that later commands find again, in the folder ``originals`` of the cache; never a candidate's.

A kept build is used only if all that it depends on is the same: the sources, the command, the compiler and its parts,
every file of the system's headers and of gcc's libraries, the list of installed packages, the processor (for
``-march=native``), and this version of maxcode.  A verdict is never kept, and a certificate uses no kept build.

The folder belongs to the user alone (0700), and so does every file; what does not, or is not whole, is not read.
Without a sandbox nothing is kept, because a program could write there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.files import write_whole
from maxcode.core.types import MachineCode, Remark
from maxcode.errors import InputError

FOLDER = "originals"
VARIABLE = "MAXCODE_NO_CACHE"
FILES_AT_MOST, BYTES_AT_MOST = 64, 512 << 20
FILE_AT_MOST = 80 << 20
_TREES = ("/usr/include", "/usr/local/include", "/usr/lib/gcc", "/usr/libexec/gcc", "/usr/local/lib/gcc")
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib")  # and the folders directly in them
_PARTS = ("as", "ld")  # what a compiler starts besides its own parts
_PACKAGES = ("/var/lib/dpkg/status", "/var/lib/rpm", "/lib/apk/db/installed", "/var/lib/pacman/local")
_CODE = ("build.py", "kept_builds.py", "../machine/machine_code.py")  # what reads the compiler's words
_DIGEST = 32  # bytes of SHA-256 before the content


@final
@dataclass(frozen=True, slots=True)
class KeptBuild:
    """What is kept of a build that succeeded."""

    artefact: bytes
    diagnostics: str
    remarks: tuple[Remark, ...]
    machine_code: MachineCode | None


@final
@dataclass(frozen=True, slots=True)
class KeptBuilds:
    """The builds in ``folder``; None: nothing is kept."""

    folder: Path | None

    @classmethod
    def below(cls, cache_folder: Path, is_safe: bool) -> KeptBuilds:
        """Those of this cache folder; none without a sandbox, or if the user asked for none."""
        return cls(cache_folder / FOLDER if is_safe and not os.environ.get(VARIABLE) else None)

    def find(self, parts: Iterable[str], compiler: str) -> KeptBuild | None:
        """The build of these parts by this compiler; None if there is none that may be used."""
        if self.folder is None or not _is_ours(self.folder):
            return None
        path = self.folder / _name(parts, compiler)
        try:
            content = _read(path)
            found = msgspec.msgpack.decode(content, type=KeptBuild) if content is not None else None
        except (OSError, msgspec.MsgspecError):
            return None
        if found is not None:
            with contextlib.suppress(OSError):
                os.utime(path)
        return found

    def keep(self, build: KeptBuild, parts: Iterable[str], compiler: str) -> None:
        """Keeps a build; does nothing if it cannot be written."""
        content = msgspec.msgpack.encode(build)
        if self.folder is None or len(content) > FILE_AT_MOST - _DIGEST:
            return
        with contextlib.suppress(OSError, InputError):
            self.folder.mkdir(mode=0o700, exist_ok=True)
            if _is_ours(self.folder):
                write_whole(self.folder / _name(parts, compiler), hashlib.sha256(content).digest() + content)
                _shrink(self.folder)


def _name(parts: Iterable[str], compiler: str) -> str:
    tools = (_stamp(Path(shutil.which(name) or name).resolve()) for name in (compiler, *_PARTS))
    return hashlib.sha256(json.dumps([*parts, *tools, _system()]).encode()).hexdigest()


def _read(path: Path) -> bytes | None:
    """The content of a file that is ours and whole."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_size > FILE_AT_MOST:
            return None
        whole = file.read(FILE_AT_MOST)
    digest, content = whole[:_DIGEST], whole[_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def _is_ours(folder: Path) -> bool:
    """Whether it is a folder, no link, that nobody else can enter."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and stat.S_IMODE(about.st_mode) == 0o700


def _shrink(folder: Path) -> None:
    """Removes the builds that were not used for longest, until the folder is within its bounds."""
    files = sorted(((one, one.stat()) for one in folder.iterdir()), key=lambda one: -one[1].st_mtime)
    size = 0
    for number, (path, about) in enumerate(files):
        size += about.st_size
        if number >= FILES_AT_MOST or size > BYTES_AT_MOST:
            path.unlink(missing_ok=True)


@cache
def _system() -> str:
    """A hash of what every build here depends on."""
    found = hashlib.sha256(version("maxcode").encode())
    for name in _CODE:
        found.update((Path(__file__).parent / name).read_bytes())
    for line in _cpu():
        found.update(line)
    for path in _PACKAGES:
        found.update(_stamp(Path(path)).encode())
    for folder in _library_folders():
        found.update(_stamp(folder).encode())
    for top in _TREES:
        for stamp in _stamps(top):
            found.update(stamp.encode())
    return found.hexdigest()


def _cpu() -> Iterator[bytes]:
    for line in Path("/proc/cpuinfo").read_bytes().split(b"\n\n", 1)[0].splitlines():
        if line.split(b"\t")[0] in (b"model name", b"flags", b"Features", b"CPU part", b"cpu family", b"model"):
            yield line


def _library_folders() -> Iterator[Path]:
    for name in _LIBRARIES:
        yield Path(name)
        yield from sorted(one for one in Path(name).glob("*") if one.is_dir())


def _stamps(top: str) -> Iterator[str]:
    for folder, folders, files in os.walk(top):
        folders.sort()
        yield from (_stamp(Path(folder, name)) for name in sorted(files))


def _stamp(path: Path) -> str:
    """Path, size, inode and time of change of a file."""
    try:
        about = path.stat()
    except OSError:
        return f"{path} -"
    return f"{path} {about.st_size} {about.st_ino} {about.st_mtime_ns} {about.st_ctime_ns}"
