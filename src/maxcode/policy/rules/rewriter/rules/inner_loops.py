"""Rules for the inside of one loop, for C and C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tree_sitter import Node

from maxcode.code.cpp.edit import Change, Edit, Value
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import words
from maxcode.code.source import Patch, text_of, walk
from maxcode.policy.rules.rewriter.rules.aliasing import are_apart, untouched
from maxcode.policy.rules.rewriter.rules.guards import declares, held, may_wait, runs_threads
from maxcode.policy.rules.rewriter.rules.nests import (
    Loop,
    canonical,
    directions,
    ends_are_pure,
    has_turn,
    mentions,
    names,
    pragmas,
    site,
    statements,
    stores_of,
    sum_of,
)

UNROLL = (2, 4, 8, 16)
LANES = (4, 8, 16)
Params = tuple[tuple[str, Value], ...]

_DEAR = words("strlen sqrt sqrtl sqrtf cbrt pow exp log log2 log10 sin cos tan atan2 hypot fmod")
_MAY_FAIL = re.compile(r"[\[*]|->|[/%] *(?![1-9]|0?\.\d)")  # reads what may not be there, divides by what may be 0
_LENGTHS = words("size length")
_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")


def unroll(unit: Unit) -> Iterator[Edit]:
    """Asks the compiler to unroll an innermost loop by a given factor."""
    for node in unit.nodes(*_LOOPS[:3]):
        if _is_innermost(node) and not held(unit, node) and not any("unroll" in text_of(p) for p in pragmas(node)):
            for factor in UNROLL:
                yield _with_pragma(unit, "unroll", node, f"unroll {factor}", (("factor", factor),))


def ivdep(unit: Unit) -> Iterator[Edit]:
    """Tells the compiler that iterations are independent; each must write its own element and read no other."""
    for node in unit.nodes("for_statement"):
        loop = canonical(unit, node)
        if loop is None or not _is_innermost(node) or any("ivdep" in text_of(p) for p in pragmas(node)):
            continue
        if held(unit, node):
            continue
        stores = stores_of(unit, loop.body)
        columns = [(one.array, one.subscripts[-1:]) for one in stores or ()]  # two rows may be one, behind pointers
        if stores and not directions(unit, [loop], columns):
            yield _with_pragma(unit, "ivdep", node, "ivdep")


def hoist(unit: Unit) -> Iterator[Edit]:
    """Computes a costly call (strlen, sqrt, pow, size, ...) once before a loop that does not change its operands."""
    for loop in unit.nodes("for_statement", "while_statement"):
        if held(unit, loop) or _names_all(unit) or (runs_threads(unit) and may_wait(unit, loop)):
            continue
        found: dict[str, list[Node]] = {}
        for node in _inside(unit, loop):
            span = (loop.start_byte, loop.end_byte)
            if not _is_dear(node) or not _may_come_first(unit, loop, node):
                continue
            if effects(unit).steady(node, *span) and untouched(unit, node, *span):
                found.setdefault("".join(text_of(node).split()), []).append(node)
        for text, spots in found.items():
            name = "mxr_" + "".join(ch if ch.isalnum() else "_" for ch in text)[:24].strip("_")
            while name in unit.words:  # that of an earlier edit
                name += "_"
            kind = "const auto" if unit.language == "cpp" else "const __auto_type"
            start = next((pragma.start_byte for pragma in pragmas(loop)), loop.start_byte)
            indent = unit.indent(start)
            patches = [Patch(start, start, f"{{ {kind} {name} = {text_of(spots[0])};\n{indent}")]
            patches += [unit.replace(spot, name) for spot in spots]
            patches.append(Patch(loop.end_byte, loop.end_byte, " }"))
            label = f"{_plain(text)} before {site(unit, loop)}"
            what = f"computes {text} once"
            yield Edit("hoist", label, (), what, unit.lines_of(*spots), Change(tuple(patches)))


def local_sum(unit: Unit) -> Iterator[Edit]:
    """Adds up in a local variable instead of an array element that stays the same in an innermost loop."""
    for node in unit.nodes("for_statement"):
        loop = canonical(unit, node)
        stores = stores_of(unit, loop.body) if loop is not None and _is_innermost(node) else None
        if loop is None or not stores or len(stores) != 1 or stores[0].operator == "=" or pragmas(node):
            continue
        one = stores[0]
        moves = any(mentions(s, loop.var) for s in one.subscripts)
        if held(unit, node) or unit.words & {"atomic", "_Atomic", "volatile"}:
            continue
        if statements(loop.body) != [one.node] or moves or mentions(one.value, one.array):
            continue
        if not are_apart(unit, {one.array}, *loop.header):
            continue
        if names(unit, loop.header) & {one.array} or "map<" in (unit.type_of(one.array, node.start_byte) or "map<"):
            continue
        kind = "auto" if unit.language == "cpp" else "__auto_type"
        left, right = one.value.start_byte, one.value.end_byte
        head, value, turn = unit.between(*loop.header), unit.between(left, right), has_turn(unit, loop)
        if turn is None:
            continue
        place = unit.between(one.node.start_byte, left).rsplit(one.operator, 1)[0].strip()
        indent = f"\n{unit.indent(node.start_byte)}"
        text = f"{kind} mxr_sum = {place};{indent}{head} mxr_sum {one.operator} {value};{indent}{place} = mxr_sum;"
        text = f"{{ if ({turn}) {{ {text} }} }}"  # without an iteration the element may not be there
        what = f"adds up {one.place} in a register"
        change = Change((unit.replace(node, text),))
        yield Edit("local_sum", f"{_plain(one.place)} in {site(unit, node)}", (), what, unit.lines_of(node), change)


def split_sum(unit: Unit) -> Iterator[Edit]:
    """Adds up a floating-point sum in several lanes; changes the order of additions, so needs a tolerance."""
    for node in unit.nodes("for_statement"):
        loop = canonical(unit, node)
        body = statements(loop.body) if loop is not None and loop.by_one and _is_innermost(node) else []
        summed = _scalar_sum(unit, body[0]) if len(body) == 1 else None
        if loop is None or summed is None or pragmas(node) or loop.var == "lane" or loop.low.endswith("_done"):
            continue
        name, kind, value = summed
        if name in names(unit, loop.header) or not effects(unit).pure(value) or mentions(value, "lane"):
            continue
        if not ends_are_pure(unit, loop) or held(unit, node):
            continue
        if not are_apart(unit, {name}, node.start_byte, node.end_byte, arrays=True):
            continue
        if not {f"{name}_lane", f"{loop.var}_done"}.isdisjoint(names(unit, (node.start_byte, node.end_byte))):
            continue
        for lanes in LANES:
            change = Change((unit.replace(node, _lanes(unit, loop, (name, kind, text_of(value)), lanes)),))
            params = (("lanes", lanes),)
            what = f"adds up {name} in {lanes} lanes"
            yield Edit("split_sum", f"{name} in {site(unit, node)}", params, what, unit.lines_of(node), change)


# ---------------------------------------------------------------------------------------------------------- helpers


def _is_innermost(node: Node) -> bool:
    return not any(child.type in _LOOPS for child in walk(node) if child != node)


def _with_pragma(unit: Unit, rule: str, node: Node, pragma: str, params: Params = ()) -> Edit:
    """The edit that puts a pragma in front of a loop, in braces if the loop is the body of another statement."""
    indent = unit.indent(node.start_byte)
    alone = node.parent is not None and node.parent.type == "compound_statement"
    patches = [Patch(node.start_byte, node.start_byte, f"{'' if alone else '{'}\n#pragma GCC {pragma}\n{indent}")]
    if not alone:
        patches.append(Patch(node.end_byte, node.end_byte, " }"))
    what = f"asks the compiler for '{pragma}'"
    return Edit(rule, site(unit, node), params, what, unit.lines_of(node), Change(tuple(patches)))


@lru_cache(maxsize=16)
def _names_all(unit: Unit) -> bool:
    """Whether a pragma of OpenMP must name every variable of a region."""
    return any(a.text == "default" and a.directive and b.text == "(" for a, b in pairwise(unit.tokens))


def _may_come_first(unit: Unit, loop: Node, call: Node) -> bool:
    """Whether a call can be computed before a loop: its names exist there, and it cannot fail where the loop would not
    have reached it."""
    if declares(loop, effects(unit).of(call.start_byte, call.end_byte).words):
        return False
    function = text_of(call).split("(")[0]
    plain = re.fullmatch(r"(std::)?\w+|\w+\.\w+", function) is not None and not function.endswith("strlen")
    if plain and not _MAY_FAIL.search(text_of(call)):
        return True
    condition = loop.child_by_field_name("condition")
    if condition is None or not condition.start_byte <= call.start_byte < condition.end_byte:
        return False
    around = call.parent
    while around is not None and around != loop:
        operator = around.child_by_field_name("operator")
        guarded = around.type == "conditional_expression" or (
            operator is not None and text_of(operator) in ("&&", "||")
        )
        if guarded and (around.child_by_field_name("left") or around.child_by_field_name("condition")) != call:
            return False
        around = around.parent
    return True


def _inside(unit: Unit, loop: Node) -> list[Node]:
    """The calls that a loop repeats: all but those in the initializer of a ``for``."""
    first = loop.child_by_field_name("initializer")
    start = first.end_byte if first is not None else loop.start_byte
    return [n for n in unit.nodes("call_expression") if start <= n.start_byte < loop.end_byte]


def _is_dear(node: Node) -> bool:
    function = node.child_by_field_name("function")
    if function is None:
        return False
    if function.type == "field_expression":
        field = function.child_by_field_name("field")
        return field is not None and text_of(field) in _LENGTHS
    return text_of(function).removeprefix("std::") in _DEAR


def _plain(text: str) -> str:
    """Code as part of a label: without the brackets and commas that labels use."""
    return "".join(text.split()).replace("(", "<").replace(")", ">").replace(",", ";")


def _scalar_sum(unit: Unit, node: Node) -> tuple[str, str, Node] | None:
    """The variable, its type and the addend of ``s += E;`` if s is a floating-point variable."""
    found = sum_of(node)
    if found is None or found[1] != "+=" or mentions(found[2], found[0]):
        return None
    kind, home = unit.type_of(found[0], node.start_byte), unit.home(node.start_byte)
    text = text_of(home.body) if home is not None else ""
    shared = re.search(rf"&\s*{found[0]}\b|&\s*\w+\s*[={{(]\s*{found[0]}\b", text)  # it has a second name
    return (found[0], kind, found[2]) if kind in ("double", "float") and shared is None else None


def _lanes(unit: Unit, loop: Loop, summed: tuple[str, str, str], lanes: int) -> str:
    name, kind, value = summed
    var, bound, indent = loop.var, text_of(loop.bound), unit.indent(loop.node.start_byte)
    zero = "{}" if unit.language == "cpp" else "{0}"
    return (
        f"{{ {kind} {name}_lane[{lanes}] = {zero}; {loop.type} {var}_done = {loop.low};\n"
        f"{indent}for (; {var}_done + {lanes - 1} < {bound}; {var}_done += {lanes})\n"
        f"{indent}    for (int lane = 0; lane < {lanes}; ++lane) "
        f"{{ const {loop.type} {var} = {var}_done + lane; {name}_lane[lane] += {value}; }}\n"
        f"{indent}for (int lane = 0; lane < {lanes}; ++lane) {name} += {name}_lane[lane];\n"
        f"{indent}for ({loop.type} {var} = {var}_done; {var} < {bound}; ++{var}) {name} += {value}; }}"
    )
