"""The templates of a matrix product: two pieces of C that compute the same, with their constants in their text.

``packed`` copies panels of one operand or both, ``direct`` reads them in place.  A program has at most one of them,
between the same markers as the rewriter's runtime, so that no other step reads or changes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import final

from maxcode.code.cpp.edit import Change, Edit, Value
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import RUNTIME_BEGIN, RUNTIME_END, Unit
from maxcode.code.source import Patch, text_of
from maxcode.errors import MachineError

NAME = "product"
_THREADS = frozenset({"pthread_create", "thrd_create", "thread", "jthread", "async", "execution", "parallel_for"})
_SHARES = re.compile(r"#\s*pragma\s+omp\s+(?:for|loop|sections|single|master|masked|distribute|barrier)\b")
_PARALLEL = re.compile(r"#\s*pragma\s+omp\b.*\b(?:parallel|task|taskloop|sections|teams)\b|_Pragma")
_BEGIN = {kind: f"{RUNTIME_BEGIN}{kind} {NAME} ----" for kind in ("packed", "direct")}
PRESETS = tuple(
    (("MR", mr), ("NV", nv), ("VL", vl))
    for mr in (2, 4, 6, 8, 12)
    for nv in (1, 2, 3, 4)
    for vl in (2, 4, 8)
    if mr * nv <= 24
)
FEW = tuple(
    (("MR", mr), ("NV", nv), ("VL", vl))
    for mr, nv, vl in ((4, 4, 2), (6, 2, 2), (4, 2, 4), (4, 3, 4), (6, 2, 4), (6, 3, 8), (8, 3, 8), (12, 2, 8))
)  # some that are often good


def pack(unit: Unit) -> Iterator[Edit]:
    """Changes a product that reads its operands in place to read packed panels of them."""
    start = unit.data.find(_BEGIN["direct"].encode())
    stop = unit.data.find(f"{RUNTIME_END}\n".encode(), start)
    if min(start, stop) >= 0 and not may_share(unit):
        kept = tuple(
            (name, int(value)) for name, value in re.findall(r"\b(MR|NV|VL|KC) = (\d+)", unit.between(start, stop))
        )
        patch = Patch(start, stop + len(RUNTIME_END) + 1, _template("packed", kept))
        line = unit.line(start)
        yield Edit("pack", "product", (), "packs the operands of the product", ((line, line),), Change((patch,)))


def fit(params: Mapping[str, Value], lanes: int) -> float:
    """How well a template's constants suit registers of ``lanes`` doubles (0: not known), as a weight up to 1: best are
    the widest vectors, and sums that fill at least half of the registers and leave room for the operands."""
    registers = 32 if lanes > 4 else 16
    rows, vectors, lane = (params.get(name) for name in ("MR", "NV", "VL"))
    if not (lanes and isinstance(rows, int) and isinstance(vectors, int)):
        return 1.0
    sums = rows * vectors
    return (1.0 if lane == lanes else 0.25) * (1.0 if registers <= 2 * sums < 2 * (registers - vectors) else 0.3)


@final
@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """A template with its constants: its text in labels and notes, and the block to put at the top of the program."""

    params: tuple[tuple[str, Value], ...]
    words: str
    blocks: tuple[str, ...]


def choices(unit: Unit, presets: Iterable[tuple[tuple[str, int], ...]] = PRESETS) -> Iterator[TemplateChoice]:
    """The available templates with each preset of their constants; a program that has one keeps it."""
    if placed(unit):
        yield TemplateChoice((), "by the template that is there", ())
        return
    ways = [("packed", "by packed panels"), ("direct", "by blocks of registers")]
    for kind, how in ways[1:] if may_share(unit) else ways:
        for preset in presets:
            shape = ", ".join(f"{name} = {value}" for name, value in preset)
            yield TemplateChoice((("template", kind), *preset), f"{how}, {shape}", (_template(kind, preset),))


def may_share(unit: Unit) -> bool:
    """Whether several threads may run a function of the program at once, which would share the memory of the panels."""
    if not _THREADS.isdisjoint(unit.words):
        return True
    for one in unit.functions:
        text = text_of(one.node).replace("\\\n", " ")
        starts = _PARALLEL.search(text) is not None
        if starts and effects(unit).of(one.body.start_byte, one.body.end_byte).calls:
            return True
        if not starts and _SHARES.search(text):  # its caller starts them
            return True
    return False


def placed(unit: Unit) -> bool:
    """Whether the program has a template already."""
    return any(begin in unit.text for begin in _BEGIN.values())


def clashes(unit: Unit) -> bool:
    """Whether the program uses the template's names for something else."""
    names = ("MR", "NV", "VL", "KC", "MC", "NC", "NR", "AHEAD", "COPY_A", "COPY_B", "Lanes", NAME)
    return not placed(unit) and any(name in unit.words for name in names)


@cache
def source(kind: str) -> str:
    """The text of a template.  MachineError where it is not installed."""
    path = files(__package__) / f"{kind}.c.inc"
    if not path.is_file():
        raise MachineError(f"the template '{kind}' of the kernel policy is missing: reinstall maxcode")
    return path.read_text(encoding="utf-8").rstrip()


@cache
def _template(kind: str, values: tuple[tuple[str, int], ...]) -> str:
    text = source(kind)
    for name, value in values:
        text = re.sub(rf"\b({name} = )\d+", rf"\g<1>{value}", text, count=1)
    return f"{_BEGIN[kind]}\n{text}\n{RUNTIME_END}\n"
