"""What the parts of an observation share: the type, ``compose``, and the texts that several of them show."""

from __future__ import annotations

import re
from collections.abc import Callable

from maxcode.code.source import fenced, prose
from maxcode.core.history import Reached
from maxcode.core.roles import Observe
from maxcode.core.types import Evaluation, Program, Section, State

Part = Callable[[State, Reached], Section | None]

_HEADING = re.compile(r"^(?=#{1,6}\s)", re.MULTILINE)


def compose(*parts: Part) -> Observe:
    """One observation of the parts that have something to say, in the order given."""

    def observe(state: State, reached: Reached) -> tuple[Section, ...]:
        sections = (part(state, reached) for part in parts)
        return tuple(section for section in sections if section is not None)

    return observe


def tokens(text: str) -> int:
    """An estimate of a text's tokens: a quarter of its bytes, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size // 4)


def harmless(text: str) -> str:
    """A text in which no line is a Markdown heading, since headings part the sections of a prompt."""
    return _HEADING.sub(r"\\", text) if "#" in text else text


def notes(state: State) -> str:
    """What the policy wrote beside its program."""
    return harmless(prose(state.step.action.completion)) if state.step is not None else ""


def listing(program: Program, language: str) -> str:
    """The files of a program, each as a fenced block, named where there are several."""
    blocks = {path: fenced(text, language) for path, text in program.files.items()}
    if len(blocks) == 1:
        return next(iter(blocks.values()))
    return "\n".join(f"{path}:\n{block}" for path, block in blocks.items())


def shown_evaluation(state: State, original: Evaluation | None) -> Evaluation | None:
    """The evaluation of the program that ``state`` shows, which is an earlier one where none could be read from the
    last completion; ``original`` is that of the original program."""
    for node in state.ancestry:
        if node.step is not None and node.step.action.program is not None:
            return node.step.evaluation
    return original
