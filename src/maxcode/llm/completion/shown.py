"""Requests to see more of a repository before an answer: lines ``SHOW path`` or ``SHOW path:function``."""

from __future__ import annotations

import re

from maxcode.code.definitions import function_named
from maxcode.code.languages import language_at
from maxcode.code.source import answer_of, fenced
from maxcode.core.types import Program

ROUNDS = 2  # requests that one proposal may make
MOST_WISHES = 6  # of one request
_MOST_CHARACTERS = 24_000  # of one text
_WISH = re.compile(r"^[ \t>*`-]*SHOW[ \t]+`?([^\s`:]+)(?::([^\n`]++))?+`?[ \t]*+$", re.MULTILINE)


def wishes(completion: str) -> list[tuple[str, str]]:
    """The (path, function) that an answer asks for, at most six; the function is empty for a whole file."""
    found = [(path, name.strip()) for path, name in _WISH.findall(answer_of(completion))]
    return list(dict.fromkeys(found))[:MOST_WISHES]


def shown(program: Program, wanted: list[tuple[str, str]]) -> str:
    """The wanted texts, each with its name and lines; a sentence for one that is not there."""
    return "\n\n".join(_shown(program, path, name) for path, name in wanted)


def _shown(program: Program, path: str, name: str) -> str:
    text = program.files.get(path)
    if text is None:
        near = [one for one in program.files if one.endswith(f"/{path.rpartition('/')[2]}")]
        return f"{path} is none of the files{f'; there is {near[0]}' if near else ''}"
    first, last = 1, text.count("\n") + 1
    if name:
        found = function_named(language_at(path) or "javascript", text, name)
        if found is None:
            return f"{path} defines no function {name}; ask for the whole file"
        first, last, text = found.first, found.last, found.text
    cut = " (cut)" if len(text) > _MOST_CHARACTERS else ""
    return f"{path}, lines {first} to {last}{cut}:\n{fenced(text[:_MOST_CHARACTERS])}"
