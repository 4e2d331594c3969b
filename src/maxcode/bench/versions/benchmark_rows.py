"""Reads the results of benchmark tools: one value for each benchmark, less is faster.

    pytest     JSON of pytest-benchmark (--benchmark-json): the least seconds of each benchmark
    google     JSON of Google Benchmark (--benchmark_format=json): CPU or real time, by the goal; the least repetition
    criterion  the folder of criterion (target/criterion): ``new/estimates.json`` of each benchmark, the median
    go         text of ``go test -bench``: ns/op, after the package; the least if one appears more than once (-count)
    metric     lines METRIC name=value; the least if a name appears more than once

These values are what the benchmark itself says: a program that wants to deceive can print any number.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from maxcode.core.printable import printable
from maxcode.core.types import Clock
from maxcode.errors import InputError, unknown
from maxcode.sandbox.session_layout import is_below

Rows = dict[str, float]
_GO = re.compile(r"^(?:pkg: (\S+)|(Benchmark\S+)\s+\d+\s+([\d.eE+]+) ns/op)", re.MULTILINE)
_METRIC = re.compile(r"^METRIC\s+([^\s=]+)=(\S+)\s*$", re.MULTILINE)
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def check_format(read: str) -> None:
    """InputError if ``read`` (FORMAT or FORMAT:PATH) is not a known format, or needs a path."""
    name, _, path = read.partition(":")
    if name not in READERS:
        raise unknown("format of --read", name, READERS)
    if name == "criterion" and not path:
        raise InputError(f"criterion writes a folder: --read criterion:/tmp/criterion, with {_MOVES[name]} COMMAND")


def refuse_old_results(read: str) -> None:
    """InputError if a run in the sandbox, where a side is read-only, cannot have written what is read: it is old."""
    name, _, path = read.partition(":")
    if path and not is_below(path, "/tmp"):
        raise InputError(
            f"--read {read}: in the sandbox a side is read-only, so {path} can hold results of earlier runs alone; let "
            f"the command write below /tmp ({_MOVES[name]}), and give --read {name}:/tmp/PATH"
        )


_MOVES = {
    "pytest": "--benchmark-json=/tmp/b.json", "google": "--benchmark_out=/tmp/b.json --benchmark_out_format=json",
    "criterion": "env CRITERION_HOME=/tmp/criterion", "go": "sh -c '... > /tmp/rows'",
    "metric": "sh -c '... > /tmp/rows'",
}  # fmt: skip


def rows_of(read: str, stdout: bytes, files: Mapping[str, bytes], goal: Clock) -> Rows:
    """The values of a run, by benchmark.  ``files``: what lies at PATH, by its path.  InputError if there is none, or
    a value that is not a positive number."""
    name, _, path = read.partition(":")
    texts = files if path else {"stdout": stdout}
    try:
        found = READERS[name](texts, goal)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InputError(f"the results are not those of {name} ({error!r}); choose the format with --read") from error
    rows = _least((printable(row), value) for row, value in found.items())  # a side chooses its names
    if not rows:
        raise InputError(f"the run gave no results of {name} in {path or 'its output'}; check the command and --read")
    for row, value in rows.items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"benchmark {row} gives {value}; a time is a positive number")
    return rows


def _least(found: Iterable[tuple[str, float]]) -> Rows:
    rows: Rows = {}
    for name, value in found:
        rows[name] = min(value, rows.get(name, value))
    return rows


def _pytest(texts: Mapping[str, bytes], goal: Clock) -> Rows:
    return _least(
        (str(one.get("fullname") or one["name"]), float(one["stats"]["min"]))
        for text in texts.values()
        for one in json.loads(text)["benchmarks"]
    )


def _google(texts: Mapping[str, bytes], goal: Clock) -> Rows:
    key = "real_time" if goal == "wall" else "cpu_time"
    return _least(
        (str(one.get("run_name") or one["name"]), float(one[key]) * _UNITS[one.get("time_unit", "ns")])
        for text in texts.values()
        for one in json.loads(text)["benchmarks"]
        if one.get("run_type", "iteration") == "iteration" and not one.get("error_occurred")
    )


def _criterion(texts: Mapping[str, bytes], goal: Clock) -> Rows:
    found: list[tuple[str, float]] = []
    for path, text in texts.items():
        parts = path.split("/")
        if parts[-2:] == ["new", "estimates.json"]:
            estimates: Mapping[str, Any] = json.loads(text)
            found.append(("/".join(parts[1:-2]), float(estimates["median"]["point_estimate"]) * _UNITS["ns"]))
    return _least(found)


def _go(texts: Mapping[str, bytes], goal: Clock) -> Rows:
    return _least(found for text in texts.values() for found in _of_packages(text.decode(errors="replace")))


def _of_packages(text: str) -> Iterator[tuple[str, float]]:
    """Each benchmark by its package, since several can have one of the same name."""
    package = ""
    for named, benchmark, value in _GO.findall(text):
        if named:
            package = f"{named}."
        else:
            yield package + benchmark, float(value) * _UNITS["ns"]


def _metric(texts: Mapping[str, bytes], goal: Clock) -> Rows:
    lines = (text.decode(errors="replace") for text in texts.values())
    return _least((name, float(value)) for text in lines for name, value in _METRIC.findall(text))


READERS: Mapping[str, Callable[[Mapping[str, bytes], Clock], Rows]] = {
    "pytest": _pytest, "google": _google, "criterion": _criterion, "go": _go, "metric": _metric,
}  # fmt: skip
