"""Rules for sorting and comparing."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from maxcode.code.cpp.edit import Change, Edit, Snippet
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import text_of

DIGITS = (8, 11, 16)
SMALL = (256, 4096)


def radix_sort(unit: Unit) -> Iterator[Edit]:
    """Sorts plain integers, and pairs of int, by their digits; default or greater<> order, decided at compile time."""
    if {"sort", "stable_sort"} & unit.by_name.keys():
        return
    for site, node, arguments in _sorts(unit, "sort", "stable_sort"):
        function = node.child_by_field_name("function")
        if function is None or not _default_order(unit, arguments):
            continue
        for bits in DIGITS:
            for small in SMALL:
                change = Change((unit.replace(function, f"mxr::sort<{bits}, {small}>"),), (Snippet("radix"),))
                params = (("bits", bits), ("small", small))
                yield Edit("radix_sort", site, params, "sorts by digits", unit.lines_of(node), change)


def inline_compare(unit: Unit) -> Iterator[Edit]:
    """Wraps a comparison function given to an algorithm in a lambda, so that it can be inlined."""
    names = (
        "sort",
        "stable_sort",
        "lower_bound",
        "upper_bound",
        "nth_element",
        "partial_sort",
        "max_element",
        "min_element",
    )
    for site, node, arguments in _sorts(unit, *names):
        order = arguments[-1]
        compare = unit.by_name.get(text_of(order), []) if order.type == "identifier" and len(arguments) > 1 else []
        if len(compare) != 1 or compare[0].method or len(compare[0].parameters) != 2:
            continue
        name = text_of(order)
        if name in ("a", "b"):
            continue
        given = "const auto& a, const auto& b"
        if any(p.kind == "reference" and not p.const for p in compare[0].parameters):
            given = "auto& a, auto& b"
        change = Change((unit.replace(order, f"[]({given}) {{ return {name}(a, b); }}"),))
        yield Edit("inline_compare", site, (), f"lets {name} be inlined", unit.lines_of(node), change)


def _sorts(unit: Unit, *names: str) -> Iterator[tuple[str, Node, list[Node]]]:
    """The calls of these algorithms, each with the name of its site: the sorted object and the function."""
    seen: dict[str, int] = {}
    for name, node, arguments in unit.calls(*names):
        if arguments:
            what = text_of(arguments[0]).replace(" ", "").removesuffix(".begin()")
            what = "".join(ch for ch in what if ch.isalnum() or ch in "_[].+#") or name
            site = unit.place(what, node)
            seen[site] = seen.get(site, 0) + 1
            yield (site if seen[site] == 1 else f"{site} #{seen[site]}"), node, arguments


def _default_order(unit: Unit, arguments: list[Node]) -> bool:
    """Whether no order, or std::greater, is given; a macro such as ``all(v)`` may give both ends."""
    macro = unit.macros.get(text_of(arguments[0]).split("(")[0])
    both = macro is not None and "," in [token.text for token in macro.body]
    order = arguments[1:] if both else arguments[2:]
    if len(arguments) < 2 and not both:
        return False
    return not order or (len(order) == 1 and unit.resolve(text_of(order[0])).startswith("greater<"))
