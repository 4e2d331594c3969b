"""Candidates an hour over slots, a line a use, both axes logarithmic: static SVG without scripts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from pygal import XY
from pygal.style import CleanStyle

_SCRIPT = re.compile(rb"<script.*?</script>", re.DOTALL)


def draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Rows of ``simulate.py scale``, those of a use one after the other."""
    chart = XY(
        style=CleanStyle,
        width=820,
        height=460,
        js=[],
        no_prefix=True,
        x_title="slots",
        y_title="candidates an hour",
        legend_at_bottom=True,
        legend_at_bottom_columns=3,
        dots_size=3,
    )
    for use, of_use in groupby(rows, key=lambda row: str(row["use"])):
        chart.add(use, [(math.log10(row["slots"]), math.log10(row["per_hour"])) for row in of_use])
    chart.x_labels = _powers([row["slots"] for row in rows])
    chart.y_labels = _powers([row["per_hour"] for row in rows])
    path.write_bytes(static(chart))


def static(chart: XY) -> bytes:
    """What a chart draws, without scripts."""
    return _SCRIPT.sub(b"", chart.render())


def _powers(values: Sequence[float]) -> list[dict[str, Any]]:
    """The powers of ten around some values."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [{"value": power, "label": f"{10**power:,}"} for power in range(first, last + 1)]
