"""The hunks of a patch: its smallest changes, and the texts without some of them.  Pure."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from maxcode.code.source import lines_of

NEAR = 3  # lines between two hunks of one group, as in a unified diff


@final
@dataclass(frozen=True, slots=True)
class Hunk:
    """One change of a file: the lines ``before`` become the lines ``after``, both as half-open ranges from 0."""

    path: str
    before: tuple[int, int]
    after: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.path}:{self.after[0] + 1}"


def hunks_of(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Hunk, ...]:
    """All changes from one set of files to another, in order; a new file is one change."""
    found = []
    for path, text in after.items():
        if path not in before:
            found.append(Hunk(path, (0, 0), (0, len(lines_of(text)))))
        elif before[path] != text:
            found += [
                Hunk(path, (a, b), (c, d)) for kind, a, b, c, d in _changes(before[path], text) if kind != "equal"
            ]
    return tuple(found)


def groups_of(hunks: Collection[Hunk]) -> list[tuple[Hunk, ...]]:
    """The hunks in groups: those of a file that are near one another."""
    found: list[list[Hunk]] = []
    for hunk in hunks:
        last = found[-1][-1] if found else None
        if last is not None and last.path == hunk.path and hunk.before[0] - last.before[1] <= NEAR:
            found[-1].append(hunk)
        else:
            found.append([hunk])
    return [tuple(group) for group in found]


def without(before: Mapping[str, str], after: Mapping[str, str], dropped: Collection[Hunk]) -> dict[str, str]:
    """The files after all changes but these; a new file whose change is dropped is not there."""
    result = {}
    for path, text in after.items():
        own = {hunk for hunk in dropped if hunk.path == path}
        if not own:
            result[path] = text
        elif path in before:
            result[path] = _without(before[path], text, own)
    return result


def _without(before: str, after: str, dropped: Collection[Hunk]) -> str:
    old, new = lines_of(before), lines_of(after)
    ranges = {(hunk.before, hunk.after) for hunk in dropped}
    kept: list[str] = []
    for _, a, b, c, d in _changes(before, after):
        kept += old[a:b] if ((a, b), (c, d)) in ranges else new[c:d]
    return "".join(kept)


def _changes(before: str, after: str) -> Sequence[tuple[str, int, int, int, int]]:
    return difflib.SequenceMatcher(None, lines_of(before), lines_of(after), autojunk=False).get_opcodes()
