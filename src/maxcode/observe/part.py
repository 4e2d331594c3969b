"""Common to the parts of an observation: the type ``Part``, ``compose``, and texts that several parts show."""

from __future__ import annotations

import re
from collections.abc import Callable

from maxcode.code.prose import prose
from maxcode.code.source import fenced, unified_diff
from maxcode.core.history import Reached
from maxcode.core.roles import Observe
from maxcode.core.types import Evaluation, Program, Section, State

Part = Callable[[State, Reached], Section | None]

_NOTE = 240  # characters
_COMPARED = 200_000  # characters
_SHORT = 2_000  # characters of a change that is never called a rewrite
_SENTENCE, _CLAUSE = re.compile(r"[.!?](?=\s)"), re.compile(r"[;:](?=\s)")
_HEADING = re.compile(r"^(?=#{1,6}\s)", re.MULTILINE)


def compose(*parts: Part) -> Observe:
    """One observation of the sections that the parts return, in the order given."""

    def observe(state: State, reached: Reached) -> tuple[Section, ...]:
        sections = (part(state, reached) for part in parts)
        return tuple(section for section in sections if section is not None)

    return observe


def tokens(text: str) -> int:
    """An estimate of a text's tokens: a quarter of its bytes, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size // 4)


def harmless(text: str) -> str:
    """The text changed so that no line is a Markdown heading, because headings separate the sections of a prompt."""
    return _HEADING.sub(r"\\", text) if "#" in text else text


def notes(state: State) -> str:
    """The text of the policy around its program."""
    return harmless(prose(state.step.action.completion)) if state.step is not None else ""


def change_line(state: State) -> str:
    """The change of a step on one line: its first note, or else the first line of the answer."""
    lines = [line for line in notes(state).splitlines() if line.strip()]
    note = next((line for line in lines if line.startswith("- ")), lines[0] if lines else "not described")
    return sentences(" ".join(note.removeprefix("- ").split()), _NOTE)


def sentences(line: str, most: int) -> str:
    """The beginning of a line, ``most`` characters at most, up to the end of a sentence or of a part of one; without
    either, of a word."""
    if len(line) <= most:
        return line
    ends = [match.end() for match in _SENTENCE.finditer(line[: most + 1])]
    parts = [match.start() for match in _CLAUSE.finditer(line[: most + 1])]
    if end := next((end for end in (*ends[-1:], *parts[-1:]) if end >= most // 3), 0):
        return line[:end]
    return f"{line[:most].rpartition(' ')[0] or line[:most]} [...]"


def listing(program: Program, language: str) -> str:
    """The files of a program as fenced blocks, with names if there are several."""
    blocks = {path: fenced(text, language) for path, text in program.files.items()}
    if len(blocks) == 1:
        return next(iter(blocks.values()))
    return "\n".join(f"{path}:\n{block}" for path, block in blocks.items())


def changed(before: Program, after: Program, most: int) -> str:
    """The unified diff of two programs as a fenced block, at most ``most`` characters of it; a line says what is left
    out.  Programs of more than 200,000 characters are not compared: that takes quadratic time."""
    if max(length_of(before), length_of(after)) > _COMPARED:
        return "(the program is too long to be compared)"
    diff = "".join(unified_diff(before.files.get(path, ""), text, path) for path, text in after.files.items())
    if not diff:
        return "(the same program)"
    if len(diff) <= most:
        return fenced(diff, "diff")
    kept = diff[:most].rpartition("\n")[0].split("\n")
    return f"{fenced(chr(10).join(kept), 'diff')}\n({diff.count(chr(10)) - len(kept)} more lines are left out)"


def is_rewrite(before: Program, after: Program) -> bool:
    """Whether the lines that changed are, old and new, as long as the new program: then that tells the change in less
    room than a diff."""
    size = length_of(after)
    if max(length_of(before), size) > _COMPARED:
        return False
    diff = "".join(unified_diff(before.files.get(path, ""), text, path) for path, text in after.files.items())
    touched = sum(len(line) for line in diff.split("\n") if line.startswith(("+", "-")))
    return touched >= max(size, _SHORT)


def length_of(program: Program) -> int:
    """The characters of all files."""
    return sum(map(len, program.files.values()))


def shown_evaluation(state: State, original: Evaluation | None) -> Evaluation | None:
    """The evaluation of the program that ``state`` shows.  That is an earlier one if no program could be read from the
    last completion; ``original`` is that of the original program."""
    for node in state.ancestry:
        if node.step is not None and node.step.action.program is not None:
            return node.step.evaluation
    return original
