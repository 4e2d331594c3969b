"""Problems × methods × seeds side by side: cells -> rows -> one table.

    cells -> bench (runs each open cell, reads the finished ones) -> rows -> table -> text, JSON, CSV

What runs a cell is a function that the caller gives, so this room knows no evaluator and no policy.
"""

from __future__ import annotations

from maxcode.bench.cells import Cell, cells
from maxcode.bench.folder import claim
from maxcode.bench.pace import Pace
from maxcode.bench.rows import Cost, Row, finished, read_row
from maxcode.bench.runner import Bench, Done, Event, Failed, RunOne, Started, bench
from maxcode.bench.shown import as_csv, as_json, as_text
from maxcode.bench.table import Contrast, Summary, Table, table

__all__ = [
    "Bench",
    "Cell",
    "Contrast",
    "Cost",
    "Done",
    "Event",
    "Failed",
    "Pace",
    "Row",
    "RunOne",
    "Started",
    "Summary",
    "Table",
    "as_csv",
    "as_json",
    "as_text",
    "bench",
    "cells",
    "claim",
    "finished",
    "read_row",
    "table",
]
