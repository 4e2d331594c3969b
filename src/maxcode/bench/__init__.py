"""Problems × methods × seeds side by side: cells -> rows -> one table.

    cells -> bench (runs each open cell, reads the finished ones) -> rows -> table, curves -> text, JSON, CSV

What runs a cell is a function that the caller gives, so this room knows no evaluator and no policy.
"""

from __future__ import annotations

from maxcode.bench.ablation import Grid, ablated, pairs_of, parted
from maxcode.bench.cells import Cell, cells
from maxcode.bench.curves import Curve, curves
from maxcode.bench.eta import Pace
from maxcode.bench.figures import SUITES, Column, figures
from maxcode.bench.folder import Planned, claim, planned, read_bench
from maxcode.bench.format import as_csv, as_json, as_text
from maxcode.bench.page import BenchView, write_bench_report
from maxcode.bench.pool import Pool
from maxcode.bench.rows import Cost, Row, finished, read_row
from maxcode.bench.runner import Bench, Done, Event, Failed, RunOne, Runs, Started, bench
from maxcode.bench.table import Asked, Contrast, Summary, Table, table
from maxcode.bench.trace import AXES, Axis, Trace

__all__ = [
    "AXES",
    "SUITES",
    "Asked",
    "Axis",
    "Bench",
    "BenchView",
    "Cell",
    "Column",
    "Contrast",
    "Cost",
    "Curve",
    "Done",
    "Event",
    "Failed",
    "Grid",
    "Pace",
    "Planned",
    "Pool",
    "Row",
    "RunOne",
    "Runs",
    "Started",
    "Summary",
    "Table",
    "Trace",
    "ablated",
    "as_csv",
    "as_json",
    "as_text",
    "bench",
    "cells",
    "claim",
    "curves",
    "figures",
    "finished",
    "pairs_of",
    "parted",
    "planned",
    "read_bench",
    "read_row",
    "table",
    "write_bench_report",
]
