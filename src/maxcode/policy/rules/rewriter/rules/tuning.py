"""The rule that changes the tuning numbers of earlier edits; nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from maxcode.code.cpp.edit import Change, Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.rewriter.rules import associative, io, memory, recursion, sequences, sorting
from maxcode.policy.rules.rewriter.rules.inner_loops import UNROLL
from maxcode.policy.rules.rewriter.rules.loops import TILES

Knob = tuple[str, tuple[int, ...]]

_CONSTANTS: tuple[Knob, ...] = (
    ("reader_buffer", io.BUFFERS),
    ("writer_buffer", io.BUFFERS),
    ("pool_chunk", memory.CHUNKS),
    ("pool_largest", memory.LARGEST),
)
_HASH: tuple[Knob, ...] = (("load", associative.LOADS), ("first", associative.FIRST))
_TEMPLATES: dict[str, tuple[Knob, ...]] = {  # the last numbers of their arguments
    "hash_map": _HASH,
    "hash_set": _HASH,
    "std_map": _HASH,
    "std_set": _HASH,
    "paged_map": (("page", associative.PAGES),),
    "paged_set": (("page", associative.PAGES),),
    "flat_set": (("room", associative.FLAT_ROOM),),
    "ring": (("first", sequences.RING_FIRST),),
    "heap": (("arity", sequences.ARITIES),),
    "grid": (("pad", sequences.PADS),),
    "sort": (("bits", sorting.DIGITS), ("small", sorting.SMALL)),
}
_TEMPLATE = re.compile(rb"\bmxr::(?P<name>\w+)<(?P<inside>[^;(){}]*?)(?P<numbers>(?:(?:,\s*|(?<=<))\d+)+)>")
_MEMO = re.compile(rb"\bmxr::memo<(?P<bits>\d+)")
_PRAGMA = re.compile(rb"#pragma GCC unroll (?P<factor>\d+)")


def retune(unit: Unit) -> Iterator[Edit]:
    """Changes one number that an earlier rule set: the size of a buffer or block, a load, a factor."""
    yield from _constants(unit)
    yield from _templates(unit)
    for number, match in enumerate(_PRAGMA.finditer(unit.data), start=1):
        yield from _turned(unit, f"unroll#{number}", match.span("factor"), UNROLL)
    for match in _MEMO.finditer(unit.data):
        yield from _turned(unit, "memo", match.span("bits"), recursion.PLACES)
    yield from _tiles(unit)


def _constants(unit: Unit) -> Iterator[Edit]:
    for name, values in _CONSTANTS:
        pattern = re.compile(rf"\b{name} = (\d+)".encode())
        for start, end in unit.runtime:
            if (match := pattern.search(unit.data, start, end)) is not None:
                yield from _turned(unit, name, match.span(1), values)


def _templates(unit: Unit) -> Iterator[Edit]:
    seen: dict[str, int] = {}
    for match in _TEMPLATE.finditer(unit.data):
        name = match["name"].decode()
        knobs = _TEMPLATES.get(name, ())
        if unit.in_runtime(match.start()) or not knobs:
            continue
        seen[name] = seen.get(name, 0) + 1
        numbers = [found.span() for found in re.compile(rb"\d+").finditer(unit.data, *match.span("numbers"))]
        for (knob, values), span in zip(reversed(knobs), reversed(numbers), strict=False):
            yield from _turned(unit, f"{knob} of {name}#{seen[name]}", span, values)


def _tiles(unit: Unit) -> Iterator[Edit]:
    """Changes the size of a block, which is in three places that must agree."""
    for node in unit.nodes("for_statement"):
        found = re.match(rb"for \(\w[\w ]* (tile_\w+) =", node.text or b"")
        if found is None:
            continue
        name = found[1].decode()
        pattern = re.compile(rf"\b{name} \+=? (\d+)\b".encode())
        spans = [match.span(1) for match in pattern.finditer(unit.data, node.start_byte, node.end_byte)]
        sizes = {unit.data[start:end] for start, end in spans}
        for value in TILES if len(sizes) == 1 else ():
            if str(value).encode() not in sizes:
                change = Change(tuple(Patch(start, end, str(value)) for start, end in spans))
                what = f"makes the blocks {value} long"
                yield Edit("retune", unit.place(name, node), (("value", value),), what, unit.lines_of(node), change)


def _turned(unit: Unit, site: str, span: tuple[int, int], values: tuple[int, ...]) -> Iterator[Edit]:
    now = int(unit.data[span[0] : span[1]])
    for value in values:
        if value != now:
            change = Change((Patch(*span, str(value)),))
            line = unit.line(span[0])
            yield Edit("retune", site, (("value", value),), f"tries {value} instead of {now}", ((line, line),), change)
