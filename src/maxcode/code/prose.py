"""The words of a completion: what is neither reasoning nor code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from maxcode.code.source import answer_of

_OPENING = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_EDIT = re.compile(r"[ \t]*(?:(?P<cut><{5,}) ?SEARCH\b|-{5,} ?SEARCH[ \t]*:?[ \t]*$)", re.IGNORECASE)
_EDIT_END = re.compile(r"[ \t]*(?:>{5,}|\+{5,})")


def prose(completion: str) -> str:
    """A completion without its reasoning, its code blocks and its edits; a block that is never closed extends to the
    end."""
    kept: list[str] = []
    fence = ""
    for line in answer_of(completion).splitlines():
        found = _OPENING.match(line)
        if not fence and found:
            fence = found[1]
        elif not fence:
            kept.append(line)
        elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
    return "\n".join(_without_edits(kept)).strip()


def _without_edits(lines: list[str]) -> Iterator[str]:
    """The lines outside of edits; one that is cut off extends to the end, but a line of dashes may be a heading."""
    last = max((at for at, line in enumerate(lines) if _EDIT_END.match(line)), default=0)
    inside = False
    for at, line in enumerate(lines):
        if inside:
            inside = _EDIT_END.match(line) is None
        elif (begins := _EDIT.match(line)) is not None and (begins["cut"] or at < last):
            inside = True
        else:
            yield line
