"""Builds of *originals* that later commands find again, in the folder ``originals`` of the cache; never a candidate's.

A kept build is used only if all that it depends on is the same: the sources, the command, the compiler and its parts,
every file of the system's headers and of gcc's libraries, the list of installed packages, the processor (for
``-march=native``), and this version of maxcode.  A verdict is never kept, and a certificate uses no kept build.

The folder is the user's alone (``own_folder.py``).  Without a sandbox nothing is kept, because a program could write
there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.types import MachineCode, Remark
from maxcode.evaluate.ladder.own_folder import OwnFolder, processor, stamp

FOLDER = "originals"
VARIABLE = "MAXCODE_NO_CACHE"
FILES_AT_MOST, BYTES_AT_MOST = 64, 512 << 20
FILE_AT_MOST = 80 << 20
_TREES = ("/usr/include", "/usr/local/include", "/usr/lib/gcc", "/usr/libexec/gcc", "/usr/local/lib/gcc")
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib")  # and the folders directly in them
_PARTS = ("as", "ld")  # what a compiler starts besides its own parts
_PACKAGES = ("/var/lib/dpkg/status", "/var/lib/rpm", "/lib/apk/db/installed", "/var/lib/pacman/local")
_CODE = ("build.py", "kept_builds.py", "own_folder.py", "../machine/machine_code.py")  # what reads the compiler's words


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
        if self.folder is None or (content := self._own(self.folder).find(name_of(parts, compiler))) is None:
            return None
        try:
            return msgspec.msgpack.decode(content, type=KeptBuild)
        except msgspec.MsgspecError:
            return None

    def keep(self, build: KeptBuild, parts: Iterable[str], compiler: str) -> None:
        """Keeps a build; does nothing if it cannot be written."""
        if self.folder is not None:
            self._own(self.folder).keep(name_of(parts, compiler), msgspec.msgpack.encode(build))

    def _own(self, folder: Path) -> OwnFolder:
        return OwnFolder(folder, FILES_AT_MOST, BYTES_AT_MOST, FILE_AT_MOST)


def name_of(parts: Iterable[str], compiler: str) -> str:
    """The name of what was made of these parts by this compiler, on this system."""
    return hashlib.sha256(json.dumps([*parts, *tools_and_system(compiler)]).encode()).hexdigest()


def libraries() -> Iterator[str]:
    """A stamp of every file in the folders of the system's libraries."""
    return (stamp(path) for folder in _library_folders() for path in sorted(folder.glob("*")))


def tools_and_system(compiler: str) -> list[str]:
    """What every build by this compiler depends on besides its sources and its command."""
    tools = (stamp(Path(shutil.which(name) or name).resolve()) for name in (compiler, *_PARTS))
    return [*tools, _system()]


@cache
def _system() -> str:
    """A hash of what every build here depends on."""
    found = hashlib.sha256(version("maxcode").encode())
    for name in _CODE:
        found.update((Path(__file__).parent / name).read_bytes())
    for line in processor():
        found.update(line)
    for path in _PACKAGES:
        found.update(stamp(Path(path)).encode())
    for folder in _library_folders():
        found.update(stamp(folder).encode())
    for top in _TREES:
        for one in _stamps(top):
            found.update(one.encode())
    return found.hexdigest()


def _library_folders() -> Iterator[Path]:
    for name in _LIBRARIES:
        yield Path(name)
        yield from sorted(one for one in Path(name).glob("*") if one.is_dir())


def _stamps(top: str) -> Iterator[str]:
    for folder, folders, files in os.walk(top):
        folders.sort()
        yield from (stamp(Path(folder, name)) for name in sorted(files))
