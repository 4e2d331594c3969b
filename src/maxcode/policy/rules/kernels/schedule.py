"""Schedules: the steps from an original to a kernel as text, one line a step.

    schedule  = { line }
    line      = step "(" subject { "," parameter } ")"      interchange(j in gemm, inner=p)
    parameter = name "=" value                              tile(j in gemm, size=64)

A line is the label of an edit, as the notes of the policy write it.  It is legal if and only if that edit is offered
for the program that the lines before it have made, and makes no use of a technique that is neither permitted nor used
by the original.  Empty lines, and spaces around names and signs, mean nothing.

A line is needless if it makes a program that the schedule has had, or that one line makes of a program before the last:
``tile(p in gemm, size=16)`` and ``retune(TILE_P, value=8)`` are ``tile(p in gemm, size=8)``.  A shortest schedule of a
program has no needless line, so every program can be made without any.  Random schedules and policies write none; it is
legal nevertheless, so that every schedule that is kept can be read.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.techniques import used
from maxcode.errors import InputError
from maxcode.policy.rules.kernels.steps import ALL, NAMED, Permitted, edits_of, offered
from maxcode.policy.rules.rewriter.runtime import patched

_LINE = re.compile(r"(?P<step>\w+) ?\((?P<subject>[\w# ]+)(?P<parameters>(?:, ?\w+ ?= ?\w+ ?)*)\)")
_FORM = "step(subject, name=value, ...), such as tile(j in gemm, size=64)"
_INTRODUCED = frozenset(
    {"restrict", "simd", "tiling", "unrolling", "packing", "prefetch", "pragmas"}
)  # without threads


@final
@dataclass(frozen=True, slots=True)
class Line:
    """A line of a schedule, and its number in the text (from 1)."""

    number: int
    step: str
    subject: str
    parameters: tuple[str, ...]  # ``name=value``

    @property
    def parts(self) -> tuple[str, ...]:
        """Step, subject and parameters, in the order of the text."""
        return (self.step, self.subject, *self.parameters)

    @property
    def label(self) -> str:
        """The label of its edit."""
        return f"{self.step}({', '.join(self.parts[1:])})"


def written(labels: Iterable[str]) -> str:
    """The schedule of edits with these labels."""
    return "".join(f"{label}\n" for label in labels)


def read(schedule: str) -> list[Line]:
    """The lines of a schedule; raises InputError for one that has another form."""
    return [_line(number, text) for number, text in enumerate(schedule.splitlines(), 1) if text.strip()]


def _line(number: int, text: str) -> Line:
    found = _LINE.fullmatch(" ".join(text.split()))
    if found is None:
        raise InputError(f"line {number} of the schedule is '{text.strip()}'; write {_FORM}")
    parameters = found["parameters"].replace(" ", "").split(",")[1:]
    return Line(number, found["step"], found["subject"].strip(), tuple(parameters))


def applied(original: str, language: str, schedule: str, allowed: Permitted) -> str:
    """The program that a schedule makes of an original; raises InputError for a line that is not legal, with what would
    be."""
    *_, last = _path(original, language, schedule, allowed)
    return last


def _path(original: str, language: str, schedule: str, allowed: Permitted) -> Iterator[str]:
    """The original, and the program after each line."""
    yield (text := original)
    for line in read(schedule):
        unit = Unit(language, text)
        text = after(unit, _edit_of(unit, line, allowed))
        if extra := more_than(allowed, language, text, original):
            named = ", ".join(sorted(extra))
            what = f"the program would use techniques that are not permitted: {named}; leave out this line"
            raise InputError(f"line {line.number} of the schedule is '{line.label}': {what}")
        yield text


def more_than(allowed: Permitted, language: str, program: str, original: str) -> frozenset[str]:
    """The techniques of a program that are neither permitted nor used by the original."""
    if allowed.permitted is None:
        return frozenset()
    return used(language, program) - allowed.permitted - used(language, original)


def after(unit: Unit, edit: Edit) -> str:
    """The program after an edit."""
    return patched(unit.data, list(edit.change.patches))


def _edit_of(unit: Unit, line: Line, allowed: Permitted) -> Edit:
    edit = named(unit, line.label, allowed)
    if edit is None:
        raise _illegal(unit, line, allowed)
    return edit


def named(unit: Unit, label: str, allowed: Permitted) -> Edit | None:
    """The legal edit of a program with a label; None if there is none."""
    step = NAMED.get(label.partition("(")[0])
    edits = edits_of(step, unit, allowed) if step is not None else []
    return next((edit for edit in edits if edit.label == label), None)


def _illegal(unit: Unit, line: Line, allowed: Permitted) -> InputError:
    """The error of the first part of a line that no offered edit has, with the parts that are possible there."""
    labels = [edit.label for _, edits in offered(unit, allowed) for edit in edits]
    open_to = [_line(0, label).parts for label in labels]
    for place, part in enumerate((*line.parts, "")):
        possible = list(dict.fromkeys(parts[place] if place < len(parts) else "" for parts in open_to))
        if part not in possible:
            wrong = _wrong_step(line, possible, allowed) if place == 0 else _wrong_part(line, place, possible)
            return InputError(f"line {line.number} of the schedule is '{line.label}': {wrong}")
        open_to = [parts for parts in open_to if (*parts, "")[place] == part]
    raise AssertionError("a line whose every part is possible is an edit that is offered")


def _wrong_step(line: Line, possible: Sequence[str], allowed: Permitted) -> str:
    step = NAMED.get(line.step)
    if not possible:
        return "no step is possible here; leave out this line and those after it"
    if step is None:
        near = get_close_matches(line.step, NAMED, n=1)
        what = f"there is no step '{line.step}'" + (f"; did you mean '{near[0]}'?" if near else "")
    elif not allowed.step(step):
        what = f"the step '{line.step}' is not permitted"
    else:
        what = f"the step '{line.step}' is not possible here"
    return f"{what}; possible here: {', '.join(possible)}"


def _wrong_part(line: Line, place: int, possible: Sequence[str]) -> str:
    if place == 1:
        return f"'{line.step}' is not possible for '{line.subject}'; possible for: {', '.join(possible)}"
    before = f"{line.step}({', '.join(line.parts[1:place])}"
    wanted = f"possible: {', '.join(possible)}" if possible != [""] else "nothing more belongs there"
    if place == len(line.parts):
        return f"a parameter is missing after '{before}'; {wanted}"
    return f"'{line.parts[place]}' is not possible after '{before}'; {wanted}"


def offers(language: str, text: str, allowed: Permitted, original: str, longest: int = 0) -> dict[str, int]:
    """The legal next lines of a schedule that has made ``text`` of ``original``; of each the mark of the program after.

    To find the techniques of a text takes a hundred times as long as to make it.  So this is left out where all that a
    step can introduce is permitted; ``applied`` finds them in any case.  ``longest``: the most characters of a program,
    0 for any number."""
    unit = Unit(language, text)
    found = {edit.label: after(unit, edit) for _, edits in offered(unit, allowed) for edit in edits}
    if longest:
        found = {label: made for label, made in found.items() if len(made) <= longest}
    if allowed.permitted is None or not allowed.permitted >= _INTRODUCED or allowed.threads:
        found = {label: made for label, made in found.items() if not more_than(allowed, language, made, original)}
    return {label: mark(made) for label, made in found.items()}


def mark(program: str) -> int:
    """Equal for programs that differ only in the amount of white space; in this process alone."""
    return hash(" ".join(program.split()))


def needs(schedule: str) -> frozenset[str]:
    """The techniques that have to be permitted for a schedule whose steps exist."""
    lines = read(schedule)
    packs = any("template=packed" in line.parameters for line in lines)
    found = frozenset[str]().union(*(NAMED[line.step].techniques for line in lines))
    return found | {"packing"} if packs else found


# ------------------------------------------------------------------------------------------------ again, and at random


@final
@dataclass(frozen=True, slots=True)
class Taken:
    """A step of a random schedule: the label of its edit, and the program after it."""

    label: str
    program: str


def again(text: str, language: str, original: str, labels: Iterable[str], allowed: Permitted) -> Iterator[Taken]:
    """The steps with these labels, one after the other; those that are not legal there are left out."""
    for label in labels:
        unit = Unit(language, text)
        edit = named(unit, label, allowed)
        if edit is not None and not more_than(allowed, language, program := after(unit, edit), original):
            text = program
            yield Taken(label, text)


def walk(
    text: str, language: str, generator: random.Random, steps: int, allowed: Permitted, begin: str = ""
) -> Iterator[Taken]:
    """A random legal schedule of at most ``steps`` lines without a needless one, step by step, behind the schedule
    ``begin``.  Steps that use techniques that are not permitted are skipped; it ends where no step is possible."""
    path, passed = list(_path(text, language, begin, allowed)), {mark(text)}
    for _ in range(steps):
        passed.update(*(_made(language, one, allowed) for one in path[:-1]))
        unit = Unit(language, path[-1])
        edit = _any_edit(unit, allowed, generator, passed)
        if edit is None:
            return
        program = after(unit, edit)
        path = path[-1:]
        if not more_than(allowed, language, program, text):
            path.append(program)
            yield Taken(edit.label, program)


@lru_cache(maxsize=500)
def _made(language: str, text: str, allowed: Permitted) -> frozenset[int]:
    """The marks of what one line makes of a program.  Those with techniques that are not permitted are among them: no
    line makes them, so they forbid nothing more."""
    unit = Unit(language, text)
    return frozenset(mark(after(unit, edit)) for _, edits in offered(unit, allowed) for edit in edits)


def _any_edit(unit: Unit, allowed: Permitted, generator: random.Random, passed: Collection[int]) -> Edit | None:
    """An edit of a random step, drawn by prior among those that have edits, to a program whose mark is new."""
    steps = [step for step in ALL if allowed.step(step)]
    while steps:
        step = generator.choices(steps, [step.rule.prior for step in steps])[0]
        if found := [edit for edit in edits_of(step, unit, allowed) if mark(after(unit, edit)) not in passed]:
            return generator.choice(found)
        steps.remove(step)
    return None
