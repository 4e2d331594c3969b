"""The folder of ``maxcode race --out``: all figures, a summary to read, and the command that repeats the race."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.bench.versions.result import VersionsRaced
from maxcode.core.files import write_whole
from maxcode.errors import InputError

FIGURES, SUMMARY, REPEAT = "race.json", "summary.md", "repeat.sh"
_PINNED = re.compile(r".* \(([0-9a-f]{12})\)")


@final
@dataclass(frozen=True, slots=True)
class RaceFolder:
    """An empty place for one race; ``words``: the command line, as the user gave it, and ``sides``: where in it BASE
    and HEAD stand, empty if there are none."""

    folder: Path
    words: tuple[str, ...]
    sides: tuple[int, ...] = ()

    def open(self) -> None:
        """Makes the folder, before anything is measured; InputError if it cannot be used."""
        if (self.folder / FIGURES).exists():
            raise InputError(f"{self.folder} holds a race already; choose another --out")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write to {self.folder}: {error.strerror}; choose another --out") from error

    def write(self, found: VersionsRaced) -> None:
        """Writes the three files."""
        again = self._again(found)
        told = f"{found.markdown()}\nAll figures are in `{FIGURES}`.  The same race again:\n\n```sh\n{again}\n```\n"
        write_whole(self.folder / REPEAT, f"#!/bin/sh\n{again}\n".encode())
        write_whole(self.folder / SUMMARY, told.encode())
        write_whole(self.folder / FIGURES, f"{found.as_json()}\n".encode())  # the last: with it the race is kept

    def _again(self, found: VersionsRaced) -> str:
        """The command without its folder; a revision that can move is its commit."""
        words = list(self.words)
        for at, told in zip(self.sides, (found.base, found.head), strict=False):
            words[at] = _pinned(words[at], told)
        return f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join(['maxcode', *_without_folder(words)])}"


def _pinned(side: str, told: str) -> str:
    match = _PINNED.fullmatch(told)
    return match[1] if match is not None else side


def _without_folder(words: Sequence[str]) -> Sequence[str]:
    """The words without --out; what comes after ``--`` is the user's command."""
    end = words.index("--") if "--" in words else len(words)
    kept: list[str] = []
    at = 0
    while at < end:
        if words[at] == "--out":
            at += 2
            continue
        if not words[at].startswith("--out="):
            kept.append(words[at])
        at += 1
    return [*kept, *words[end:]]
