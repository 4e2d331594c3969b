"""A situation as the text that a language model reads: (x0, xt, et, ct, u), in the paper's order.

The prompt ends where the label begins, so that the class is the next token.  Long programs lose their middle, never
the label's place.
"""

from __future__ import annotations

import hashlib

from maxcode.feedback import feedback_lines
from maxcode.source import unified_diff
from maxcode.value.situation import Situation

_REVISION = 1
_ORIGINAL, _PROGRAM, _DIFFERENCE, _FEEDBACK, _CRITIQUE = 1600, 2400, 1600, 600, 500  # characters
_TEMPLATE = """Language: {language}. Depth: {depth}. Best speed-up so far: {u:.2f}.
Original:
{original}
Program:
{program}
Change:
{change}
Feedback:
{feedback}
Critique:
{critique}
Class of the best speed-up to come, 0 to {last}:"""
VERSION = f"text-{_REVISION}-{hashlib.sha256(_TEMPLATE.encode()).hexdigest()[:12]}"


def prompt(one: Situation, classes: int) -> str:
    """The text of a situation, up to the label."""
    step = one.step
    told = "\n".join(feedback_lines(step, one.previous)) if step is not None else "not executed yet"
    return _TEMPLATE.format(
        language=one.language,
        depth=one.depth,
        u=one.u,
        original=_cut(one.original, _ORIGINAL),
        program=_cut(one.program, _PROGRAM),
        change=_cut(unified_diff(one.parent, one.program, "p"), _DIFFERENCE),
        feedback=_cut(told, _FEEDBACK),
        critique=_cut(step.critique, _CRITIQUE) if step is not None else "",
        last=classes - 1,
    )


def _cut(text: str, most: int) -> str:
    """The text with its middle left out where it is too long."""
    text = text.encode("utf-8", "replace").decode().strip()
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n[...]\n{text[-most // 2 :]}"
