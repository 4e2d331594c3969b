"""EVOLVE-BLOCK markers: other tools keep what stands outside them, so an answer must change only what is inside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

_MARKER = re.compile(r"^\W*EVOLVE-BLOCK-(START|END)\b")


@final
@dataclass(frozen=True, slots=True)
class _Parts:
    """Lines outside the blocks, markers with them, and lines inside: one more of the former."""

    outside: tuple[tuple[str, ...], ...]
    inside: tuple[tuple[str, ...], ...]


def kept(before: str, after: str) -> str | None:
    """``after`` with everything outside the blocks as it is in ``before``.

    Lines that were put above the first block move to its beginning; any other change outside is lost ground: None.  A
    program without blocks, or with broken ones, may change anywhere.
    """
    old = _parts(before)
    if old is None or not old.inside:
        return after
    new = _parts(after)
    if new is None or len(new.inside) != len(old.inside) or new.outside[1:] != old.outside[1:]:
        return None
    moved = _added(old.outside[0], new.outside[0])
    if moved is None:
        return None
    inside = (moved + new.inside[0], *new.inside[1:])
    lines = list(old.outside[0])
    for block, outside in zip(inside, old.outside[1:], strict=True):
        lines += [*block, *outside]
    return "\n".join(lines)


def _parts(text: str) -> _Parts | None:
    outside: list[tuple[str, ...]] = []
    inside: list[tuple[str, ...]] = []
    lines: list[str] = []
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        if marker is None:
            lines.append(line)
        elif (marker[1] == "START") != (len(outside) == len(inside)):
            return None
        elif marker[1] == "START":
            outside.append((*lines, line))
            lines = []
        else:
            inside.append(tuple(lines))
            lines = [line]
    return _Parts((*outside, tuple(lines)), tuple(inside)) if len(outside) == len(inside) else None


def _added(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...] | None:
    """The lines that ``new`` has beside those of ``old``, in order; None where a line of ``old`` is missing."""
    waiting = list(old)
    added: list[str] = []
    for line in new:
        if waiting and line == waiting[0]:
            waiting.pop(0)
        else:
            added.append(line)
    return tuple(added) if not waiting else None
