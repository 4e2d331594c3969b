"""The list of all steps, with the techniques they introduce and their weight before any trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import final

from maxcode.code.cpp.edit import Edit, Rule
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels import (
    blocking,
    boundary,
    hints,
    left_looking,
    orders,
    panels,
    parameters,
    pivots,
    product,
    quotients,
    recurrences,
    registers,
    right_looking,
    rowwise,
    scalars,
    scans,
    stencils,
    tables,
    templates,
    tiling,
    triangles,
    unrolling,
)
from maxcode.policy.rules.kernels.kernel import Step

_LANGUAGES = ("c", "cpp")
_TEMPLATE = ("simd", "tiling", "unrolling")
_TEMPLATES = frozenset(  # steps that replace loops by a tuned kernel
    {"product", "half", "block", "triangle", "panel", "pack"}
)


def _step(find: Callable[[Unit], Iterable[Edit]], prior: float, topics: str, techniques: tuple[str, ...] = ()) -> Step:
    name = getattr(find, "__name__", "")
    return Step(Rule(name, find, prior, tuple(topics.split()), _LANGUAGES, exact=False), frozenset(techniques))


ALL: tuple[Step, ...] = (
    _step(parameters.retune, 40, "cache vector loop"),
    _step(product.product, 40, "cache vector stride loop", _TEMPLATE),
    _step(blocking.half, 25, "cache vector stride loop", _TEMPLATE),
    _step(blocking.block, 20, "cache vector stride loop", _TEMPLATE),
    _step(triangles.triangle, 25, "cache vector stride loop", _TEMPLATE),
    _step(panels.panel, 40, "cache vector stride loop", _TEMPLATE),
    _step(tables.tabulate, 25, "loop call arithmetic"),
    _step(tables.operands, 20, "loop arithmetic vector", ("packing",)),
    _step(boundary.split, 8, "vector loop"),
    _step(boundary.unswitch, 8, "vector loop"),
    _step(orders.interchange, 12, "stride cache loop"),
    _step(orders.order, 14, "stride cache loop"),
    _step(orders.accumulate, 16, "stride loop vector"),
    _step(orders.contiguous, 16, "stride cache loop vector"),
    _step(right_looking.right_looking, 15, "stride loop vector"),
    _step(left_looking.left_looking, 15, "cache stride loop", ("tiling",)),
    _step(orders.distribute, 3, "loop"),
    _step(orders.fuse, 3, "loop cache"),
    _step(scalars.privatise, 3, "loop"),
    _step(scalars.expand, 8, "stride loop vector"),
    _step(rowwise.rowwise, 16, "stride cache loop vector"),
    _step(tiling.tile, 6, "cache", ("tiling",)),
    _step(stencils.time_tile, 30, "cache", ("tiling",)),
    _step(pivots.pivots, 16, "cache loop vector", ("tiling",)),
    _step(unrolling.jam, 5, "vector loop", ("unrolling",)),
    _step(unrolling.overlap, 8, "arithmetic loop", ("unrolling",)),
    _step(unrolling.accumulators, 9, "vector loop arithmetic", ("unrolling",)),
    _step(registers.promote, 8, "vector loop"),
    _step(registers.index_split, 12, "vector loop"),
    _step(recurrences.shorten, 12, "arithmetic loop"),
    _step(recurrences.carry, 8, "arithmetic loop"),
    _step(quotients.divide_once, 12, "arithmetic loop"),
    _step(scans.scan, 14, "arithmetic loop vector", ("simd", "tiling")),
    _step(hints.simd, 5, "vector", ("simd",)),
    _step(hints.unroll, 3, "vector loop", ("unrolling",)),
    _step(templates.pack, 15, "cache stride", (*_TEMPLATE, "packing")),
    _step(hints.prefetch, 4, "cache", ("prefetch",)),
    _step(hints.restrict, 5, "vector", ("restrict",)),
    _step(hints.parallel, 8, "loop", ("threads",)),
)

NAMED: dict[str, Step] = {step.rule.name: step for step in ALL}
STEPS: dict[str, str] = {name: step.rule.summary for name, step in NAMED.items()}


@final
@dataclass(frozen=True, slots=True)
class Permitted:
    """What may be proposed: the permitted techniques (None = all), threads, OpenMP's pragmas for vectors, templates.

    Threads only help if the wall clock is the goal; a pragma has no effect if the flags do not enable it.
    """

    permitted: frozenset[str] | None = None
    threads: bool = False
    simd_pragmas: bool = True
    templates: bool = True

    def step(self, step: Step) -> bool:
        """Whether a step may be used at all."""
        return (
            (self.threads or "threads" not in step.techniques)
            and (self.templates or step.rule.name not in _TEMPLATES)
            and (self.permitted is None or step.techniques <= self.permitted)
        )

    def edit(self, edit: Edit) -> bool:
        """Whether an edit of a step is permitted: a template that packs needs the permission to pack."""
        params = dict(edit.params)
        packs = params.get("template") == "packed" and self.permitted is not None and "packing" not in self.permitted
        return not packs and (self.simd_pragmas or params.get("as") not in ("omp", "reduction"))


def reads_pragmas(flags: Iterable[str]) -> bool:
    """Whether a compiler with these flags reads OpenMP's pragmas for vectors."""
    return not {"-fopenmp", "-fopenmp-simd"}.isdisjoint(flags)


def offered(unit: Unit, allowed: Permitted) -> Iterator[tuple[Step, list[Edit]]]:
    """The steps that may be used on a program, with their edits."""
    for step in ALL:
        if found := edits_of(step, unit, allowed):
            yield step, found


def edits_of(step: Step, unit: Unit, allowed: Permitted) -> list[Edit]:
    """The permitted edits of a step; of several with one label the first, so that a label names one edit."""
    found: dict[str, Edit] = {}
    for edit in step.rule.edits(unit) if allowed.step(step) else ():
        if allowed.edit(edit):
            found.setdefault(edit.label, edit)
    return list(found.values())
