"""Rows that are appended to a file at once, so that a long measurement can be interrupted and resumed; tables."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

Row = dict[str, Any]


@final
class Rows:
    """A file of JSON lines.  A torn last line of a killed process is dropped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.read_bytes() if path.exists() else b""
        kept = whole[: whole.rfind(b"\n") + 1]
        self.found: list[Row] = [json.loads(line) for line in kept.splitlines()]
        if kept != whole:
            path.write_bytes(kept)

    def add(self, row: Row) -> None:
        """Appends a row and flushes it."""
        self.found.append(row)
        with self._path.open("a") as file:
            file.write(json.dumps(row) + "\n")


@final
class Progress:
    """Prints the progress and the time left on stderr, at most every ``every_s`` seconds."""

    def __init__(self, expected_s: Iterable[float], every_s: float = 20.0) -> None:
        self._expected = list(expected_s)
        self._every_s = every_s
        self._began = self._said = time.monotonic()
        self._done = 0
        self._say()

    def step(self) -> None:
        """Counts one more."""
        self._done += 1
        if time.monotonic() - self._said >= self._every_s or self._done == len(self._expected):
            self._say()

    def _say(self) -> None:
        self._said = time.monotonic()
        spent, planned = self._said - self._began, sum(self._expected[: self._done])
        pace = spent / planned if self._done >= 3 and planned else 1.0  # how wrong the expectation is here
        left = pace * sum(self._expected[self._done :])
        print(f"{self._done} of {len(self._expected)} done, about {_spelt(left)} left", file=sys.stderr, flush=True)


def _spelt(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows with the same keys, in columns."""
    if not rows:
        return "(nothing yet)"
    widths = {key: max(len(key), *(len(str(row[key])) for row in rows)) for key in rows[0]}
    lines = ["  ".join(key.ljust(width) for key, width in widths.items())]
    lines += ["  ".join(str(row[key]).ljust(width) for key, width in widths.items()) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
