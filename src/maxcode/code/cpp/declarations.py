"""The declarations of a program: macros, parameters, functions and variables, read from the nodes of its tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from tree_sitter import Node

from maxcode.code.source import Token, text_of

Span = tuple[int, int]


@final
@dataclass(frozen=True, slots=True)
class Macro:
    """A macro.  ``params``: None without parentheses; ``clear``: false if it has several definitions."""

    name: str
    params: tuple[str, ...] | None
    body: tuple[Token, ...]
    clear: bool = True


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter.  ``kind``: how it takes its argument; ``const``: whether its type is const."""

    name: str
    type: str
    kind: str  # "value", "reference", "pointer"
    const: bool
    node: Node


@final
@dataclass(frozen=True, slots=True)
class Function:
    """A function with a body.  ``method``: whether it is defined inside a class, or with ``::`` in its name."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    node: Node
    declarator: Node
    body: Node
    method: bool


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable.

    ``form``: "plain", "array", "pointer" or "reference".
    ``dims``: the sizes of an array, as written.
    ``scope``: the bytes in which its name refers to it.
    ``home``: the function that declares it; None for a global.
    """

    name: str
    type: str
    form: str
    dims: tuple[str, ...]
    value: Node | None
    node: Node
    declarator: Node
    declaration: Node
    scope: Span
    home: Function | None

    @property
    def lasts(self) -> bool:
        """Whether it keeps its value from one call of a function to the next."""
        return self.home is None or not {"static", "thread_local"}.isdisjoint(text_of(self.declaration).split()[:2])


def ancestor(node: Node, *types: str) -> Node | None:
    """The nearest node of these types around ``node``."""
    around = node.parent
    while around is not None and around.type not in types:
        around = around.parent
    return around


def first_child(node: Node) -> Node | None:
    """The first named child; None if there is none."""
    return next(iter(node.named_children), None)


def _unwrap(declarator: Node) -> tuple[Node | None, str, tuple[str, ...]]:
    """The name that a declarator declares, its form, and its dimensions."""
    form = "plain"
    dims: list[str] = []
    node: Node | None = declarator
    while node is not None and node.type not in ("identifier", "field_identifier"):
        if node.type == "array_declarator":
            size = node.child_by_field_name("size")
            dims.insert(0, text_of(size) if size is not None else "")
            form = "array" if form == "plain" else form
        elif node.type in ("pointer_declarator", "reference_declarator"):
            form = node.type.removesuffix("_declarator")
        elif node.type != "parenthesized_declarator":
            return None, form, ()
        node = node.child_by_field_name("declarator") or next(reversed(node.named_children), None)
    return node, form, tuple(dims)


def variable(node: Node, kind: str, declaration: Node, scope: Span, home: Function | None) -> Variable | None:
    """The variable that one declarator declares; None for functions and other forms."""
    value = node.child_by_field_name("value") if node.type == "init_declarator" else None
    declarator = node.child_by_field_name("declarator") if node.type == "init_declarator" else node
    if declarator is not None and declarator.type == "function_declarator" and "<" in kind:
        value, declarator = _vexing(declarator)  # the grammar may read `vector<int> v(n)` as a function
    if declarator is None:
        return None
    name, form, dims = _unwrap(declarator)
    if name is None:
        return None
    return Variable(text_of(name), kind, form, dims, value, node, declarator, declaration, scope, home)


def _vexing(declarator: Node) -> tuple[Node | None, Node | None]:
    listed, name = declarator.child_by_field_name("parameters"), declarator.child_by_field_name("declarator")
    bare = listed is not None and listed.named_child_count > 0
    for child in listed.named_children if listed is not None else []:
        inner = child.child_by_field_name("declarator")
        abstract = inner is None or inner.type == "abstract_function_declarator"
        bare = bare and child.type == "parameter_declaration" and abstract
    return (listed, name) if bare else (None, None)


def parameter(node: Node) -> Parameter:
    """A parameter as declared; its name is empty if it has none."""
    kind, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    name, form, dims = _unwrap(declarator) if declarator is not None else (None, "plain", ())
    taken = "reference" if form == "reference" else "pointer" if form == "pointer" or dims else "value"
    if declarator is not None and name is None:
        taken = "reference"  # abstract or unusual declarators: the safe answer
    const = any(child.type == "type_qualifier" and text_of(child) == "const" for child in node.children)
    return Parameter(
        text_of(name) if name is not None else "", text_of(kind) if kind is not None else "", taken, const, node
    )
