"""The constants that kernels carry in their text (``enum { KC = 256 };``), and the step that changes one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from maxcode.code.cpp.edit import Change, Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.kernels.kernel import OF_A_STEP

_ENUM = re.compile(rb"^enum \{ ((?:\w+ = \d+(?:, )?)+) \};", re.MULTILINE)
_ONE = re.compile(rb"(\w+) = (\d+)")
_PIECES = re.compile(r"(?:TIME|TILE|BLOCK)(?:_\w+)?|ROWS_X\d(?:_\d+)?")  # ROWS alone is a name that programs use
_NEAR = 2  # distance in the list of values

VALUES: dict[str, tuple[int, ...]] = {
    "MR": (1, 2, 3, 4, 5, 6, 8, 10, 12, 14),
    "NV": (1, 2, 3, 4),
    "VL": (2, 4, 8),
    "KC": (32, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024),
    "MC": (16, 24, 32, 48, 64, 96, 128, 192, 256, 384),
    "NC": (96, 192, 384, 768, 1536, 3072),
    "AHEAD": (1, 2, 4, 8, 16, 32),
    "COPY": (0, 1),
    "BLOCK": (8, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    "TIME": (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64),
    "ROWS": (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48),
    "TILE": (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512),
}
_MEANS = {
    "MR": "rows of sums in registers",
    "NV": "vectors of sums in a row",
    "VL": "doubles in a vector",
    "KC": "depth of the blocks",
    "MC": "rows of a block of A",
    "NC": "columns of a block of B",
    "AHEAD": "how many rows of B ahead are fetched",
    "COPY": "whether whole panels of the operand are packed (1) or read in place (0)",
    "BLOCK": "rows solved before the rest is updated by a product",
    "TIME": "steps of time in a piece",
    "ROWS": "rows in a piece",
    "TILE": "iterations in a piece",
}
_MOST_SUMS = 48  # MR * NV: beyond, they spill anyway and the unrolled text grows


def family(name: str) -> str:
    """``TILE`` of ``TILE_J_2``."""
    return name.split("_")[0]


def constants(unit: Unit) -> dict[str, tuple[int, int, int]]:
    """The constants that steps inserted: name -> (value, first byte, last byte + 1 of the number)."""
    found = {}
    for line in _ENUM.finditer(unit.data):
        for one in _ONE.finditer(unit.data, line.start(1), line.end(1)):
            name = one[1].decode()
            is_marked = unit.data.startswith(OF_A_STEP.encode(), line.end())
            ours = unit.in_runtime(line.start()) or (is_marked and _counts_pieces(unit, name))
            if family(name) in VALUES and ours:
                found[name] = (int(one[2]), one.start(2), one.end(2))
    return found


def _counts_pieces(unit: Unit, name: str) -> bool:
    """Whether a name of the program itself is used only for the size of the pieces of a loop."""
    text = unit.text
    uses = re.findall(rf"\b{name}\b", text)
    steps = re.findall(rf"; (\w+) \+= {name}\)", text)
    firsts, lasts = (
        sorted(re.findall(form, text)) for form in (rf"\((\w+) \+ {name} [<-] ", rf"\? (\w+) \+ {name} [:-] ")
    )
    skewed = re.findall(rf" \+ \d+ \* \({name} - 1\); ", text)
    if firsts != lasts or set(firsts) != set(steps):
        return False
    squares = len(re.findall(rf"\bdouble corner\w*\[{name} \* {name}\];", text))
    inside = len(re.findall(rf"\bcorner\w*(?:, |\[.*\) \* ){name}\b", text))
    pieces = len(steps) + len(firsts) + len(lasts) + len(skewed)
    return _PIECES.fullmatch(name) is not None and len(uses) == pieces + 2 * squares + inside + 1


def retune(unit: Unit) -> Iterator[Edit]:
    """Changes one constant of a kernel to a value nearby."""
    found = constants(unit)
    for name, (value, start, end) in found.items():
        values = VALUES[family(name)]
        place = min(range(len(values)), key=lambda k: abs(values[k] - value))
        for new in values[max(0, place - _NEAR) : place + _NEAR + 1]:
            if new != value and _sums({**{k: v[0] for k, v in found.items()}, name: new}) <= _MOST_SUMS:
                line = unit.line(start)
                what = f"sets {name}, {_MEANS[family(name)]}, to {new} (was {value})"
                change = Change((Patch(start, end, str(new)),))
                yield Edit("retune", name, (("value", new),), what, ((line, line),), change)


def _sums(values: dict[str, int]) -> int:
    return values.get("MR", 1) * values.get("NV", 1)
