"""A situation as the text that a language model reads: (x0, xt, et, ct, u), in the paper's order.

The prompt ends where the label begins, so that the class is the next token.  If it is too long, each section keeps a
share of the room: its beginning, a piece of its middle and its end.  The text around the sections, which includes u and
the depth, is never cut.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, final

from maxcode.code.source import unified_diff, writable
from maxcode.observe.feedback import feedback_lines
from maxcode.search.value.situation import Situation

_REVISION = 2
_OPENING = "Language: {language}. Depth: {depth}. Best speed-up so far: {u:.2f}."
_WEIGHTS = {"Original": 2, "Program": 5, "Change": 5, "Feedback": 2, "Critique": 1}  # shares of the room, ours
_END = "\nClass of the best speed-up to come, 0 to {last}:"
_FORM = f"{_OPENING}/{_WEIGHTS}/{_END}"
GAP = "\n[...]\n"  # replaces what is left out
VERSION = f"text-{_REVISION}-{hashlib.sha256(_FORM.encode()).hexdigest()[:12]}"


@final
class Section(NamedTuple):
    """``lead`` stays whole, ``text`` may be cut; ``weight`` is the section's share of the room for texts."""

    lead: str
    text: str
    weight: int


def prompt(one: Situation, classes: int) -> str:
    """The whole text of a situation, up to the label."""
    return "".join(chain.from_iterable((part.lead, part.text) for part in sections(one, classes)))


def sections(one: Situation, classes: int) -> list[Section]:
    """The prompt in sections; the last one is the end of the prompt and has no text."""
    texts = {
        "Original": one.original,
        "Program": one.program,
        "Change": _changed(one),
        "Feedback": "not executed yet" if one.step is None else "\n".join(feedback_lines(one.step, one.previous)),
        "Critique": "" if one.step is None else one.step.critique,
    }
    opening = _OPENING.format(language=one.language, depth=one.depth, u=one.u)
    found = [Section(f"\n{name}:\n", writable(text).strip(), _WEIGHTS[name]) for name, text in texts.items()]
    return [Section(opening, "", 1), *found, Section(_END.format(last=classes - 1), "", 1)]


def shared(needs: Sequence[int], weights: Sequence[int], room: int) -> list[int]:
    """Divide ``room`` by weight among those with these ``needs``; what one does not need goes to the others."""
    given = [0] * len(needs)
    left = list(range(len(needs)))
    while left:
        total = sum(weights[at] for at in left)
        short = [at for at in left if needs[at] * total <= room * weights[at]]
        for at in short or left:
            given[at] = needs[at] if short else room * weights[at] // total
        room -= sum(given[at] for at in short)
        left = [at for at in left if at not in short] if short else []
    return given


def cut(tokens: Sequence[int], most: int, gap: Sequence[int]) -> list[int]:
    """At most ``most`` of the tokens: the beginning, a piece of the middle and the end, with ``gap`` between them.

    The middle is kept because the code that the rewriter inserts before its change is long, and alike in many programs.
    """
    if len(tokens) <= most:
        return list(tokens)
    size = (most - 2 * len(gap)) // 3
    if size < 1:
        return list(tokens[:most])
    starts = (0, (len(tokens) - size) // 2, len(tokens) - size)
    first, middle, last = (tokens[at : at + size] for at in starts)
    return [*first, *gap, *middle, *gap, *last]


def _changed(one: Situation) -> str:
    """The lines that the last step removed and added, without context; that is in the program."""
    lines = unified_diff(one.parent, one.program).splitlines()[2:]
    return "\n".join(line for line in lines if line[:1] in ("+", "-"))
