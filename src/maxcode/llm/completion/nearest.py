"""The lines of files that are nearest to lines that were not found, quoted with line numbers for the model."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_SHOWN = 8  # lines
_LENGTH = 120  # characters of a line
_COMMON = 40  # a line that occurs more often tells nothing about the place
_TRIED = 4_000  # lines that are compared by likeness


class Nearest(NamedTuple):
    """The place in a file (first line from 0) that is most like some lines."""

    path: str
    start: int


def nearest(files: Mapping[str, str], wanted: Sequence[str]) -> Nearest | None:
    """The place where most of the wanted lines stand, else one line like the longest of them; None if there is none."""
    keys = [line.strip() for line in wanted]
    votes: dict[Nearest, float] = defaultdict(float)
    for path, text in files.items():
        places: dict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(text.split("\n")):
            places[line.strip()].append(at)
        for offset, key in enumerate(keys):
            found = places.get(key, []) if key else []
            for at in found if len(found) <= _COMMON else []:
                votes[Nearest(path, max(0, at - offset))] += len(key) / len(found)
    if votes:
        return max(votes, key=lambda place: votes[place])
    return _alike(files, keys)


def _alike(files: Mapping[str, str], keys: Sequence[str]) -> Nearest | None:
    longest = max(keys, key=len, default="")
    if not longest:
        return None
    lines = {line.strip(): Nearest(path, max(0, at - keys.index(longest)))
             for path, text in files.items() for at, line in enumerate(text.split("\n"))}  # fmt: skip
    best = difflib.get_close_matches(longest, list(lines)[:_TRIED], n=1, cutoff=0.5)
    return lines[best[0]] if best else None


def what_stands_there(files: Mapping[str, str], wanted: Sequence[str]) -> str:
    """The nearest lines with their numbers, and the first that differs; empty if nothing is near."""
    place = nearest(files, wanted)
    if place is None:
        return ""
    lines = files[place.path].split("\n")
    there = lines[place.start : place.start + min(len(wanted), _SHOWN)]
    last = place.start + len(there)
    quoted = "\n".join(f"{number:>5} | {line[:_LENGTH]}" for number, line in enumerate(there, place.start + 1))
    differing = next(
        (
            number
            for number, (have, want) in enumerate(zip(there, wanted, strict=False))
            if have.strip() != want.strip()
        ),
        None,
    )
    said = f"; line {place.start + differing + 1} differs" if differing is not None else ""
    return f"; nearest are lines {place.start + 1} to {last} of {place.path}{said}:\n{quoted}"


def occurrences(places: Sequence[tuple[str, int]]) -> str:
    """Where lines begin that occur more than once: (path, line from 0)."""
    return ", ".join(f"{path}:{at + 1}" for path, at in places[:5]) + (", ..." if len(places) > 5 else "")
