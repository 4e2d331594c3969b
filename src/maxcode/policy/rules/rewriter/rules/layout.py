"""Rules for the layout of two-dimensional arrays: they change the data instead of the loops with large strides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from maxcode.code.cpp.declarations import Variable, ancestor, first_child
from maxcode.code.cpp.edit import Change, Edit
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch, text_of
from maxcode.policy.rules.rewriter.rules.containers import rows_of, template

PADS = (8, 16)


class Uses(NamedTuple):
    """The subscripts of each ``a[i][j]``, the number of uses of a row ``a[i]`` alone, and whether somebody asks for the
    size of the whole."""

    pairs: list[tuple[Node, Node]]
    rows: int
    sizes: bool


def swap_dimensions(unit: Unit) -> Iterator[Edit]:
    """Stores a two-dimensional array by columns: ``a[i][j]`` becomes ``a[j][i]`` everywhere; no other use of it."""
    for variable in unit.variables:
        sizes = _sizes(unit, variable)
        found = _uses(unit, variable) if sizes is not None else None
        if sizes is None or found is None or found.rows or not found.pairs:
            continue
        if not all(effects(unit).pure(s) for pair in [*found.pairs, sizes] for s in pair):
            continue
        patches: list[Patch] = []
        for first, second in [*found.pairs, sizes]:
            patches += [unit.replace(first, text_of(second)), unit.replace(second, text_of(first))]
        lines = unit.lines_of(variable.declaration, *(first for first, _ in found.pairs))
        what, site = f"stores {variable.name} by columns", unit.place(variable.name, variable.declaration)
        yield Edit("swap_dimensions", site, (), what, lines, Change(tuple(patches)))


def pad_rows(unit: Unit) -> Iterator[Edit]:
    """Makes the rows of a two-dimensional array longer, so that columns spread over the cache; all uses must be
    by row."""
    for variable in unit.variables:
        if len(variable.dims) != 2 or "+" in variable.dims[1] or variable.form != "array" or variable.value is not None:
            continue
        sizes = _sizes(unit, variable)
        found = _uses(unit, variable)
        if sizes is None or found is None or found.sizes:
            continue
        for pad in PADS:
            patch = Patch(sizes[1].end_byte, sizes[1].end_byte, f" + {pad}")
            what = f"makes the rows of {variable.name} {pad} elements longer"
            lines, site = unit.lines_of(variable.declaration), unit.place(variable.name, variable.declaration)
            yield Edit("pad_rows", site, (("by", pad),), what, lines, Change((patch,)))


def _sizes(unit: Unit, variable: Variable) -> tuple[Node, Node] | None:
    """The nodes of the two sizes of a plain array, or of a vector of equally long vectors."""
    if variable.form == "array" and len(variable.dims) == 2 and variable.value is None:
        inner = variable.declarator.child_by_field_name("declarator")
        second = variable.declarator.child_by_field_name("size")
        first = inner.child_by_field_name("size") if inner is not None else None
        return (first, second) if first is not None and second is not None else None
    kind = variable.declaration.child_by_field_name("type")
    outer = template(kind)
    if outer is None or outer[0] != "vector" or variable.form != "plain" or variable.value is None:
        return None
    return rows_of(variable) if unit.resolve(variable.type).startswith("vector<vector<") else None


def _uses(unit: Unit, variable: Variable) -> Uses | None:
    """The uses of an array in its scope; None if there is another use, a use in a macro, or a shadowing name."""
    name, (start, end) = variable.name, variable.scope
    if variable.home is None and name in unit.shared:
        return None
    if any(token.text == name and token.directive for token in unit.tokens):
        return None
    if sum(1 for v in unit.variables if v.name == name and start <= v.node.start_byte < end) != 1:
        return None
    spots = [token for token in unit.tokens_in(start, end) if token.text == name]
    nodes = [n for n in unit.nodes("identifier") if text_of(n) == name and start <= n.start_byte < end]
    if len(spots) != len(nodes):
        return None
    pairs: list[tuple[Node, Node]] = []
    rows, sizes = 0, False
    for node in nodes:
        if variable.node.start_byte <= node.start_byte < variable.node.end_byte:
            continue
        first = _subscript(node)
        second = _subscript(first[0]) if first is not None else None
        if first is None and not _is_cleared(node, name):
            return None
        sizes = sizes or (first is None and not _is_in_memset(node))
        if first is not None and second is not None:
            if _is_start(second[0], first[1], second[1]):
                return None
            pairs.append((first[1], second[1]))
        elif first is not None:
            rows += 1
            if text_of(first[1]) == "0":  # it may stand for the whole array
                return None
            if first[0].parent is not None and first[0].parent.type in ("pointer_expression", "sizeof_expression"):
                return None
    return Uses(pairs, rows, sizes)


def _is_start(element: Node, first: Node, second: Node) -> bool:
    """Whether an element denotes the whole array, as in ``&a[0][0]``."""
    around = element.parent
    literal = first.type == second.type == "number_literal"
    return around is not None and around.type == "pointer_expression" and literal


def _subscript(node: Node) -> tuple[Node, Node] | None:
    """The subscript expression around the subscripted node, and the subscript."""
    around = node.parent
    if around is None or around.type != "subscript_expression" or around.child_by_field_name("argument") != node:
        return None
    listed = around.child_by_field_name("indices") or around.child_by_field_name("index")
    if listed is None or (listed.type == "subscript_argument_list" and listed.named_child_count != 1):
        return None
    inner = first_child(listed) if listed.type == "subscript_argument_list" else listed
    return (around, inner) if inner is not None else None


def _is_in_memset(node: Node) -> bool:
    """Whether the size or the name of an array is an argument of memset."""
    call = ancestor(node, "call_expression")
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and text_of(function).removeprefix("std::") == "memset"


def _is_cleared(node: Node, name: str) -> bool:
    """Whether the use is ``sizeof a``, or the first argument of ``memset(a, 0, sizeof a)``."""
    around = node.parent
    while around is not None and around.type in ("parenthesized_expression", "parenthesized_declarator"):
        around = around.parent
    if around is None:
        return False
    if around.type == "sizeof_expression":
        return True
    call = around.parent
    if around.type != "argument_list" or call is None or around.named_child_count != 3 or first_child(around) != node:
        return False
    size = "".join(text_of(around.named_children[2]).split())
    function = call.child_by_field_name("function")
    whole = size in (f"sizeof({name})", f"sizeof{name}")
    return function is not None and text_of(function).removeprefix("std::") == "memset" and whole
