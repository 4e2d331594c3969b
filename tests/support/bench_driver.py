"""Run a small bench and die by SIGKILL after so many recorded parts: python bench_driver.py OUT PARTS (0 = never)."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from maxcode.bench import SUITES, TableRequest, as_json, bench, cells, curves, finished, table
from maxcode.run.record import Line
from tests.support.bench_help import runner

CELLS = cells(["one", "three"], ["best-of-n", "cuda-llm"], range(2))


def main(out: str, parts: str) -> None:
    left = int(parts)

    def watch(line: Line) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    folder = Path(out)
    found = bench(CELLS, runner(folder, watch=watch), lambda cell: finished(cell, folder / cell.name, 6))
    drawn = [curve for axis in ("candidates", "depth") for curve in curves(found.rows, axis)]
    print(as_json(table(found.rows, TableRequest(tuple(SUITES), CELLS)), found, drawn))


if __name__ == "__main__":
    main(*sys.argv[1:])
