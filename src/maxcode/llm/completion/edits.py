"""Applies SEARCH/REPLACE blocks to a program in order.

    <<<<<<< SEARCH
    lines of the program
    =======
    their replacement
    >>>>>>> REPLACE

The lines must occur exactly once.  They are compared verbatim, then without white space at line ends, then without
indentation, then without blank lines around them, then with a last line that both parts cut at one place.  A line
before a block, or before the fence around it, may name its file.  In a program of several files, and in a repository,
an empty SEARCH part makes the new file that is named.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import final

from maxcode.core.types import Program
from maxcode.llm.completion.blocks import Unread, line_end
from maxcode.llm.completion.nearest import occurrences, what_stands_there

_SEARCH = re.compile(r"[ \t]*(?:<{5,}|-{5,}) ?SEARCH\b.*", re.IGNORECASE)
_DIVIDER = re.compile(r"[ \t]*={5,}[ \t]*")
_REPLACE = re.compile(r"[ \t]*(?:>{5,}|\+{5,}) ?(?:REPLACE\b.*)?", re.IGNORECASE)
_ESCAPED = re.compile(r"^[ \t]*(?:&lt;){5,} ?SEARCH", re.MULTILINE | re.IGNORECASE)
_ANY = re.compile(r"^[ \t]*(?:<|&lt;|-){5,} ?SEARCH", re.MULTILINE | re.IGNORECASE)
_MOST_READINGS = 16  # of one block
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[^`]*")

Lines = Sequence[str]


@final
@dataclass(frozen=True, slots=True)
class Edit:
    """One block: its number from 1, the lines between its outer markers, and the text above it that may name its
    file."""

    number: int
    lines: Lines
    above: str

    @property
    def readings(self) -> Iterator[tuple[Lines, Lines]]:
        """(search, replacement) for each line that may be the divider, because a program can contain such lines too.
        The longest SEARCH comes first: it is the least likely to match by mistake."""
        dividers = [at for at, line in enumerate(self.lines) if _DIVIDER.fullmatch(line)]
        for at in reversed(dividers[:_MOST_READINGS]):
            search, replacement = self.lines[:at], self.lines[at + 1 :]
            yield search, replacement
            if _is_fenced(search) and (_is_fenced(replacement) or not replacement):
                yield search[1:-1], replacement[1:-1]


def has_edits(answer: str) -> bool:
    """Whether the answer has the beginning of a block."""
    return _ANY.search(answer) is not None


def holds_edits(text: str) -> bool:
    """Whether a text has a block up to its divider; a comment may look like the beginning of one."""
    begun = _ANY.search(text)
    return begun is not None and any(map(_DIVIDER.fullmatch, text[begun.end() :].split("\n")))


def edited(answer: str, program: Program, is_open: bool = False, complete: bool = False) -> Program | Unread:
    """The program after all blocks of an answer; Unread if one cannot be applied, or if nothing changes.

    ``is_open``: a block may add a file although the program has one only, as in a repository.
    ``complete``: the model ended by itself, so a last block without its end ends with the fence around it.
    """
    is_open = is_open or len(program.files) > 1
    edits = _edits(html.unescape(answer) if _ESCAPED.search(answer) else answer, complete)
    if isinstance(edits, Unread):
        return edits
    after = program
    for edit in edits:
        applied = _applied(edit, after, is_open)
        if isinstance(applied, Unread):
            return applied
        after = applied
    same = "SEARCH and REPLACE are equal" if len(edits) == 1 else f"the {len(edits)} blocks change nothing together"
    return after if after.files != program.files else Unread(f"nothing changed: {same}")


def _edits(answer: str, complete: bool) -> list[Edit] | Unread:
    found: list[Edit] = []
    inside: list[str] | None = None
    above: list[str] = []
    is_divided = False
    for line in answer.split("\n"):
        if inside is None and _SEARCH.fullmatch(line):
            inside, is_divided = [], False
        elif inside is not None and is_divided and _REPLACE.fullmatch(line):
            found.append(Edit(len(found) + 1, inside, " ".join(above[-2:])))
            inside, above = None, []
        elif inside is not None:
            inside.append(line)
            is_divided = is_divided or _DIVIDER.fullmatch(line) is not None
        elif line.strip():
            above.append(line)
    if inside is not None and complete and (ended := _to_fence(inside, above)) is not None:
        return [*found, Edit(len(found) + 1, ended, " ".join(above[-2:]))]
    if inside is not None:
        why = "has no line `>>>>>>> REPLACE`" if complete else "is never closed: the answer was cut"
        return Unread(f"SEARCH/REPLACE block {len(found) + 1} {why}", cut=not complete)
    return found


def _to_fence(inside: Lines, above: Lines) -> Lines | None:
    """The lines of a block up to the end of the fence around it, if that follows its divider; None without such one."""
    divider = next((at for at, line in enumerate(inside) if _DIVIDER.fullmatch(line)), len(inside))
    fences = [at for at, line in enumerate(inside) if at > divider and _FENCE.fullmatch(line)]
    is_fenced = bool(above) and _FENCE.fullmatch(above[-1]) is not None
    return inside[: fences[0]] if is_fenced and len(fences) == 1 else None


def _is_fenced(lines: Lines) -> bool:
    return len(lines) > 1 and all(_FENCE.fullmatch(line) is not None for line in (lines[0], lines[-1]))


def _applied(edit: Edit, program: Program, is_open: bool) -> Program | Unread:
    """The program after one block, read with the last divider whose SEARCH lines are found."""
    if any(_SEARCH.fullmatch(line) for line in edit.lines) and not any(map(has_edits, program.files.values())):
        return Unread(f"SEARCH/REPLACE block {edit.number} has no line `>>>>>>> REPLACE` before the next one begins")
    reasons: list[str] = []
    for search, replacement in edit.readings:
        if any(line.strip() for line in search):
            changed = _replaced(search, replacement, program, edit.above)
        else:
            changed = _added(replacement, program, edit.above, is_open)
        if isinstance(changed, Program):
            return changed
        reasons.append(changed)
    return Unread(f"SEARCH/REPLACE block {edit.number}: {reasons[-1]}")


def _paths(above: str, program: Program) -> list[str]:
    """The files that a block may change: the one named above it, else all."""
    words = set(re.findall(r"[\w./+-]+", above))
    named = [path for path in program.files if path in words or PurePosixPath(path).name in words]
    return named if len(named) == 1 else list(program.files)


def _replaced(search: Lines, replacement: Lines, program: Program, above: str) -> Program | str:
    paths = _paths(above, program)
    for matches in _WAYS:
        places = [
            (path, at, wanted, put)
            for path in paths
            for at, wanted, put in matches(_lines(program.files[path]), search, replacement)
        ]
        if len(places) > 1:
            where = occurrences([(path, at) for path, at, _, _ in places])
            return f"its SEARCH lines occur {len(places)} times: add lines around them (they stand at {where})"
        if places:
            path, at, wanted, put = places[0]
            return Program({**program.files, path: _spliced(program.files[path], at, wanted, put)})
    first = next(line.strip() for line in search if line.strip())
    there = what_stands_there({path: program.files[path] for path in paths}, _trimmed(search))
    return f"its SEARCH lines are not in the program (they begin with `{first[:80]}`){there}"


def _added(text: Lines, program: Program, above: str, is_open: bool) -> Program | str:
    """The program with a new file, if it may have one and the words above the block name one that is not there."""
    named = [word for word in re.findall(r"[\w./+-]+", above) if _PATH.fullmatch(word)]
    path = named[-1].removeprefix("./") if named else ""
    empty = "its SEARCH part is empty"
    if not is_open:
        return f"{empty}: give the lines to replace"
    if not path:
        return f"{empty}, which makes a new file, and the line before it names none: write its whole path there"
    if path in program.files:
        return f"{empty}, which makes a new file, and {path} is there already: give the lines of it to replace"
    return Program({**program.files, path: "\n".join(text) + "\n"})


_PATH = re.compile(r"[\w+-][\w./+-]*\.[A-Za-z]\w{0,9}")


def _lines(text: str) -> Lines:
    return text.split(line_end(text))


def _spliced(text: str, at: int, count: int, put: Lines) -> str:
    """The text with ``count`` lines from ``at`` on replaced; its line ends do not change."""
    lines = list(_lines(text))
    lines[at : at + count] = put
    return line_end(text).join(lines)


Match = tuple[int, int, Lines]  # first line, number of lines, replacement


def places_of(lines: Lines, search: Lines, key: Callable[[str], str]) -> list[int]:
    """The positions of the lines of ``search``, compared by ``key`` of each line."""
    have, want = [key(line) for line in lines], [key(line) for line in search]
    return [at for at in range(len(have) - len(want) + 1) if have[at] == want[0] and have[at : at + len(want)] == want]


def _as_they_are(lines: Lines, search: Lines, replacement: Lines) -> list[Match]:
    return [(at, len(search), replacement) for at in places_of(lines, search, str)]


def _up_to_line_ends(lines: Lines, search: Lines, replacement: Lines) -> list[Match]:
    return [(at, len(search), replacement) for at in places_of(lines, search, str.rstrip)]


def _up_to_indentation(lines: Lines, search: Lines, replacement: Lines) -> list[Match]:
    """The replacement gets the same change of indentation as its SEARCH lines."""
    return [
        (at, len(search), _moved(lines[at : at + len(search)], search, replacement))
        for at in places_of(lines, search, str.strip)
    ]


def _without_blank_lines(lines: Lines, search: Lines, replacement: Lines) -> list[Match]:
    return _up_to_indentation(lines, _trimmed(search), _trimmed(replacement))


def _cut_in_a_line(lines: Lines, search: Lines, replacement: Lines) -> list[Match]:
    """SEARCH and REPLACE end with the same beginning of a line, so that this line stays as it is."""
    if min(len(search), len(replacement)) < 2 or not search[-1].strip() or search[-1] != replacement[-1]:
        return []
    head, begun = search[:-1], search[-1]
    return [
        (at, len(head), replacement[:-1])
        for at in (places_of(lines, head, str) if any(line.strip() for line in head) else ())
        if "".join(lines[at + len(head) : at + len(search)]).startswith(begun)
    ]


_WAYS = (_as_they_are, _up_to_line_ends, _up_to_indentation, _without_blank_lines, _cut_in_a_line)


def _moved(have: Lines, search: Lines, replacement: Lines) -> Lines:
    """The replacement with the difference in indentation between the first line of code here and in SEARCH."""
    here, there = next(
        (indent_of(one), indent_of(other)) for one, other in zip(have, search, strict=True) if one.strip()
    )
    if here.endswith(there):
        extra = here[: len(here) - len(there)]
        return [f"{extra}{line}" if line.strip() else line for line in replacement]
    if there.endswith(here):
        surplus = there[: len(there) - len(here)]
        return [line.removeprefix(surplus) for line in replacement]
    return replacement


def indent_of(line: str) -> str:
    """The white space at the beginning of a line."""
    return line[: len(line) - len(line.lstrip())]


def _trimmed(lines: Lines) -> Lines:
    filled = [at for at, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []
