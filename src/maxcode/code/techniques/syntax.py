"""An expanded text as flat lists for the analysis of loops: functions, loops, writes, accesses, calls, arrays.

Each item has its byte offset and its text, so that "inside" is a comparison of offsets.  Names have no scopes inside a
function; if a name gets several constants, the largest counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, final

from tree_sitter import Node

from maxcode.code.source import decode, line_of, parse, text_of, walk
from maxcode.code.techniques.integer_constants import constant

_WORD = re.compile(r"(?<![\w.\"])[A-Za-z_]\w*")
# The time grows with the square of each.  Depths are means over the text: that of nodes, and that of loops alone.
_DEPTH_AT_MOST, _LOOPS_AT_MOST, _LOOPS_DEEP_AT_MOST = 500, 1500, 12
_LOOPS = ("for_statement", "while_statement", "do_statement")


@lru_cache(maxsize=1 << 14)
def words(text: str) -> frozenset[str]:
    """The identifiers (and keywords) of an expression."""
    return frozenset(_WORD.findall(text))


class Span(NamedTuple):
    """Bytes ``start`` up to ``end``."""

    start: int
    end: int

    def holds(self, at: int) -> bool:
        """Whether an offset lies inside."""
        return self.start <= at < self.end


class Write(NamedTuple):
    """A variable gets a value.  ``op``: ``=``, ``+=``, ``++``, ...; ``value``: the text of the right-hand side."""

    at: int
    name: str
    op: str
    value: str


class Text(NamedTuple):
    """A piece of the program: an access, a statement."""

    at: int
    text: str
    line: int


class Store(NamedTuple):
    """An assignment to memory."""

    at: int
    left: str
    op: str
    right: str
    line: int


class Call(NamedTuple):
    at: int
    name: str
    arguments: tuple[str, ...]
    line: int


@final
@dataclass(frozen=True, slots=True)
class Function:
    """A function with the names of its parameters."""

    name: str
    parameters: tuple[str, ...]
    body: Span
    line: int


@final
@dataclass(frozen=True, slots=True)
class Loop:
    """A loop.  ``condition``: for ``for (;;)``, the conditions of its breaks; ``update``: where it counts."""

    line: int
    span: Span
    condition: str
    update: Span
    body: Span


@final
class Unit:
    """One text, expanded."""

    def __init__(self, language: str, text: str) -> None:
        self.text = text
        source = parse(language, text)
        self._data, self.root = source.data, source.root
        self.functions: list[Function] = []
        self.loops: list[Loop] = []
        self.writes: list[Write] = []
        self.stores: list[Store] = []
        self.accesses: list[Text] = []
        self.statements: list[Text] = []
        self.calls: list[Call] = []
        self.arrays: list[Text] = []
        self.backward: list[int] = []  # lines of jumps that make a loop
        self._labels: set[str] = set()
        self._enumerators: list[tuple[str, str]] = []
        self._breaks: list[tuple[int, str]] = []  # the conditions of breaks
        self._too_much: int | None = None
        room, room_of_loops = (most * len(source.data) for most in (_DEPTH_AT_MOST, _LOOPS_DEEP_AT_MOST))
        for node in walk(self.root):
            size = node.end_byte - node.start_byte
            room -= size
            room_of_loops -= size * (node.type in _LOOPS)
            if min(room, room_of_loops) < 0 or len(self.loops) > _LOOPS_AT_MOST:
                self._too_much = line_of(node)
                break
            self._note(node)
        self.loops = [self._with_breaks(loop) for loop in self.loops]

    def _note(self, node: Node) -> None:
        match node.type:
            case kind if kind in _LOOPS:
                self.loops.append(_loop(node))
            case "function_definition":
                self.functions += _function(node)
            case "init_declarator" | "assignment_expression":
                self._note_assignment(node)
            case "update_expression":
                self.writes.append(Write(node.start_byte, text_of(node).strip("+- "), "++", "1"))
            case "subscript_expression" | "pointer_expression":
                self.accesses.append(Text(node.start_byte, text_of(node), line_of(node)))
            case "call_expression":
                self._note_call(node)
            case "array_declarator" if not _inside(node, "parameter_declaration"):
                self.arrays.append(Text(node.start_byte, text_of(node), line_of(node)))
            case "enumerator" if (value := node.child_by_field_name("value")) is not None:
                self._enumerators.append((text_of(node).split("=")[0].strip(), text_of(value)))
            case "if_statement" if (condition := node.child_by_field_name("condition")) is not None:
                if "break" in text_of(node):
                    self._breaks.append((node.start_byte, text_of(condition)))
            case "labeled_statement" | "goto_statement":
                self._note_jump(node)

    def _note_assignment(self, node: Node) -> None:
        declared = node.type == "init_declarator"
        left = node.child_by_field_name("declarator" if declared else "left")
        right = node.child_by_field_name("value" if declared else "right")
        if left is None or right is None:
            return
        op = "=" if declared else text_of(node.children[1])
        self.statements.append(Text(node.start_byte, text_of(node), line_of(node)))
        name = text_of(left)
        if declared:
            name = next(
                iter(re.findall(r"[A-Za-z_]\w*", re.sub(r"\b(?:const|restrict|__restrict\w*)\b", "", name))), ""
            )
            self.writes.append(Write(node.start_byte, name, op, text_of(right)))
        elif left.type == "identifier":
            self.writes.append(Write(node.start_byte, name, op, text_of(right)))
        else:
            self.stores.append(Store(node.start_byte, name, op, text_of(right), line_of(node)))

    def _note_call(self, node: Node) -> None:
        name, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if name is None or given is None:
            return
        arguments = tuple(text_of(child) for child in given.named_children)
        called = re.sub(r"\s*<.*", "", text_of(name), flags=re.DOTALL)
        self.calls.append(Call(node.start_byte, called, arguments, line_of(node)))
        self.accesses += [Text(child.start_byte, text_of(child), line_of(child)) for child in given.named_children]
        if node.parent is not None and node.parent.type == "expression_statement":
            self.statements.append(Text(node.start_byte, text_of(node), line_of(node)))

    def _note_jump(self, node: Node) -> None:
        label = node.child_by_field_name("label")
        if node.type == "labeled_statement" and label is not None:
            self._labels.add(text_of(label))
        elif label is None or text_of(label) in self._labels:
            self.backward.append(line_of(node))

    def _with_breaks(self, loop: Loop) -> Loop:
        """An endless loop with the conditions of its breaks."""
        if words(loop.condition) or not loop.body.end:
            return loop
        first, last = (bisect_left(self._breaks, (at,)) for at in loop.body)
        return replace(loop, condition=" && ".join(text for _, text in self._breaks[first:last]))

    # ------------------------------------------------------------------------------------------------------- queries

    def text_in(self, span: Span) -> str:
        return decode(self._data[span.start : span.end])

    @property
    def unread(self) -> int | None:
        """The first line that is not read, by the grammar or because of depth or many loops; None if there is none."""
        if self._too_much is not None or not self.root.has_error:
            return self._too_much
        return next((line_of(node) for node in walk(self.root) if node.is_error or node.is_missing), 1)

    def function_at(self, at: int) -> Function | None:
        """The innermost function around an offset; None outside of all functions."""
        found = [function for function in self.functions if function.body.holds(at)]
        return max(found, key=lambda function: function.body.start, default=None)

    @cached_property
    def by_name(self) -> dict[str, Function]:
        """The functions that the text defines."""
        return {function.name: function for function in self.functions}

    @cached_property
    def given(self) -> dict[str, list[Write]]:
        """Every value that a name gets; arguments of calls count as values of parameters."""
        found: dict[str, list[Write]] = defaultdict(list)
        for write in self.writes:
            found[write.name].append(write)
        for call in self.calls:
            if (function := self.by_name.get(call.name)) is not None:
                for name, argument in zip(function.parameters, call.arguments, strict=False):
                    found[name].append(Write(call.at, name, "=", argument))
        return found

    @cached_property
    def values(self) -> dict[str, int]:
        """Name -> constant, for enumerators and for variables that get only constants."""
        known: dict[str, int] = {}
        for name, text in self._enumerators:
            if (value := constant(text, known)) is not None:
                known[name] = value
        for _ in range(3):
            for name, writes in self.given.items():
                found = [constant(write.value, known) if write.op == "=" else None for write in writes]
                if all(value is not None for value in found):
                    known[name] = max(value for value in found if value is not None)
        return known

    def value(self, text: str) -> int | None:
        """The constant value of an expression; None if it has none."""
        return constant(text, self.values)

    @cached_property
    def dimensions(self) -> set[str]:
        """The names that the caller determines: parameters, and sums and products of them."""
        found = {name for function in self.functions for name in function.parameters} - self.values.keys()
        for _ in range(3):
            for name, writes in self.given.items():
                if name not in found and all(w.op == "=" and self._is_product(w.value, found) for w in writes):
                    found.add(name)
        return found

    @staticmethod
    def _is_product(text: str, names: set[str]) -> bool:
        return (
            not re.search(r"[/%?&|<>-]|\w\s*\(", text) and bool(words(text)) and words(text) <= names | {"const", "int"}
        )

    def is_dimension(self, text: str) -> bool:
        """Whether an expression is a size of the problem, and not a size that the program chose."""
        return self._is_product(text, self.dimensions)


def _inside(node: Node, kind: str) -> bool:
    parent = node.parent
    while parent is not None and "declarat" in parent.type:
        if parent.type == kind:
            return True
        parent = parent.parent
    return False


def _span(node: Node | None) -> Span:
    return Span(node.start_byte, node.end_byte) if node is not None else Span(0, 0)


def _loop(node: Node) -> Loop:
    body = node.child_by_field_name("body")
    condition = node.child_by_field_name("condition")
    text = text_of(condition) if condition is not None else ""
    return Loop(line_of(node), _span(node), text, _span(node.child_by_field_name("update")), _span(body))


def _function(node: Node) -> list[Function]:
    declarator, body = node.child_by_field_name("declarator"), node.child_by_field_name("body")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None or body is None:
        return []
    name, given = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("parameters")
    parameters = [_parameter(text_of(child)) for child in given.named_children] if given is not None else []
    return [Function(text_of(name) if name is not None else "", tuple(parameters), _span(body), line_of(node))]


def _parameter(text: str) -> str:
    plain = re.sub(r"\[[^]]*\]|\b(?:restrict|__restrict(?:__)?|const)\b|=.*", " ", text)
    return next(iter(re.findall(r"[A-Za-z_]\w*", plain)[::-1]), "")
