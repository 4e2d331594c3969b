"""Run a bench two cells at once, say "evaluated" at the first candidate, and go on: python pool_driver.py OUT."""

from __future__ import annotations

import sys
from pathlib import Path

from maxcode.bench import Pool, bench, cells
from tests.support.bench_help import Watched

if __name__ == "__main__":
    told = Watched(Path(sys.argv[1]), pause_s=0.2)
    pool = Pool(told, 2, lambda cell: print("evaluated", flush=True))
    bench(cells(["one", "three"], ["best-of-n", "cuda-llm"], range(2)), pool)
