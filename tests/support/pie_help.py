"""Rows of our own in both spellings of PIE, and a folder that is laid out as PIE's data is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SLOW = """#include <iostream>
#include <string>
int main() {
    long n;
    std::cin >> n;
    std::string digits;
    for (long i = 1; i <= n; i++) {
        digits = digits + char('0' + i % 10);
        std::cout << digits.size() << std::endl;
    }
}
"""
FAST = """#include <cstdio>
int main() {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    for (long i = 1; i <= n; i++) printf("%ld\\n", i);
}
"""


def older(number: int, **more: Any) -> dict[str, Any]:
    """A row as pie-perf spells it, for problem p00001."""
    return {
        "user_id": "u1", "problem_id": "p00001", "language": "C++", "submission_id_v0": f"s{number}",
        "submission_id_v1": f"s{number + 1000}", "cpu_time_v0": 120, "cpu_time_v1": 10, "input": SLOW, "target": FAST,
        **more,
    }  # fmt: skip


def newer(number: int, **more: Any) -> dict[str, Any]:
    """A row as the ICLR version spells it, for problem p00002."""
    return {
        "problem_id": "p00002", "src_id": f"s{number}", "tgt_id": f"s{number + 1000}", "src_code": SLOW,
        "tgt_code": FAST, "tests": [0, 7], "src_agg_runtime": 0.02, **more,
    }  # fmt: skip


def counts(n: int) -> tuple[str, str]:
    """A test of these programs: input and output."""
    return f"{n}\n", "".join(f"{i}\n" for i in range(1, n + 1))


def write_tests(folder: Path, problem: str, sizes: Mapping[int | str, int]) -> Path:
    """The tests of a problem: index -> n."""
    place = folder / problem
    place.mkdir(parents=True, exist_ok=True)
    for index, n in sizes.items():
        given, expected = counts(n)
        (place / f"input.{index}.txt").write_text(given)
        (place / f"output.{index}.txt").write_text(expected)
    return place


def write_split(folder: Path, name: str, rows: Sequence[Mapping[str, Any] | str]) -> Path:
    """A file NAME.jsonl of rows; a text is a line as it stands."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def data(folder: Path) -> Path:
    """A whole data set: two rows of either spelling in test, one in train, and tests that are not contiguous."""
    write_split(folder, "test", [older(1), older(2), newer(3), newer(4, tests=["7", 12])])
    write_split(folder, "train", [newer(5)])
    write_tests(folder / "tests", "p00001", {0: 3, 4: 5, 10: 9})
    write_tests(folder / "tests", "p00002", {0: 2, 7: 4, 12: 8, 30: 16})
    return folder
