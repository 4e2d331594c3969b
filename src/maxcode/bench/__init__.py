"""Problems × methods × seeds: cells -> rows -> one table.

    cells -> bench (runs each open cell, reads the finished ones) -> rows -> table, curves -> text, JSON, CSV

The caller passes the function that runs a cell, so this room imports no evaluator and no policy.
"""

from __future__ import annotations

from maxcode.bench.ablation import Grid, ablated, pairs_of, parted
from maxcode.bench.bench_folder import Planned, claim, planned, read_bench
from maxcode.bench.bench_runs import BenchRun, cells
from maxcode.bench.curves import Curve, curves
from maxcode.bench.eta import Pace
from maxcode.bench.figures import SUITES, Column, figures
from maxcode.bench.format import as_csv, as_json, as_text
from maxcode.bench.page import BenchView, write_bench_report
from maxcode.bench.pool import Pool
from maxcode.bench.rows import BenchRow, Cost, finished, read_row
from maxcode.bench.runner import BenchState, Event, RunDone, RunFailed, RunOne, Runs, RunStarted, bench
from maxcode.bench.table import Contrast, MethodTable, Summary, TableRequest, table
from maxcode.bench.trace import AXES, Axis, Trace

__all__ = [
    "AXES",
    "SUITES",
    "Axis",
    "BenchRow",
    "BenchRun",
    "BenchState",
    "BenchView",
    "Column",
    "Contrast",
    "Cost",
    "Curve",
    "Event",
    "Grid",
    "MethodTable",
    "Pace",
    "Planned",
    "Pool",
    "RunDone",
    "RunFailed",
    "RunOne",
    "RunStarted",
    "Runs",
    "Summary",
    "TableRequest",
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
