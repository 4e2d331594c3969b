"""Which rules have a place in each function of a program, and what keeps those that do not apply, in words."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from maxcode.code.cpp.edit import Rule
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script

_MOST = 8  # functions that are told
_TOP = "the program"  # the place of what stands in no function


def nearest(unit: Unit, rules: Sequence[Rule]) -> tuple[str, ...]:
    """A line for each function: the rules that apply there, and those that have a place but do not apply, and why.

    Functions in which a rule has a place come first, each group in the order of the text.
    """
    read = reading(unit)
    if read is None:
        return (f"no rule looks at the program, because of: {_unpredictable(unit.text)}",)
    functions = [node for node in ast.walk(read.script.tree) if isinstance(node, ast.FunctionDef)]
    told: dict[str, dict[str, str]] = {one.name: {} for one in sorted(functions, key=lambda one: one.lineno)}
    for rule in rules:
        for edit in rule.find(unit):
            told.setdefault(_place(functions, edit.line), {}).setdefault(rule.name, f"{rule.name} applies")
    names = {rule.name for rule in rules}
    for (place, name), (line, why) in read.misses.items():
        if name in names:
            told.setdefault(place, {}).setdefault(name, f"{name} does not apply in line {line}, because {why}")
    lines = [
        _line(place, list(told[place].values()), len(rules)) for place in sorted(told, key=lambda one: not told[one])
    ]
    more = len(lines) - _MOST
    return (*lines[:_MOST], *([f"{more} more function{'s' * (more > 1)}"] if more > 0 else []))


def _place(functions: Sequence[ast.FunctionDef], line: int) -> str:
    around = [one for one in functions if one.lineno <= line <= (one.end_lineno or one.lineno)]
    return max(around, key=lambda one: one.lineno).name if around else _TOP


def _line(place: str, found: Sequence[str], rules: int) -> str:
    rest = rules - len(found)
    others = f"{rest} {'other ' * bool(found)}rule{' finds' if rest == 1 else 's find'} no place"
    return f"{place}: {'; '.join([*found, *([others] if rest else [])])}"


def _unpredictable(text: str) -> str:
    """What makes a program unpredictable for rules."""
    try:
        return Script(text).why_not
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"a text that cannot be read: {error}"
