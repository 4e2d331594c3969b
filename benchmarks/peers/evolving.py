"""One search with another tool: the scorer in its own process, the tool in its own interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.watch import watched

HERE = Path(__file__).parent
DRIVERS = {"openevolve": "openevolve_run.py", "gepa": "gepa_run.py", "shinka": "shinka_run.py"}


@dataclass(frozen=True)
class Search:
    """The task of a tool of ``DRIVERS``.  ``python``: the interpreter of its environment; ``naive``: use a user's own
    score."""

    tool: str
    python: str
    url: str
    model: str
    source: Path
    out: Path
    budget: int
    seed: int
    parallel: int
    naive: bool


@contextmanager
def scoring(source: Path) -> Iterator[Path]:
    """The socket of a scorer for the problem in ``source``; the scorer runs inside the block."""
    with tempfile.TemporaryDirectory(prefix="scorer-") as folder:
        path = Path(folder) / "scorer.sock"
        command = [sys.executable, str(HERE / "scorer.py"), str(source), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as scorer:
            try:
                assert scorer.stdout is not None
                if not scorer.stdout.readline():
                    raise SystemExit(f"the scorer for {source} ended with status {scorer.wait()} before it was ready")
                yield path
            finally:
                scorer.terminate()


def evolve(search: Search) -> dict[str, Any]:
    """The tool's result: ``best`` and ``programs`` with its own scores, as in ``found.json``."""
    with scoring(search.source) as path:
        words = [search.python, str(HERE / DRIVERS[search.tool]), "search", "--socket", str(path)]
        words += ["--url", search.url, "--model", search.model, "--out", str(search.out), "--seed", str(search.seed)]
        words += ["--iterations", str(search.budget), "--parallel", str(search.parallel)]
        watched(words + (["--naive"] if search.naive else []), {}, memory=False)
    found: dict[str, Any] = json.loads((search.out / "found.json").read_text())
    return found
