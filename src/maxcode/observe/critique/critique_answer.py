"""The format of a critic's answer, and its parser: tolerant of text around the answer, strict about its content.

The classes of bottleneck are ours: the paper's critic names "memory bandwidth, compute, algorithm" and gives steps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, final, get_args

import msgspec

from maxcode.code.source import answer_of
from maxcode.core.types import NO_GAIN

Bottleneck = Literal[
    "input-output",
    "memory-bandwidth",
    "memory-latency",
    "allocation",
    "algorithm",
    "data-structure",
    "arithmetic",
    "vectorisation",
    "parallelism",
    "overhead",
    "build",
    "correctness",
    "limit",
    "none",
]
_WITHOUT_STEPS = ("limit", "none")

DIAGNOSIS_AT_MOST, STEP_AT_MOST, STEPS_AT_MOST = 2000, 500, 6
_Diagnosis = Annotated[str, msgspec.Meta(min_length=1, max_length=DIAGNOSIS_AT_MOST)]
_StepText = Annotated[str, msgspec.Meta(min_length=1, max_length=STEP_AT_MOST)]
_Line = Annotated[int, msgspec.Meta(ge=1)]

_OBJECT = re.compile(r'\{\s*"')
_READ_AT_MOST = 100_000  # characters
_TRIES_AT_MOST = 500
_CUT = " [...]"


@final
@dataclass(frozen=True, slots=True)
class CritiqueAnswer:
    """A critique as a model writes it.  ``line``: 1-based, of the new program's first file; of a repository it is not
    asked for.  ``steps``: one to six, or none with the bottlenecks "limit" (no further gain is seen) and "none"
    (nothing is known)."""

    diagnosis: _Diagnosis
    bottleneck: Bottleneck
    line: _Line | None = None
    steps: Annotated[tuple[_StepText, ...], msgspec.Meta(max_length=STEPS_AT_MOST)] = ()

    def words(self, source: Sequence[str] = ()) -> str:
        """The critique for a policy: one sentence a line, so that no text of a model can imitate a result, a heading or
        a policy's own note.  ``source``: the lines of the program, of which the named one is quoted."""
        if self.bottleneck == "limit" and not self.steps:
            return f"{NO_GAIN} {_one_line(self.diagnosis)}"
        where = f" at line {self.line}" if self.line is not None else ""
        if self.line is not None and (quoted := "".join(source[self.line - 1 : self.line]).strip()):
            where += f", `{_one_line(quoted)[:120]}`"
        told = [f"Bottleneck: {self.bottleneck}{where}.", f"Diagnosis: {_one_line(self.diagnosis)}"]
        return "\n".join(told + [f"{number}. {_one_line(step)}" for number, step in enumerate(self.steps, 1)])


@final
@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a text contains no valid critique, on one line."""

    reason: str


def read(text: str, lines: int) -> CritiqueAnswer | Unreadable:
    """The last valid answer in a text, with or without fences, prose and reasoning around it.

    ``lines``: the number of lines of the program; 0 if none may be named: then that of the answer is left out.  If
    several objects are invalid, the fault of the last one is reported.
    """
    faults = [] if text.strip() else ["the answer is empty"]
    text = text[-_READ_AT_MOST:]
    for view in (answer_of(text), text):  # without its reasoning, then whole: a tag of reasoning may be in the answer
        for found in reversed(list(_objects(view))):
            answer = found if isinstance(found, Unreadable) else _checked(found, lines)
            if isinstance(answer, CritiqueAnswer):
                return answer
            faults.append(answer.reason)
    return Unreadable(faults[0] if faults else "the answer holds no JSON object")


def _objects(text: str) -> Iterator[Any]:
    """Every outermost JSON object; ``Unreadable`` for text that only begins like one."""
    decoder = json.JSONDecoder(strict=False)
    at = 0
    for _ in range(_TRIES_AT_MOST):
        match = _OBJECT.search(text, at)
        if match is None:
            return
        try:
            found, at = decoder.raw_decode(text, match.start())
            yield found
        except json.JSONDecodeError as error:
            at = match.end()
            yield Unreadable(f"no valid JSON: {error.msg} at character {error.pos - match.start()} of the object")
        except (ValueError, RecursionError):
            at = match.end()
            yield Unreadable("no valid JSON: a number too long, or nested too deep")


def _as_agreed(found: Any) -> Any:
    """An object whose texts are cut where they may end, without steps after the last permitted one, and with a usual
    spelling of the bottleneck; a whole answer is not asked for again for these."""
    if not isinstance(found, dict):
        return found
    diagnosis, steps, bottleneck = found.get("diagnosis"), found.get("steps"), found.get("bottleneck")
    changes: dict[str, Any] = {}
    if isinstance(bottleneck, str):
        usual = re.sub(r"[\s_]+", "-", bottleneck.strip().lower()).replace("vectoriz", "vectoris")
        changes["bottleneck"] = usual if usual in get_args(Bottleneck) else bottleneck
    if isinstance(diagnosis, str):
        changes["diagnosis"] = _cut(diagnosis, DIAGNOSIS_AT_MOST)
    if isinstance(steps, list):
        kept = steps[:STEPS_AT_MOST]  # the most valuable first
        changes["steps"] = [_cut(step, STEP_AT_MOST) if isinstance(step, str) else step for step in kept]
    return {**found, **changes}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(_CUT)] + _CUT


def _checked(found: Any, lines: int) -> CritiqueAnswer | Unreadable:
    try:
        answer = msgspec.convert(
            _as_agreed(found), CritiqueAnswer, strict=False
        )  # not strict: a line number may be in quotes
    except msgspec.ValidationError as error:
        return Unreadable(_one_line(str(error))[:200])
    if not answer.diagnosis.strip() or not all(step.strip() for step in answer.steps):
        return Unreadable("the diagnosis or a step is blank")
    if not answer.steps and answer.bottleneck not in _WITHOUT_STEPS:
        return Unreadable(f"`$.steps` is empty, which only the bottlenecks {' and '.join(_WITHOUT_STEPS)} allow")
    if not lines:
        return replace(answer, line=None)
    if answer.line is not None and answer.line > lines:
        return Unreadable(f"`line` is {answer.line}, but the program ends at {lines}")
    return answer


def _one_line(text: str) -> str:
    """The text with white space and unprintable characters replaced by single blanks."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
