"""Candidates per hour against slots, one line per use, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from figure import standalone
from maxcode.run.report.plot import Axis, Mark, Series, Size


def draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Rows of ``simulate.py scale``, those of a use one after the other."""
    shown = []
    for number, (use, of_use) in enumerate(groupby(rows, key=lambda row: str(row["use"]))):
        points = [(math.log10(row["slots"]), math.log10(row["per_hour"])) for row in of_use]
        shown.append((use, Series(f"c{number}", [points], [Mark(*point) for point in points])))
    x = _powers("slots", [row["slots"] for row in rows])
    y = _powers("candidates an hour", [row["per_hour"] for row in rows])
    path.write_text(standalone(Size("", 820, 420, 0), x, y, shown))


def _powers(title: str, values: Sequence[float]) -> Axis:
    """An axis from the power of ten below some values to the one above."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis((first, last), [(power, f"{10**power:,}") for power in range(first, last + 1)], title)
