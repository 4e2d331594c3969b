"""Common to the rules for containers: the variables of a declaration, and their uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from maxcode.code.cpp.declarations import Variable, first_child
from maxcode.code.cpp.edit import Change, Edit, Snippet, Value
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.unnamed import returns_address
from maxcode.code.cpp.views import classes
from maxcode.code.cpp.words import PRINTS
from maxcode.code.source import text_of, walk


class Declared(NamedTuple):
    """One declaration of variables of a standard template: ``map<K, V> a, b[10];``."""

    template: str
    arguments: tuple[str, ...]
    type: Node
    variables: tuple[Variable, ...]

    @property
    def site(self) -> str:
        """The variables, and their function."""
        home = self.variables[0].home
        return " ".join(v.name for v in self.variables) + (f" in {home.name}" if home else "")

    @property
    def is_array(self) -> bool:
        """Whether one of the variables is an array of the template."""
        return any(v.form == "array" for v in self.variables)


def template(node: Node | None) -> tuple[str, tuple[str, ...]] | None:
    """The name (without ``std::``) and the arguments of a template type, also where its constructor is called; None for
    other types."""
    if node is not None and node.type == "qualified_identifier" and text_of(node).startswith("std"):
        node = node.child_by_field_name("name")
    if node is None or node.type not in ("template_type", "template_function"):
        return None
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    if name is None or arguments is None:
        return None
    return text_of(name), tuple(text_of(a) for a in arguments.named_children if a.type != "comment")


def declarations(unit: Unit, *templates: str) -> Iterator[Declared]:
    """The declarations of only plain variables and arrays of these templates."""
    groups: dict[int, list[Variable]] = {}
    for variable in unit.variables:
        groups.setdefault(variable.declaration.start_byte, []).append(variable)
    for group in groups.values():
        kind = group[0].declaration.child_by_field_name("type")
        found = template(kind)
        if kind is None or found is None or found[0] not in templates:
            continue
        if not _is_own(unit, group):
            continue
        whole = len(group) == len(group[0].declaration.children_by_field_name("declarator"))
        if whole and all(v.form in ("plain", "array") for v in group):
            yield Declared(*found, kind, tuple(group))


def _is_own(unit: Unit, group: list[Variable]) -> bool:
    """Whether this is the only declaration of its variables, and no other file knows them."""
    first = group[0]
    if any(text_of(c) == "extern" for c in first.declaration.children if c.type == "storage_class_specifier"):
        return False
    names = {v.name for v in group}
    again = any(v.name in names and v.home is None and v.declaration != first.declaration for v in unit.variables)
    return first.home is not None or not (names & unit.shared or again)


_PLAIN = re.compile(
    r"(unsigned |signed )?(int|long|long long|short|char|bool|long int|long long int|double|float|long double)"
    r"|unsigned|size_t|u?int\d+_t|string"
)
_OF_OTHERS = re.compile(r"(?:pair|tuple|vector|array|deque|set|map|list|unique_ptr|shared_ptr|optional)<(.*)>")


def fillable(unit: Unit, type_text: str) -> bool:
    """Whether a type certainly has a default value, so that places for its values can be made in advance."""
    kind = unit.resolve(type_text)
    if tells(unit, type_text):
        return False
    if kind.endswith("*") or _PLAIN.fullmatch(kind):
        return True
    if (inner := _OF_OTHERS.fullmatch(kind)) is not None:
        return all(part.isdigit() or fillable(unit, part) for part in split_arguments(inner[1]))
    name = kind.removeprefix("struct ")
    bodies = (node.child_by_field_name("body") for node in classes(unit).get(name, ()))
    body = next((text_of(one) for one in bodies if one is not None), None)
    return body is not None and not re.search(rf"(?<![~\w]){re.escape(name)}\s*\(|\bconst\b|&\s*\w+\s*;", body)


@lru_cache(maxsize=8)
def _telling(unit: Unit) -> bool:
    """Whether a class of the program prints, or changes what outlives it, when a value is copied or destroyed."""
    lasting = {v.name for v in unit.variables if v.home is None}
    for field in unit.nodes("field_declaration"):
        if any(text_of(child) == "static" for child in field.children):
            lasting |= {text_of(child) for child in walk(field) if child.type == "field_identifier"}
    for node in unit.nodes("function_declarator"):
        name, listed = node.child_by_field_name("declarator"), node.child_by_field_name("parameters")
        own = text_of(name).split("::")[-1].replace(" ", "") if name is not None else ""
        copies = listed is not None and re.search(rf"\b{re.escape(own)}\b", text_of(listed)) is not None
        whole = node.parent
        if whole is None or not (own.startswith("~") or own == "operator=" or (own in classes(unit) and copies)):
            continue
        done = effects(unit).of(node.end_byte, whole.end_byte)
        parts = [done, *(effects(unit).closure(called) for called in done.calls)]
        if any(part.opaque or part.writes & lasting or part.words & PRINTS for part in parts):
            return True
    return False


def tells(unit: Unit, type_text: str) -> bool:
    """Whether the program may see how often values of a type are copied and destroyed."""
    return not classes(unit).keys().isdisjoint(re.findall(r"\w+", unit.resolve(type_text))) and _telling(unit)


def ordered(unit: Unit, type_text: str) -> bool:
    """Whether equal values of a type cannot be told apart: integers, strings and pairs of them."""
    kind = unit.resolve(type_text)
    if kind.startswith("pair<") and kind.endswith(">"):
        return all(ordered(unit, part) for part in split_arguments(kind[5:-1]))
    return _PLAIN.fullmatch(kind) is not None and not {"double", "float"} & {*kind.split()}


def split_arguments(inside: str) -> list[str]:
    """The arguments of a template, split at the commas outside brackets."""
    parts, depth = [""], 0
    for ch in inside:
        depth += (ch in "<(") - (ch in ">)")
        if ch == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += ch
    return parts


def rows_of(variable: Variable) -> tuple[Node, Node] | None:
    """The two sizes of ``vector<vector<T>> v(n, vector<T>(m, x))``, which may have been read as a function."""
    if variable.value is None or variable.value.type not in ("argument_list", "parameter_list"):
        return None
    given = [child for child in variable.value.named_children if child.type != "comment"]
    if len(given) != 2:
        return None
    inner = given[1].child_by_field_name("arguments")
    kind = given[1].child_by_field_name("function") or given[1].child_by_field_name("type")
    declarator = given[1].child_by_field_name("declarator")
    if inner is None and declarator is not None:
        inner = declarator.child_by_field_name("parameters")
    second = first_child(inner) if inner is not None else None
    if second is None or kind is None or not text_of(kind).removeprefix("std::").startswith("vector"):
        return None
    return given[0], second


def uses(unit: Unit, variable: Variable) -> Iterator[tuple[list[str], int]]:
    """For each use of a variable (macros expanded): all texts of its scope, and the position of the name in them."""
    found = expanded(unit, *variable.scope)
    texts = [token.text for token in found]
    for k, token in enumerate(found):
        declared = variable.node.start_byte <= token.start < variable.node.end_byte
        if token.text == variable.name and not declared and texts[k - 1] not in (".", "->"):
            yield texts, k


def lines_of_uses(unit: Unit, variable: Variable) -> tuple[tuple[int, int], ...]:
    """The lines on which a variable is used; a diagnosis names those, not its declaration."""
    found = {unit.line(token.start) for token in unit.tokens_in(*variable.scope) if token.text == variable.name}
    return tuple((line, line) for line in sorted(found))


def behind(texts: list[str], position: int, subscripts: int) -> int | None:
    """The position after ``subscripts`` subscripts of a name; None if there are fewer."""
    position += 1
    for _ in range(subscripts):
        if position >= len(texts) or texts[position] != "[":
            return None
        position = closing(texts, position) + 1
    return position


def closing(texts: list[str], opening: int) -> int:
    """The position of the closing bracket."""
    depth = 0
    for k in range(opening, len(texts)):
        depth += (texts[k] in "([{") - (texts[k] in ")]}")
        if depth == 0:
            return k
    return len(texts) - 1


def only_methods(unit: Unit, variable: Variable, methods: frozenset[str], subscript: bool, walk: bool = False) -> bool:
    """Whether a variable (or each element of an array) is used only through these methods, by subscript, or by
    iteration."""
    for texts, k in uses(unit, variable):
        at = behind(texts, k, len(variable.dims))
        if at is None or at + 1 >= len(texts):
            return False
        if walk and texts[k - 1] == ":" and texts[at] == ")":
            continue
        if not (subscript and texts[at] == "[") and not (texts[at] == "." and texts[at + 1] in methods):
            return False
    return True


def keeps_argument(unit: Unit, called: str) -> bool:
    """Whether a function of the program may keep a reference to its argument while it runs."""
    if called in unit.by_name:
        return any(p.kind != "value" for function in unit.by_name[called] for p in function.parameters)
    return called in unit.shared or any(v.name == called for v in unit.variables)


def returns_element(unit: Unit, variable: Variable) -> bool:
    """Whether a function that returns a reference or an address may return that of an element."""
    for node in unit.nodes("return_statement") if variable.lasts else ():
        home = unit.home(node.start_byte)
        named = any(one.type == "identifier" and text_of(one) == variable.name for one in walk(node))
        if named and (home is None or returns_address(unit, home)):
            return True
    return False


def retyped(unit: Unit, rule: str, found: Declared, params: tuple[tuple[str, Value], ...], new: NewType) -> Edit:
    """The edit that gives the variables of a declaration another type."""
    change = Change((unit.replace(found.type, new.type),), (Snippet(new.piece),))
    lines = unit.lines_of(found.variables[0].declaration)
    lines += tuple(line for variable in found.variables for line in lines_of_uses(unit, variable))
    return Edit(rule, found.site, params, f"{new.what} instead of {text_of(found.type)}", lines, change)


class NewType(NamedTuple):
    """A type of the runtime: its text in C++, its piece of the runtime, and its description."""

    type: str
    piece: str
    what: str
