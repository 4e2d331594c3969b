"""Which rules have a place in each function of a program, and what keeps those that do not apply, in words."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from maxcode.code.cpp.edit import Rule
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.python.arrays import is_made
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script

_MOST = 8  # functions that are told
_TOP = "the program"  # the place of what stands in no function
_WANTED = {  # by rule: the place that it looks for, in a few words
    "set_lookup": "`x in LIST`",
    "popleft": "`LIST.pop(0)`",
    "append_in_place": "`text = text + a + b`",
    "comprehension": "a loop that only appends to a new list",
    "length_once": "`while ... len(text)`",
    "vectorise": "sums and stores over numpy arrays",
    "nest_on_lists": "nests of loops that store elements of numpy arrays",
    "njit_nest": "nests of loops over numpy arrays",
}
_LOOPS = "its loops hold nothing that rules look for"
_SHOWN = 3  # names of what a function calls


def nearest(unit: Unit, rules: Sequence[Rule]) -> tuple[str, ...]:
    """A line for each function: the rules that apply there, and those that have a place but do not apply, and why.

    First comes the function that is asked for, the last word of the last of ``unit.others``, then what it calls; in
    each of these groups and among the rest those in which a rule has a place, each in the order of the text.
    """
    read = reading(unit)
    if read is None:
        return (f"no rule looks at the program, because of: {_unpredictable(unit.text)}",)
    nodes = (node for node in ast.walk(read.script.tree) if isinstance(node, ast.FunctionDef))
    functions = [node for node in nodes if not is_made(read.script, node)]
    told: dict[str, dict[str, str]] = {one.name: {} for one in sorted(functions, key=lambda one: one.lineno)}
    for rule in rules:
        for edit in rule.edits(unit):
            told.setdefault(_place(functions, edit.line), {}).setdefault(rule.name, f"{rule.name} applies")
    chosen = {rule.name for rule in rules}
    for (place, name), (line, why) in read.misses.items():
        if name in chosen:
            told.setdefault(place, {}).setdefault(name, f"{name} does not apply in line {line}, because {why}")
    nodes_of = {one.name: list(ast.walk(one)) for one in functions}
    asked = unit.others[-1].split()[-1:] if unit.others else []
    reached = _called_by(asked, nodes_of)
    order = sorted(told, key=lambda one: (one not in asked, one not in reached, not told[one]))
    lines = [
        _line(place, list(told[place].values()), len(rules))
        if told[place]
        else f"{place}: no rule has a place, because {_nothing(place, nodes_of.get(place, []))}"
        for place in order
    ]
    more = len(lines) - _MOST
    wanted = [_WANTED[rule.name] for rule in rules if rule.name in _WANTED]
    is_explained = any(line.endswith(_LOOPS) for line in lines[:_MOST]) and wanted
    return (
        *lines[:_MOST],
        *([f"{more} more function{'s' * (more > 1)}"] if more > 0 else []),
        *([f"rules look for {', '.join(wanted)}"] if is_explained else []),
    )


def _called_by(names: Sequence[str], nodes_of: Mapping[str, Sequence[ast.AST]]) -> set[str]:
    """The functions of these names, those that they call, and so on."""
    found, left = set[str](), [*names]
    while left:
        if (name := left.pop()) in found or name not in nodes_of:
            continue
        found.add(name)
        calls = (node.func for node in nodes_of[name] if isinstance(node, ast.Call))
        left += [getattr(one, "id", getattr(one, "attr", "")) for one in calls]
    return found


def _place(functions: Sequence[ast.FunctionDef], line: int) -> str:
    around = [one for one in functions if one.lineno <= line <= (one.end_lineno or one.lineno)]
    return max(around, key=lambda one: one.lineno).name if around else _TOP


def _line(place: str, found: Sequence[str], rules: int) -> str:
    rest = rules - len(found)
    others = f"{rest} other rule{' finds' if rest == 1 else 's find'} no place"
    return f"{place}: {'; '.join([*found, *([others] if rest else [])])}"


def _nothing(name: str, nodes: Sequence[ast.AST]) -> str:
    """Why no rule has a place in a function of these nodes."""
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    if any(isinstance(node, ast.For | ast.While) for node in nodes):
        return _LOOPS
    if any(isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) for node in nodes):
        return "its loops are comprehensions already"
    if any(isinstance(one, ast.Name) and one.id == name for one in calls):
        return "it calls itself in one place, so no result need come up again"
    called = dict.fromkeys(ast.unparse(one).rpartition(".")[2] for one in calls)
    spent = f"; its time is that of what it calls ({', '.join([*called][:_SHOWN])})" if called else ""
    return f"it has no loop and does not call itself{spent}"


def _unpredictable(text: str) -> str:
    """What makes a program unpredictable for rules."""
    try:
        return Script(text).why_not
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"a text that cannot be read: {error}"
