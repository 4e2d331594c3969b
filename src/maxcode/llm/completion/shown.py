"""Requests to see more of a repository before an answer: lines ``SHOW path``, ``SHOW path:name`` or
``SHOW path:first-last``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from maxcode.code.definitions import Definition, definitions, function_named, value_named
from maxcode.code.languages import language_at
from maxcode.code.source import answer_of, fenced
from maxcode.core.types import Program

ROUNDS = 2  # requests that one proposal may make
MOST_WISHES = 6  # of one request
_MOST_CHARACTERS = 24_000  # of one text
_WISH = re.compile(r"^[ \t>*`-]*SHOW[ \t]+`?([^\s`:]+)(?::([^\n`]++))?+`?[ \t]*+$", re.MULTILINE)
_LINES = re.compile(r"([0-9]{1,7})(?:[ \t]*-[ \t]*([0-9]{1,7}))?")
STAYS = ", which may not be changed"
_Others = Callable[[str], str | None]


def wishes(completion: str) -> list[tuple[str, str]]:
    """The (path, name) that an answer asks for, at most six; the name is that of a function, a type or a value, or two
    numbers of lines as ``120-180``, and empty for a whole file."""
    found = [(path, name.strip()) for path, name in _WISH.findall(answer_of(completion))]
    return list(dict.fromkeys(found))[:MOST_WISHES]


def shown(program: Program, wanted: Sequence[tuple[str, str]], others: _Others = lambda _: None) -> str:
    """The wanted texts, each with its name and lines; a sentence for one that is not there.

    ``others``: the text of a file of the repository that is not one of the program's; None if there is none.
    """
    return "\n\n".join(_shown(program, path.removeprefix("./"), name, others) for path, name in wanted)


def _shown(program: Program, path: str, name: str, others: _Others) -> str:
    own = program.files.get(path)
    text = others(path) if own is None else own
    if text is None:
        near = [one for one in program.files if one.endswith(f"/{path.rpartition('/')[2]}")]
        return f"{path} is none of the files{f'; there is {near[0]}' if near else ''}"
    found = _part(path, text, name)
    if isinstance(found, str):
        return found
    whole = found.text if len(found.text) <= _MOST_CHARACTERS else found.text[:_MOST_CHARACTERS].rpartition("\n")[0]
    last = found.last if whole == found.text else found.first + whole.count("\n")
    cut = f", cut; it goes on to line {found.last}" if last < found.last else ""
    stays = STAYS if own is None else ""
    return f"{path}, lines {found.first} to {last}{stays}{cut}:\n{fenced(whole)}"


def _part(path: str, text: str, name: str) -> Definition | str:
    """The part of a text that a name or two numbers of lines stand for; or why there is none."""
    lines = text.split("\n")
    if not name:
        return Definition("", 1, len(lines), text)
    if (numbers := _LINES.fullmatch(name)) is not None:
        first = max(1, int(numbers[1]))
        last = min(len(lines), max(first, int(numbers[2] or first)))
        part = "\n".join(lines[first - 1 : last])
        return Definition("", first, last, part) if first <= last else f"{path} has only {len(lines)} lines"
    language = language_at(path) or "javascript"
    types = (one for one in definitions(language, text) if one.is_type and one.name == name)
    found = function_named(language, text, name) or next(types, None) or value_named(text, name)
    return found or f"{path} defines no function, type or value {name}; ask for the whole file, or for lines of it"
