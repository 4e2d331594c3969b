"""Rules for queues, stacks, heaps, vectors and grids."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from maxcode.code.cpp.declarations import Variable, ancestor, first_child
from maxcode.code.cpp.edit import Change, Edit, Snippet
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.views import classes, parameters_of_templates
from maxcode.code.cpp.words import words
from maxcode.code.source import Patch, text_of
from maxcode.policy.rules.rewriter.rules.containers import (
    Declared,
    NewType,
    behind,
    declarations,
    fillable,
    keeps_argument,
    only_methods,
    ordered,
    returns_element,
    retyped,
    rows_of,
    tells,
    template,
    uses,
)
from maxcode.policy.rules.rewriter.rules.guards import held, owns_new
from maxcode.policy.rules.rewriter.rules.nests import canonical

RING_FIRST = (16, 1024, 65536)
ARITIES = (3, 4, 8)
PADS = (0, 8, 16)
ROOMS = (256, 4096, 65536)

_QUEUE = words("push emplace front back pop empty size")
_DEQUE = words("push_back push_front pop_back pop_front front back empty size clear emplace_back emplace_front")
_STACK = words("push emplace top pop empty size")
_GROWS = words("push_back emplace_back")


def ring(unit: Unit) -> Iterator[Edit]:
    """Keeps a queue or deque in a ring; only ends and subscripts may be used, and no reference to an element is
    kept."""
    for found in declarations(unit, "queue", "deque"):
        methods = _QUEUE if found.template == "queue" else _DEQUE
        if len(found.arguments) != 1 or found.arguments[0] == "bool" or not _ends_only(unit, found, methods):
            continue
        if not fillable(unit, found.arguments[0]):
            continue
        for first in RING_FIRST[:1] if found.is_array else RING_FIRST:
            new = NewType(f"mxr::ring<{found.arguments[0]}, {first}>", "sequences", "a ring")
            yield retyped(unit, "ring", found, (("first", first),), new)


def vector_stack(unit: Unit) -> Iterator[Edit]:
    """Keeps a stack in a vector instead of a deque; no reference to its top is kept."""
    for found in declarations(unit, "stack"):
        plain = len(found.arguments) == 1 and found.arguments[0] != "bool" and not tells(unit, found.arguments[0])
        if plain and _ends_only(unit, found, _STACK):
            new = NewType(f"mxr::vector_stack<{found.arguments[0]}>", "sequences", "a vector")
            yield retyped(unit, "vector_stack", found, (), new)


def heap(unit: Unit) -> Iterator[Edit]:
    """Gives a priority queue more children to a node; its elements must be integers, strings or pairs of them."""
    for found in declarations(unit, "priority_queue"):
        order = "less" if len(found.arguments) == 1 else _order(unit, found)
        if order is None or any(v.value for v in found.variables) or not ordered(unit, found.arguments[0]):
            continue
        kind = found.arguments[0]
        for arity in ARITIES:
            new = NewType(f"mxr::heap<{kind}, std::{order}<{kind}>, {arity}>", "heap", f"a heap of {arity} children")
            yield retyped(unit, "heap", found, (("arity", arity),), new)


def byte_flags(unit: Unit) -> Iterator[Edit]:
    """Gives every element of vector<bool> a byte; no auto variable may hold a proxy of an element."""
    types = unit.nodes("template_type", "template_function")
    nodes = [node for node in types if template(node) == ("vector", ("bool",))]
    if unit.others or _shows_flags(unit):
        return
    proxies = any(
        text_of(node) == "auto" and _takes_flag(unit, node) for node in unit.nodes("placeholder_type_specifier")
    )
    if nodes and not proxies:
        patches = tuple(unit.replace(node, "vector<mxr::flag>") for node in nodes)
        change = Change(patches, (Snippet("flag"),))
        yield Edit("byte_flags", "", (), "gives every flag a byte", unit.lines_of(*nodes), change)


def flat_2d(unit: Unit) -> Iterator[Edit]:
    """Puts a vector of equal vectors in one block; every use must be ``a[i][j]`` or ``a.size()``."""
    for found in declarations(unit, "vector"):
        row = template(_inner(found.type))
        if (
            row is None
            or row[0] != "vector"
            or row[1] == ("bool",)
            or len(row[1]) != 1
            or not fillable(unit, row[1][0])
        ):
            continue
        if all(v.form == "plain" and rows_of(v) is not None and _is_grid(unit, v) for v in found.variables):
            for pad in PADS:
                new = NewType(f"mxr::grid<{row[1][0]}, {pad}>", "grid", "one block")
                yield retyped(unit, "flat_2d", found, (("pad", pad),), new)


def reserve(unit: Unit) -> Iterator[Edit]:
    """Reserves room in an empty local vector or string before the loop that fills it."""
    for variable in unit.variables if not owns_new(unit) else ():
        kind = unit.resolve(variable.type)
        if variable.home is None or variable.form != "plain" or variable.value is not None:
            continue
        if (not kind.startswith("vector<") and kind != "string") or tells(unit, kind) or "capacity" in unit.words:
            continue
        loop = _filling_loop(unit, variable)
        if loop is None or held(unit, loop):
            continue
        site, lines = f"{variable.name} in {variable.home.name}", unit.lines_of(variable.declaration, loop)
        indent = unit.indent(loop.start_byte)
        counted = canonical(unit, loop)
        if counted is not None and effects(unit).pure(counted.bound) and counted.low == "0":
            bound = text_of(counted.bound)
            most = f"(1 << 27) / (int)sizeof({variable.name}[0])"  # more may be reserved than is there
            text = f"if (({bound}) > 0 && ({bound}) < {most}) {variable.name}.reserve({bound});\n{indent}"
            change = Change((Patch(loop.start_byte, loop.start_byte, text),))
            yield Edit("reserve", site, (("room", "bound"),), "reserves room for all that is added", lines, change)
        for room in ROOMS if not _is_large(unit, kind) else ():
            text = f"{variable.name}.reserve({room});\n{indent}"
            change = Change((Patch(loop.start_byte, loop.start_byte, text),))
            yield Edit("reserve", site, (("room", room),), f"reserves room for {room} elements", lines, change)


def emplace(unit: Unit) -> Iterator[Edit]:
    """Builds pairs in place: ``v.push_back(make_pair(a, b))`` becomes ``v.emplace_back(a, b)``, per function."""
    found: dict[str, list[Patch]] = {}
    for _, node, arguments in unit.calls("make_pair") if "make_pair" not in unit.by_name else ():
        call = ancestor(node, "call_expression")
        method = call.child_by_field_name("function") if call is not None else None
        listed = node.parent
        if call is None or method is None or method.type != "field_expression" or len(arguments) != 2 or listed is None:
            continue
        field = method.child_by_field_name("field")
        new = {"push_back": "emplace_back", "push": "emplace", "insert": "emplace"}.get(text_of(field) if field else "")
        if field is None or new is None or listed.named_child_count != 1 or listed.parent != call:
            continue
        if not _holds_pairs(unit, method):
            continue
        patches = [unit.replace(field, new), unit.replace(node, ", ".join(text_of(a) for a in arguments))]
        found.setdefault(unit.place("pairs", node), []).extend(patches)
    for site, patches in found.items():
        lines = tuple((unit.line(patch.start), unit.line(patch.end)) for patch in patches)
        yield Edit("emplace", site, (), "builds pairs in place", lines, Change(tuple(patches)))


# ---------------------------------------------------------------------------------------------------------- helpers


def _is_large(unit: Unit, kind: str) -> bool:
    """Whether an element of a container may take much memory: it holds an array."""
    named = (node for name in re.findall(r"\w+", kind) for node in classes(unit).get(name, ()))
    return re.search(r"\b(?:array|bitset)<", kind) is not None or any("[" in text_of(node) for node in named)


def _ends_only(unit: Unit, found: Declared, methods: frozenset[str]) -> bool:
    subscript = found.template == "deque"
    return all(
        v.value is None and only_methods(unit, v, methods, subscript) and not _refers(unit, v) for v in found.variables
    )


def _refers(unit: Unit, variable: Variable) -> bool:
    """Whether a reference to an element may outlive a change: ``auto& x = q.front();``."""
    if returns_element(unit, variable):
        return True
    for texts, k in uses(unit, variable):
        start = k
        while start > 0 and texts[start - 1] not in (";", "{", "}", "("):
            start -= 1
        before = texts[start:k]
        if ("=" in before and "&" in before) or (before and before[-1] == ":"):
            return True
        if texts[start - 1 : start] == ["("] and keeps_argument(unit, texts[start - 2] if start > 1 else ""):
            return True
    return False


def _shows_flags(unit: Unit) -> bool:
    """Whether the elements of a vector<bool> are used where a class of their own would not do."""
    names = {v.name for v in unit.variables if "vector<bool>" in unit.resolve(v.type)}
    names |= {p.name for f in unit.functions for p in f.parameters if "vector<bool>" in unit.resolve(p.type)}
    texts = [token.text for token in unit.tokens]
    asked = ("flip", "capacity", "max_size")
    if any(texts[k] in names and texts[k + 1 : k + 3] in ([".", one] for one in asked) for k in range(len(texts))):
        return True
    shown = [node for _, node, _ in unit.calls("printf", "fprintf", "sprintf", "snprintf")]
    shown += unit.nodes("sizeof_expression")
    for node in unit.nodes("conditional_expression"):
        branches = (node.child_by_field_name(part) for part in ("consequence", "alternative"))
        shown += [branch for branch in branches if branch is not None and branch.type == "subscript_expression"]
    return any(names & effects(unit).of(node.start_byte, node.end_byte).words for node in shown)


def _holds_pairs(unit: Unit, method: Node) -> bool:
    """Whether the receiver of a method call is a standard container whose elements are pairs."""
    receiver = method.child_by_field_name("argument")
    while receiver is not None and receiver.type == "subscript_expression":
        receiver = receiver.child_by_field_name("argument")
    if receiver is None or receiver.type != "identifier":
        return False
    kind = unit.type_of(text_of(receiver), receiver.start_byte) or ""
    return (
        re.match(r"((vector|deque|queue|priority_queue|stack|set|multiset)<)+pair<|(multi)?map<|unordered_map<", kind)
        is not None
    )


def _order(unit: Unit, found: Declared) -> str | None:
    if len(found.arguments) != 3 or not unit.resolve(found.arguments[1]).startswith("vector<"):
        return None
    order = unit.resolve(found.arguments[2])
    return next((name for name in ("less", "greater") if order.startswith(f"{name}<")), None)


def _takes_flag(unit: Unit, node: Node) -> bool:
    around = node.parent
    if around is None or around.type not in ("declaration", "for_range_loop"):
        return False
    made = around.children_by_field_name("declarator")
    values = [one.child_by_field_name("value") for one in made] + [around.child_by_field_name("right")]
    names = {name for v in values if v is not None for name in effects(unit).of(v.start_byte, v.end_byte).words}
    kinds = {unit.type_of(name, around.start_byte) or "" for name in names}
    return any("vector<bool>" in kind for kind in kinds) or not kinds.isdisjoint(parameters_of_templates(unit))


def _inner(node: Node) -> Node | None:
    """The first type argument of a template type."""
    if node.type == "qualified_identifier":
        node = node.child_by_field_name("name") or node
    arguments = node.child_by_field_name("arguments")
    first = first_child(arguments) if arguments is not None else None
    return first.child_by_field_name("type") if first is not None else None


def _is_grid(unit: Unit, variable: Variable) -> bool:
    return all(
        texts[k + 1 : k + 3] == [".", "size"] or behind(texts, k, 2) is not None for texts, k in uses(unit, variable)
    )


def _filling_loop(unit: Unit, variable: Variable) -> Node | None:
    """The loop after the declaration, in the same block, that appends to the variable; nothing before uses it."""
    node = variable.declaration.next_named_sibling
    for _ in range(6):
        if node is None:
            return None
        inside = [token.text for token in unit.tokens_in(node.start_byte, node.end_byte)]
        if variable.name in inside:
            fills = any(
                (inside[k] == variable.name and inside[k + 1] == "." and inside[k + 2] in _GROWS)
                or inside[k : k + 2] == [variable.name, "+="]
                for k in range(len(inside) - 2)
            )
            return node if fills and node.type in ("for_statement", "while_statement", "for_range_loop") else None
        node = node.next_named_sibling
    return None
