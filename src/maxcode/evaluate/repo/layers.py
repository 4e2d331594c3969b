"""A side of a race as layers: the archive of base, and a small one of what a candidate changes.

Only what base's own build makes may differ after a candidate's build: everything else is base's, whatever the build
of a candidate wrote.  So no build can change a test, a benchmark, a tool or a set-up.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import final

from maxcode.errors import InputError
from maxcode.evaluate.repo.compiled_python import source_of
from maxcode.sandbox.archives import BROKEN, content, opened
from maxcode.sandbox.jobs import Blob


class BuildError(InputError):
    """What a build left cannot be taken over."""


Contents = Mapping[str, str]  # path -> what tells two files apart


@final
@dataclass(frozen=True, slots=True)
class Layers:
    """``base``: the archive of all files.  ``further``: archives that are unpacked over it, in this order."""

    base: Blob
    further: tuple[Blob, ...] = ()

    @property
    def blobs(self) -> list[Blob]:
        return [self.base, *self.further]

    @property
    def further_mb(self) -> float:
        """The size of what is unpacked over base."""
        return sum(blob.size for blob in self.further) / (1 << 20)


def contents_of(archive: bytes) -> dict[str, str]:
    """The files of an archive with a hash of each; folders by their names alone."""
    found = {}
    with opened(archive) as packed:
        for member in packed:
            found[_name(member)] = _about(packed, member)
    return found


def made_by(before: Contents, after: Contents) -> frozenset[str]:
    """The paths that a build made or changed."""
    return frozenset(path for path, about in after.items() if before.get(path) != about)


@final
@dataclass(frozen=True, slots=True)
class Edited:
    """The files that a candidate changes: path -> text, their modes, and the second of their last change."""

    texts: Mapping[str, str]
    modes: Mapping[str, int]
    second: int

    def archive(self, built: bytes = b"", base: Contents | None = None, made: frozenset[str] = frozenset()) -> bytes:
        """An archive of the edited files and of what a build made of them.

        ``built``: all files after that build, an archive that the candidate may have written.  ``base``: base's built
        files.  ``made``: what base's build made; only these paths, and new ones in folders that it made, are taken.
        """
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as packed:
            if built:
                _take_over(packed, built, base or {}, made, frozenset(self.texts))
            for path, text in self.texts.items():
                data = text.encode()
                about = tarfile.TarInfo(path)
                about.size, about.mode, about.mtime = len(data), self.modes.get(path, 0o644), self.second
                packed.addfile(about, io.BytesIO(data))
        return out.getvalue()


def _take_over(
    packed: tarfile.TarFile, built: bytes, base: Contents, made: frozenset[str], edited: frozenset[str]
) -> None:
    try:
        with opened(built) as whole:
            for member in whole:
                path = _name(member)
                is_taken = _is_taken(path, made, base) and _is_of_taken(path, made, base, edited)
                if path in edited or not is_taken or _about(whole, member) == base.get(path):
                    continue
                if (data := content(whole, member)) is not None:
                    packed.addfile(member, io.BytesIO(data))
                elif member.issym() or member.isdir():
                    packed.addfile(member)
    except BROKEN as error:
        raise BuildError(f"what the build made cannot be read: {error}") from error


def _is_taken(path: str, made: frozenset[str], base: Contents) -> bool:
    """Whether a candidate's build may make this path: base's build makes it, or makes the folder that it is in."""
    if path in made:
        return True
    parents = (str(one) for one in PurePosixPath(path).parents)
    return path not in base and any(parent in made for parent in parents if parent != ".")


def _is_of_taken(path: str, made: frozenset[str], base: Contents, edited: frozenset[str]) -> bool:
    """Whether a path is none that Python compiled, or its source is the candidate's: Python may run it in place of its
    source, which must else stay as in base."""
    source = source_of(path)
    return not source or source in edited or _is_taken(source, made, base)


def _name(member: tarfile.TarInfo) -> str:
    return str(PurePosixPath(member.name))


def _about(packed: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    if member.isdir():
        return "folder"
    if member.issym():
        return f"link {member.linkname}"
    with suppress(KeyError):
        if (data := content(packed, member)) is not None:
            return f"{member.mode & 0o111:o} {hashlib.sha256(data).hexdigest()}"
    return f"other {member.type!r}"
