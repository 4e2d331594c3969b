"""Steps that give the compiler facts that it cannot derive: simd, unroll, restrict, parallel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from maxcode.code.cpp.declarations import Parameter
from maxcode.code.cpp.edit import Change, Edit, Value
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import parallel as is_parallel
from maxcode.policy.rules.kernels.macro_uses import named_in_macros
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Loop,
    Other,
    changed,
    children,
    every,
    is_shared,
    printed,
    put,
    substituted,
    words_in,
)

_OF_ONE_THREAD = frozenset({"threadprivate", "thread_local", "__thread", "_Thread_local"})
UNROLLS = (2, 4, 8)
_Named = tuple[str] | tuple[str, tuple[str, Value]]  # the name of a step, and its parameter


def simd(unit: Unit) -> Iterator[Edit]:
    """Marks an innermost loop whose iterations are independent, or only add to one sum, for vectorisation."""
    for kernel in kernels(unit):
        for spot in _innermost(kernel):
            summed = None if effect((spot.loop,), spot.above).opaque else _sum_of(spot.loop)
            pragmas = [("reduction", f"#pragma omp simd reduction(+ : {summed})")] if summed is not None else []
            if summed is None and is_parallel(spot.loop, spot.above):
                pragmas = [("omp", "#pragma omp simd"), ("ivdep", "#pragma GCC ivdep")]
            for name, pragma in pragmas:
                what = f"tells that the loop over {spot.loop.var} may be vectorised"
                yield _marked(kernel, spot, ("simd", ("as", name)), what, pragma)


def unroll(unit: Unit) -> Iterator[Edit]:
    """Makes the compiler unroll an innermost loop."""
    for kernel in kernels(unit):
        for spot in _innermost(kernel):
            for factor in UNROLLS:
                what = f"has the loop over {spot.loop.var} unrolled by {factor}"
                yield _marked(kernel, spot, ("unroll", ("factor", factor)), what, f"#pragma GCC unroll {factor}")


def _marked(kernel: Kernel, spot: Spot, step: _Named, what: str, pragma: str) -> Edit:
    body = put(kernel.body, spot.path, [replace(spot.loop, pragmas=(*spot.loop.pragmas, pragma))])
    rule, *params = step
    return kernel.edit(rule, spot.name, params, what, kernel.change(body))


def _innermost(kernel: Kernel) -> Iterator[Spot]:
    for spot in kernel.spots:
        plain = all(not isinstance(item, Loop | Other) and not children(item) for item in spot.loop.body)
        if plain and spot.loop.step == "1" and not spot.loop.pragmas:
            yield spot


def _sum_of(loop: Loop) -> str | None:
    """The scalar that the only statement of a loop adds to."""
    match loop.body:
        case (Assign(op="+=" | "-=") as add,) if add.target.isidentifier() and add.target not in words_in(add.value):
            return add.target
    return None


def restrict(unit: Unit) -> Iterator[Edit]:
    """Declares, by local names for the parameters, that arrays do not overlap; the signature does not change."""
    word = "restrict" if unit.language == "c" else "__restrict"
    for kernel in kernels(unit):
        pointers = [one for one in kernel.function.parameters if _plain_pointer(one)]
        if len(pointers) < 2 or any(word in item.text for item in kernel.body if isinstance(item, Other)):
            continue
        if not _named_elsewhere(kernel).isdisjoint(one.name for one in pointers):
            continue
        names = {one.name: kernel.fresh(f"{one.name}_r") for one in pointers}
        kinds = {one.name: f"{'const ' if one.const else ''}double *{word}" for one in pointers}
        aliases = [Other(f"{kinds[old]} {new} = {old};") for old, new in names.items()]
        body = changed(kernel.body, lambda text, names=names: substituted(text, names))  # type: ignore[misc]
        what = f"names {', '.join(names)} anew as arrays that do not overlap"
        yield kernel.edit("restrict", kernel.function.name, (), what, kernel.change((*aliases, *body)))


def _named_elsewhere(kernel: Kernel) -> set[str]:
    """The names that keep their meaning in the macros and the pragmas of a function, whatever its text calls them."""
    lines = (line for item in every(kernel.body) if isinstance(item, Loop) for line in item.pragmas)
    return named_in_macros(kernel.unit, printed(kernel.body)).union(*map(words_in, lines))


def _plain_pointer(one: Parameter) -> bool:
    return one.kind == "pointer" and one.type == "double" and one.node.type == "parameter_declaration"


_LOADS = b"        Lanes right[NV];\n"
_LAST = b", COPY_A = "
_AHEAD = 4


def prefetch(unit: Unit) -> Iterator[Edit]:
    """Fetches rows of the packed panel of a product before they are needed."""
    start, loads = unit.data.find(_LAST), unit.data.find(_LOADS)
    if min(start, loads) >= 0 and b"AHEAD" not in unit.data:
        place = loads + len(_LOADS)
        patches = (
            Patch(start, start, f", AHEAD = {_AHEAD}"),
            Patch(place, place, "        __builtin_prefetch(b + AHEAD * b_row);\n"),
        )
        line = unit.line(place)
        what = f"fetches the panel of B {_AHEAD} rows ahead"
        yield Edit("prefetch", "product", (), what, ((line, line),), Change(patches))


def parallel(unit: Unit) -> Iterator[Edit]:
    """Divides the iterations of a loop among threads, if none depends on another: of a nest the outermost such loop,
    unless it is the innermost of all, which is too short."""
    for kernel in kernels(unit) if _OF_ONE_THREAD.isdisjoint(unit.words) else ():
        for spot in kernel.spots:
            long = not spot.above or any(isinstance(item, Loop) for item in spot.loop.body)
            inner = any(isinstance(one, Loop) and is_shared(one) for one in every(spot.loop.body))
            free = long and not spot.loop.pragmas and not (spot.shared or inner) and is_parallel(spot.loop, spot.above)
            if free and not any(is_parallel(one, spot.above[:depth]) for depth, one in enumerate(spot.above)):
                what = f"shares the loop over {spot.loop.var} among threads"
                yield _marked(kernel, spot, ("parallel",), what, "#pragma omp parallel for")
    yield from _shared_product(unit)


_BUFFER = b"static __attribute__((aligned(64))) double product_a["
_SHARED_LOOPS = (
    b"            for (int j = 0; j < wide; j += NR) {\n",
    b"            for (int i = 0; i < m; i += MC) {\n",
)


def _shared_product(unit: Unit) -> Iterator[Edit]:
    """The edit that divides the blocks of the product template among threads, each with its own block of A."""
    places = [unit.data.find(piece) for piece in (_BUFFER, *_SHARED_LOOPS)]
    if min(places) >= 0:
        shared = "#pragma omp parallel for if (c_row >= n)\n"  # rows that overlap get their sums one after the other
        pragmas = [Patch(place, place, shared) for place in places[1:]]
        change = Change((Patch(places[0], places[0] + len(b"static "), "static __thread "), *pragmas))
        line = unit.line(places[2])
        yield Edit("parallel", "product", (), "shares the blocks of the product among threads", ((line, line),), change)
