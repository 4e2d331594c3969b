"""Small git repositories that tests make: one in Python, one in C, each with tests and a benchmark."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from maxcode.core.types import Problem, Program
from maxcode.problems import load

WORDS = '''"""Counts words."""


def count(text):
    found = {}
    for word in text.split():
        keys = list(found)
        if word in keys:
            found[word] = found[word] + 1
        else:
            found[word] = 1
    return found


def longest(text):
    best = ""
    for word in text.split():
        if len(word) > len(best):
            best = word
    return best
'''
SLOW_LINE, FAST_LINE = "keys = list(found)", "keys = found"
TESTS = """import unittest

from words import count, longest


class TestWords(unittest.TestCase):
    def test_count(self):
        self.assertEqual(count("a b a"), {"a": 2, "b": 1})

    def test_longest(self):
        self.assertEqual(longest("a bcd ef"), "bcd")


if __name__ == "__main__":
    unittest.main()
"""
BENCH = """import sys
import time
import zlib

from words import count

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 7919
began = time.perf_counter()
text = " ".join(str(i * (seed | 1) % 997) for i in range(10000))
found = count(text)
SHOWN
print(f"took {time.perf_counter() - began:.6f} s")
"""
PYTHON_FILES = {
    "src/words/__init__.py": WORDS,
    "tests/test_words.py": TESTS,
    "bench/run.py": BENCH.replace("SHOWN", 'print("checksum", zlib.crc32(repr(sorted(found.items())).encode()))'),
    "bench/quiet.py": BENCH.replace("SHOWN", ""),
}
PYTHON_TOML = """kind = "repo"
edit = ["src/**"]
tests = "python3 -m unittest discover -s tests"
benchmark = "python3 bench/run.py"
env = { PYTHONPATH = "{repo}/src" }
"""
C_SOURCE = """#include "sums.h"

/* The sum of all pairs. */
double all_pairs(const double *values, int count) {
    double total = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) total += values[i] * values[j];
    return total;
}
"""
C_FAST = """#include "sums.h"

/* The sum of all pairs: every value is a small integer, so that each order of the additions gives the same. */
double all_pairs(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum * sum;
}
"""
C_FILES = {
    "src/sums.c": C_SOURCE,
    "src/sums.h": "double all_pairs(const double *values, int count);\n",
    "tests/check.c": """#include <stdio.h>
#include <string.h>

#include "sums.h"

int main(void) {
    const double values[] = {1, 2, 3};
    const double want = 36;
    double got = all_pairs(values, 3);
    if (memcmp(&got, &want, sizeof got) != 0) return 1;
    printf("1 passed\\n");
    return 0;
}
""",
    "bench/bench.c": """#include <stdio.h>
#include <stdlib.h>

#include "sums.h"

int main(int argc, char **argv) {
    static double values[12000];
    unsigned state = argc > 1 ? (unsigned)atoi(argv[1]) : 1u;
    for (int i = 0; i < 12000; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = state >> 28;
    }
    printf("sum %.0f\\n", all_pairs(values, 12000));
    return 0;
}
""",
    "Makefile": """all: check bench_sums
check: tests/check.c src/sums.o
\tgcc -O2 -Isrc tests/check.c src/sums.o -o check
bench_sums: bench/bench.c src/sums.o
\tgcc -O2 -Isrc bench/bench.c src/sums.o -o bench_sums
src/sums.o: src/sums.c src/sums.h
\tgcc -O2 -c src/sums.c -o src/sums.o
""",
}
C_TOML = """kind = "repo"
edit = ["src/*"]
build = "make"
tests = "./check"
benchmark = "./bench_sums {seed}"
"""


def git(folder: Path, *words: str) -> str:
    """Runs git as a user of its own; its output."""
    own = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", "-C", str(folder), *own, *words], capture_output=True, text=True, check=True).stdout


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Writes files below a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def made(folder: Path, files: Mapping[str, str], toml: str) -> Path:
    """A repository with these files in one commit, and its problem.toml, which is not committed."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    (folder / "problem.toml").write_text(toml)
    return folder / "problem.toml"


def problem_of(toml: Path) -> Problem:
    """The problem that it describes."""
    return load(toml).problem


def patched(problem: Problem, edits: Mapping[str, str]) -> Program:
    """The files to edit with these texts in their places."""
    return Program({**problem.program.files, **edits})
