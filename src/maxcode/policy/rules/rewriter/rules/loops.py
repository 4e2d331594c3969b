"""Rules for the order of loops, for C and C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tree_sitter import Node

from maxcode.code.cpp.aliases import distinct
from maxcode.code.cpp.edit import Change, Edit
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import words
from maxcode.code.source import Patch, text_of, walk
from maxcode.policy.rules.rewriter.rules.aliasing import are_apart
from maxcode.policy.rules.rewriter.rules.guards import held
from maxcode.policy.rules.rewriter.rules.nests import (
    Loop,
    Nest,
    Store,
    access,
    canonical,
    ends_are_pure,
    may_fail,
    mentions,
    names,
    nests,
    pragmas,
    site,
    statements,
    store,
    stores_of,
    sum_of,
)

TILES = (16, 32, 64, 128, 256)
_NARROW = words("auto char short int8_t uint8_t int16_t uint16_t")  # a block may step over the largest value


def interchange(unit: Unit) -> Iterator[Edit]:
    """Exchanges two loops of a nest that only writes array elements, each of which keeps the order of its updates."""
    for nest in nests(unit):
        for depth, (outer, inner) in enumerate(pairwise(nest.loops)):
            if _may_swap(unit, nest, depth):
                (a, b), (c, d) = outer.header, inner.header
                change = Change((Patch(a, b, unit.between(c, d)), Patch(c, d, unit.between(a, b))))
                name = f"{site(unit, outer.node)} with {inner.var}"
                what = f"makes {outer.var} run inside {inner.var}"
                yield Edit("interchange", name, (), what, unit.lines_of(outer.node), change)


def tile(unit: Unit) -> Iterator[Edit]:
    """Runs an inner loop of such a nest block by block, the blocks outermost, so that a block stays in the cache."""
    for nest in nests(unit):
        outermost = nest.loops[0]
        for depth, loop in enumerate(nest.loops[1:], start=1):
            passed = nest.loops[:depth]
            if (
                not loop.by_one
                or loop.type in _NARROW
                or may_fail(loop)
                or _has_fraction(unit, loop.bound)
                or loop.var.startswith("tile_")
                or names(unit, (outermost.node.start_byte, outermost.node.end_byte))
                & {f"{loop.var}_end", f"tile_{loop.var}"}
                or any(p.var == f"tile_{loop.var}" for p in passed)
            ):
                continue
            if any(names(unit, loop.header) & {p.var} for p in passed):
                continue
            if any(vector[-1] == ">" for vector in nest.directions(unit, depth + 1)):
                continue
            for size in TILES:
                yield _tiled(unit, outermost, loop, size)


def expand(unit: Unit) -> Iterator[Edit]:
    """Turns ``for j { s = 0; for k s += E; A[j] = s; }`` into passes over all j, with k outermost between them."""
    for node in unit.nodes("for_statement"):
        outer = canonical(unit, node)
        parts = statements(outer.body) if outer is not None else []
        if (
            outer is None
            or pragmas(node)
            or held(unit, node)
            or not outer.by_one
            or outer.low != "0"
            or len(parts) not in (2, 3)
        ):
            continue
        inner = canonical(unit, parts[1])
        if inner is None or names(unit, inner.header) & {outer.var} or may_fail(inner):
            continue
        if not ends_are_pure(unit, outer) or not ends_are_pure(unit, inner):
            continue
        last = store(parts[-1]) if len(parts) == 3 else store(parts[0])
        if last is None or not are_apart(unit, {last.array}, node.start_byte, node.end_byte):
            continue
        text = _in_place(unit, outer, inner, parts) if len(parts) == 2 else _through_row(unit, outer, inner, parts)
        if text is not None:
            includes = ("vector",) if unit.language == "cpp" else ("stdlib.h",)
            change = Change((unit.replace(node, text),), includes=includes)
            what = f"adds up for all {outer.var} at once, with {inner.var} outside"
            yield Edit("expand", f"{site(unit, node)} over {inner.var}", (), what, unit.lines_of(node), change)


# ------------------------------------------------------------------------------------------------------ reordering


def _may_swap(unit: Unit, nest: Nest, depth: int) -> bool:
    """Whether a loop and the next may change places: the dependences that no loop around carries keep their
    direction."""
    outer, inner = nest.loops[depth : depth + 2]
    if outer.var in names(unit, inner.header) or inner.var in names(unit, outer.header) or may_fail(inner):
        return False
    return ("=",) * depth + ("<", ">") not in nest.directions(unit, depth + 2)


def _has_fraction(unit: Unit, bound: Node) -> bool:
    """Whether a bound may be between two whole numbers: the end of a block is of the type of the variable."""
    known = (
        unit.type_of(one.text, one.start) for one in expanded(unit, bound.start_byte, bound.end_byte) if one.is_word
    )
    named = [one for one in walk(bound) if one.type == "field_expression"]
    named = [one for one in named if one.parent is not None and one.parent.type != "call_expression"]
    member = bool(named) and not unit.words.isdisjoint({"double", "float"})
    member = member and any(text_of(one).split(".")[-1].split(">")[-1].strip() not in _whole(unit) for one in named)
    return (
        member
        or "." in re.sub(r"\.\s*[A-Za-z_]", "", text_of(bound))
        or any(kind is not None and re.match(r"[^{]*\b(?:auto|double|float)\b", kind) for kind in known)
    )


@lru_cache(maxsize=8)
def _whole(unit: Unit) -> frozenset[str]:
    """The members of the classes of the program that are whole numbers in each of them."""
    whole, others = set[str](), set[str]()
    for node in unit.nodes("field_declaration"):
        kind = node.child_by_field_name("type")
        names = {text_of(one) for one in walk(node) if one.type == "field_identifier"}
        number = kind is not None and unit.is_number(text_of(kind))
        real = kind is not None and re.search(r"\b(?:double|float)\b", unit.resolve(text_of(kind))) is not None
        (whole if number and not real else others).update(names)
    return frozenset(whole - others)


def _tiled(unit: Unit, outermost: Loop, loop: Loop, size: int) -> Edit:
    var, kind, block = loop.var, loop.type, f"tile_{loop.var}"
    bound = text_of(loop.bound)
    around = f"for ({kind} {block} = {loop.low}; {block} < {bound}; {block} += {size})\n"
    around += unit.indent(outermost.node.start_byte)
    end = f"{var}_end = ({bound}) < {block} + {size} ? ({bound}) : {block} + {size}"
    head = f"for ({kind} {var} = {block}, {end}; {var} < {var}_end; ++{var})"
    start = outermost.node.start_byte
    change = Change((Patch(start, start, around), Patch(*loop.header, head)))
    label = f"{site(unit, loop.node)} around {outermost.var}"
    what = f"runs {var} in blocks of {size}"
    return Edit("tile", label, (("size", size),), what, unit.lines_of(outermost.node), change)


def _in_place(unit: Unit, outer: Loop, inner: Loop, parts: list[Node]) -> str | None:
    """``for j { A[j] = E0; for k A[j] += E; }``: set all of A first, then add."""
    first, adds = store(parts[0]), stores_of(unit, inner.body)
    if first is None or adds is None or len(adds) != 1 or first.operator != "=" or first.place != adds[0].place:
        return None
    read = {where[0] for one in walk(first.value) if (where := access(one)) is not None}
    apart = all(distinct(unit, first.array, other, outer.node.start_byte) for other in read)
    fresh = effects(unit).pure(first.value) and apart and not mentions(first.value, first.array)
    if not fresh or statements(inner.body) != [adds[0].node] or not _walks(adds[0], outer, inner):
        return None
    head, inside = unit.between(*outer.header), unit.between(*inner.header)
    indent = unit.indent(outer.node.start_byte)
    return f"{{ {head} {text_of(parts[0])}\n{indent}{inside}\n{indent}  {head} {text_of(adds[0].node)} }}"


def _walks(one: Store, outer: Loop, inner: Loop) -> bool:
    """Whether the outer loop moves over the elements by their last subscript, and the inner one does not move."""
    last = "".join(text_of(one.subscripts[-1]).split()) == outer.var
    return last and not any(mentions(s, inner.var) for s in one.subscripts) and one.operator != "="


def _through_row(unit: Unit, outer: Loop, inner: Loop, parts: list[Node]) -> str | None:
    """``for j { T s = E0; for k s += E; A[j] = s; }``: a row of sums replaces s."""
    made = parts[0].child_by_field_name("declarator") if parts[0].type == "declaration" else None
    kind, last = parts[0].child_by_field_name("type"), store(parts[2])
    body = statements(inner.body)
    if made is None or kind is None or last is None or len(body) != 1 or made.type != "init_declarator":
        return None
    name, value = made.child_by_field_name("declarator"), made.child_by_field_name("value")
    summed = sum_of(body[0])
    stored = any(child.type == "storage_class_specifier" for child in parts[0].children)
    typed = (
        not stored and text_of(kind) not in ("auto", "bool") and len(parts[0].children_by_field_name("declarator")) == 1
    )
    if name is None or value is None or summed is None or text_of(name) != summed[0] or not typed:
        return None
    pieces, around = [value, summed[2], last.value, *last.subscripts], (outer.node.start_byte, outer.node.end_byte)
    if not all(effects(unit).pure(piece) for piece in pieces) or mentions(summed[2], summed[0]):
        return None
    if not _row_is_safe(unit, outer, inner, last, [value, summed[2]]):
        return None
    if _has_fraction(unit, outer.bound) or f"{summed[0]}_row" in names(unit, around):
        return None
    return _row_text(unit, outer, inner, (text_of(kind), summed[0], text_of(value), text_of(parts[2])), body[0])


def _row_is_safe(unit: Unit, outer: Loop, inner: Loop, last: Store, early: list[Node]) -> bool:
    """Whether the stores at the end may all come after all the sums."""
    if mentions(last.value, last.array) or names(unit, inner.header) & {last.array, outer.var}:
        return False
    for piece in early:
        for node in walk(piece):
            where = access(node)
            if where is not None and not distinct(unit, last.array, where[0], outer.node.start_byte):
                return False
            if node.type in ("pointer_expression", "field_expression", "ERROR") or mentions(piece, last.array):
                return False
    return True


def _row_text(unit: Unit, outer: Loop, inner: Loop, pieces: tuple[str, str, str, str], body: Node) -> str:
    kind, name, initial, final = pieces
    head, inside, count = unit.between(*outer.header), unit.between(*inner.header), text_of(outer.bound)
    indent = unit.indent(outer.node.start_byte) + "    "
    row, size = f"{name}_row", f"({count}) > 0 ? ({count}) : 1"
    here = f"{row}[{outer.var}]"
    made, added, gone = f"std::vector<{kind}> {row}({size});", f"{kind} &{name} = {here}; {text_of(body)}", ""
    if unit.language == "c":
        made = f"{kind} *{row} = ({kind} *)malloc(sizeof({kind}) * (size_t)({size}));"
        added = f"{kind} {name} = {here}; {text_of(body)} {here} = {name};"
        gone = f"{indent}free({row});\n"
    return (
        f"{{\n{indent}{made}\n{indent}{head} {here} = {initial};\n{indent}{inside}\n"
        f"{indent}    {head} {{ {added} }}\n"
        f"{indent}{head} {{ const {kind} {name} = {here}; {final} }}\n{gone}{indent[:-4]}}}"
    )
