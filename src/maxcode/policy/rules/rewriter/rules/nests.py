"""Loops in the form that can be reordered, and the dependences between their iterations.

The order of additions into one array element is part of a result (floating point).  So a change of order must keep the
direction of every dependence, those between sums too.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, final

from tree_sitter import Node

from maxcode.code.cpp.aliases import distinct
from maxcode.code.cpp.declarations import Span, first_child
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import PURE
from maxcode.code.polyhedral.dependences import Access, Level, Vector, delinearised, pairs, vectors
from maxcode.code.polyhedral.polynomials import Poly, added, names_in, number, polynomial, renamed
from maxcode.code.source import text_of, walk
from maxcode.policy.rules.rewriter.rules.aliasing import are_apart, is_hidden, stores_plainly
from maxcode.policy.rules.rewriter.rules.guards import held


@final
@dataclass(frozen=True, slots=True)
class Loop:
    """``for (type var = low; var compare bound; step) body``; the variable is declared in the loop and changed only
    there."""

    node: Node
    type: str
    var: str
    first: Node
    compare: str
    bound: Node
    step: str
    body: Node

    @property
    def low(self) -> str:
        """Where it starts."""
        return text_of(self.first)

    @property
    def header(self) -> Span:
        """From ``for`` to the closing bracket of its head."""
        bracket = next(child for child in reversed(self.node.children) if child.type == ")")
        return self.node.start_byte, bracket.end_byte

    @property
    def by_one(self) -> bool:
        """Whether it counts upwards by one, with ``<``."""
        return self.compare == "<" and self.step.replace(" ", "") in (
            f"++{self.var}",
            f"{self.var}++",
            f"{self.var}+=1",
        )


def canonical(unit: Unit, node: Node) -> Loop | None:
    """The loop of a ``for`` statement; None if it has another form."""
    head = [node.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")]
    declared, condition, update, body = head
    if node.type != "for_statement" or declared is None or condition is None or update is None or body is None:
        return None
    kind, made = declared.child_by_field_name("type"), declared.child_by_field_name("declarator")
    several = len(declared.children_by_field_name("declarator")) != 1
    if (
        kind is None
        or made is None
        or made.type != "init_declarator"
        or several
        or condition.type != "binary_expression"
    ):
        return None
    name, low = made.child_by_field_name("declarator"), made.child_by_field_name("value")
    left, bound = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    compare = condition.child_by_field_name("operator")
    if name is None or low is None or left is None or bound is None or compare is None or name.type != "identifier":
        return None
    var = text_of(name)
    moves = re.fullmatch(rf"(\+\+|--)?\s*{var}\s*(\+\+|--|[-+]=\s*\w+)?", text_of(update))
    way = text_of(compare) != "!=" or re.search(r"= *[A-Za-z_]", text_of(update)) is None  # up or down is known
    kept = way and var not in effects(unit).of(body.start_byte, body.end_byte).writes
    if text_of(left) != var or text_of(compare) not in ("<", "<=", ">", ">=", "!=") or moves is None or not kept:
        return None
    return Loop(node, text_of(kind), var, low, text_of(compare), bound, text_of(update), body)


def has_turn(unit: Unit, loop: Loop) -> str | None:
    """The test whether a loop has an iteration; None if asking for it once more makes a difference."""
    if not ends_are_pure(unit, loop):
        return None
    kind = "" if loop.type == "auto" else f"({loop.type})"
    return f"{kind}({loop.low}) {loop.compare} ({text_of(loop.bound)})"


def ends_are_pure(unit: Unit, loop: Loop) -> bool:
    """Whether a loop's first value and its bound may be computed more or less often than they are."""
    return effects(unit).pure(loop.first) and effects(unit).pure(loop.bound)


def may_fail(loop: Loop) -> bool:
    """Whether a loop's first value or its bound may fail where the program does not compute it: it reads an element
    or what a pointer points to, calls more than ``size``, or divides by what may be 0."""
    return any(_may_fail(node) for end in (loop.first, loop.bound) for node in walk(end))


def _may_fail(node: Node) -> bool:
    operator = node.child_by_field_name("operator")
    match node.type:
        case "subscript_expression" | "pointer_expression":
            return True
        case "field_expression":
            return operator is not None and text_of(operator) == "->"
        case "call_expression":
            called = node.child_by_field_name("function")
            return called is None or text_of(called).rpartition(".")[2] not in ("size", "length", "min", "max")
        case "binary_expression":
            right = node.child_by_field_name("right")
            divides = operator is not None and text_of(operator) in ("/", "%")
            return divides and (right is None or right.type != "number_literal" or not text_of(right).strip("0.uUlL"))
    return False


def statements(node: Node) -> list[Node]:
    """The statements of a block, or the one statement that stands instead of a block."""
    if node.type != "compound_statement":
        return [node]
    return [child for child in node.named_children if child.type != "comment"]


def site(unit: Unit, node: Node) -> str:
    """The name of a loop: its variable, its number among the loops of that variable, its function."""
    home = unit.home(node.start_byte)
    start = home.node.start_byte if home is not None else 0
    name = loop_word(node)
    starts, words = _loop_words(unit)
    before = words[bisect_left(starts, start) : bisect_right(starts, node.start_byte)]
    return unit.place(f"{name}#{before.count(name)}", node)


@lru_cache(maxsize=16)
def _loop_words(unit: Unit) -> tuple[list[int], list[str]]:
    """Where the loops start, in the order of the text, and their names."""
    loops = unit.nodes("for_statement", "while_statement", "for_range_loop", "do_statement")
    return [one.start_byte for one in loops], [loop_word(one) for one in loops]


def loop_word(node: Node) -> str:
    """The name of a loop in texts: its variable, or the keyword if it declares none."""
    declared = node.child_by_field_name("initializer")
    if node.type == "for_range_loop":
        declared = node.child_by_field_name("declarator")
    for child in walk(declared) if declared is not None else []:
        if child.type == "identifier":
            return text_of(child)
    return node.type.split("_")[0]


def pragmas(node: Node) -> list[Node]:
    """The pragmas directly in front of a loop, in order; nothing may come between them and the loop."""
    found: list[Node] = []
    before = node.prev_sibling
    while before is not None and before.type == "preproc_call":
        found.insert(0, before)
        before = before.prev_sibling
    return found


class Store(NamedTuple):
    """``array[subscripts] operator value``, one statement."""

    node: Node
    array: str
    subscripts: tuple[Node, ...]
    operator: str
    value: Node

    @property
    def place(self) -> str:
        """The element written, without blanks."""
        return element(self.array, self.subscripts)


def element(array: str, subscripts: tuple[Node, ...]) -> str:
    """The text of an element, without blanks."""
    return array + "".join(f"[{''.join(text_of(s).split())}]" for s in subscripts)


def access(node: Node) -> tuple[str, tuple[Node, ...]] | None:
    """The array and the subscripts of ``a[i][j]``; None for anything else."""
    found: list[Node] = []
    while node.type == "subscript_expression":
        listed = node.child_by_field_name("indices") or node.child_by_field_name("index")
        inner = node.child_by_field_name("argument")
        if listed is None or inner is None:
            return None
        if listed.type == "subscript_argument_list":
            if listed.named_child_count != 1:
                return None
            listed = first_child(listed) or listed
        found.insert(0, listed)
        node = inner
    return (text_of(node), tuple(found)) if node.type == "identifier" and found else None


def _assigned(node: Node) -> tuple[Node, str, Node] | None:
    """The left side, the operator and the right side of a statement; None if it assigns nothing."""
    inner = first_child(node) if node.type == "expression_statement" else None
    if inner is None or inner.type != "assignment_expression":
        return None
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    operator = inner.child_by_field_name("operator")
    return None if left is None or right is None or operator is None else (left, text_of(operator), right)


def store(node: Node) -> Store | None:
    """The store of a statement; None if it is another statement."""
    found = _assigned(node)
    where = access(found[0]) if found is not None else None
    return None if found is None or where is None else Store(node, *where, *found[1:])


def sum_of(node: Node) -> tuple[str, str, Node] | None:
    """The variable, the operator and the addend of ``s += E;``."""
    found = _assigned(node)
    if found is None or found[0].type != "identifier" or found[1] == "=":
        return None
    return text_of(found[0]), found[1], found[2]


@final
@dataclass(frozen=True, slots=True)
class Nest:
    """Loops nested without statements between them, outermost first, around stores to arrays."""

    loops: tuple[Loop, ...]
    stores: tuple[Store, ...]

    def directions(self, unit: Unit, depth: int) -> frozenset[Vector]:
        """The direction vectors of the outer ``depth`` loops: an element is used only where it is written."""
        whole = directions(unit, self.loops, [(one.array, one.subscripts) for one in self.stores])
        return frozenset(vector[:depth] for vector in whole)


def nests(unit: Unit) -> Iterator[Nest]:
    """The nests of at least two loops that can be analysed separately, for every outermost loop."""
    inside: set[int] = set()
    for node in unit.nodes("for_statement"):
        if node.start_byte in inside or pragmas(node) or held(unit, node):
            continue
        loops = _chain(unit, node)
        inside |= {loop.node.start_byte for loop in loops[1:]}
        while len(loops) >= 2:
            nest = _nest(unit, loops)
            if nest is not None:
                yield nest
                break
            loops = loops[1:]


def _chain(unit: Unit, node: Node) -> list[Loop]:
    loops: list[Loop] = []
    while (loop := canonical(unit, node)) is not None:
        loops.append(loop)
        inner = statements(loop.body)
        if len(inner) != 1:
            break
        node = inner[0]
    return loops


def _nest(unit: Unit, loops: list[Loop]) -> Nest | None:
    stores = stores_of(unit, loops[-1].body)
    if stores is None:
        return None
    nest = Nest(tuple(loops), stores)
    targets = {one.array for one in stores}
    for loop in loops:
        start, end = loop.header
        head = effects(unit).of(start, end)
        if head.calls or head.opaque or head.outside - PURE or head.words & targets:
            return None
        if not are_apart(unit, targets, start, end):
            return None
    return nest


def stores_of(unit: Unit, body: Node) -> tuple[Store, ...] | None:
    """The stores of a body; None unless it only writes elements that nothing else in it uses."""
    found: list[Store] = []
    for statement in statements(body):
        if not found and _is_private(unit, statement):
            continue
        if statement.type == "if_statement" and statement.child_by_field_name("alternative") is None:
            inner = statement.child_by_field_name("consequence")
            condition = statement.child_by_field_name("condition")
            only = statements(inner) if inner is not None else []
            if condition is None or len(only) != 1 or not effects(unit).pure(condition):
                return None
            statement = only[0]
        one = store(statement)
        if one is None or not effects(unit).pure(one.value) or not all(effects(unit).pure(s) for s in one.subscripts):
            return None
        found.append(one)
    return tuple(found) if found and _alone(unit, body, found) else None


def _is_private(unit: Unit, statement: Node) -> bool:
    """Whether a statement only declares numbers for one iteration."""
    made = statement.children_by_field_name("declarator") if statement.type == "declaration" else []
    for one in made:
        name, value = one.child_by_field_name("declarator"), one.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier" or not effects(unit).pure(value):
            return False
    static = any(child.type == "storage_class_specifier" for child in statement.children)
    return bool(made) and not static


def _alone(unit: Unit, body: Node, stores: list[Store]) -> bool:
    """Whether each array written is used only at the element written, and under no other name."""
    places = {one.array: one.place for one in stores}
    if is_hidden(unit, body, places) or not all(stores_plainly(unit, one, body.start_byte) for one in places):
        return False
    if any(places[one.array] != one.place for one in stores):
        return False
    read: set[str] = set()
    for node in walk(body):
        if node.type == "identifier" and text_of(node) in places and not _is_place(node, places[text_of(node)]):
            return False
        if node.type == "subscript_expression" and (where := access(node)) is not None:
            read.add(where[0])
        if node.type in ("pointer_expression", "lambda_expression", "field_expression", "ERROR"):
            return False
    apart = are_apart(unit, places, body.start_byte, body.end_byte)
    return apart and all(distinct(unit, one, other, body.start_byte) for one in places for other in read - {one})


def _is_place(node: Node, place: str) -> bool:
    around = node.parent
    while around is not None and around.type in ("subscript_expression", "subscript_argument_list"):
        if "".join(text_of(around).split()) == place:
            return True
        around = around.parent
    return False


def mentions(node: Node, name: str) -> bool:
    """Whether a node contains a name."""
    return any(child.type == "identifier" and text_of(child) == name for child in walk(node))


def names(unit: Unit, span: Span) -> frozenset[str]:
    """The words in some bytes, macros expanded."""
    return effects(unit).of(*span).words


# --------------------------------------------------------------------------------------------------------- dependences


def directions(unit: Unit, loops: Sequence[Loop], written: Sequence[tuple[str, Sequence[Node]]]) -> frozenset[Vector]:
    """The direction vectors of nested loops; only through these elements does an iteration depend on another."""
    levels: list[Level] = []
    names: dict[str, str] = {}
    for depth, loop in enumerate(loops):
        levels.append(_level(unit, loop, f"{loop.var}.{depth}", names))
        names[loop.var] = levels[-1].var
    body = loops[-1].body
    inside = {v.name for v in unit.variables if body.start_byte <= v.declaration.start_byte < body.end_byte}
    found = [
        Access(array, tuple(_value(unit, s, names, inside) for s in subscripts), "=", tuple(levels), place)
        for place, (array, subscripts) in enumerate(written)
    ]
    return vectors(pairs(delinearised(found)), 0, len(levels))


def _level(unit: Unit, loop: Loop, var: str, names: Mapping[str, str]) -> Level:
    low, bound = (_value(unit, node, names, frozenset()) for node in (loop.first, loop.bound))
    falls = "-" in loop.step
    more = number(int(loop.compare in ("<=", ">")))  # the bound of "<", or that of ">="
    bounds = () if bound is None or loop.compare == "!=" else (added(bound, more),)
    start = () if low is None or loop.compare == "!=" else (added(low, number(int(falls))),)
    runs = falls == (loop.compare in (">", ">="))  # towards its bound; else nothing is known
    lows, highs = (bounds, start) if falls else (start, bounds)
    return Level(var, lows if runs else (), highs if runs else (), number(1), falls)


def _value(unit: Unit, node: Node, names: Mapping[str, str], inside: Collection[str]) -> Poly | None:
    """An integer expression, macros expanded; None if it is not affine or has a name that the body declares."""
    found = polynomial(" ".join(token.text for token in expanded(unit, node.start_byte, node.end_byte)))
    return renamed(found, names) if found is not None and not names_in(found) & set(inside) else None
