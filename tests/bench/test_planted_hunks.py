"""Useless changes that ``benchmarks/hunks.py`` plants: each is a hunk of its own, and the program builds and stays."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hunks import KINDS, are_apart, drawn, planted, tags
from maxcode.code.hunks import hunks_of, without
from maxcode.core.types import Program

C = """#include <stddef.h>

/* the sum of some numbers */
static int sum{0}(const int *all, size_t count)
{{
    int total = 0;
    size_t at;
    for (at = 0; at < count; at++)
    {{
        total += all[at];
    }}

    /* nothing is lost here */
    return total;
}}

int many{0}(int value);

int many{0}(int value)
{{
    int copy = 3;
    int all[2];
    all[0] = value;
    all[1] = value * copy;
    if (value < 0)
        return 0;

    return sum{0}(all, 2);
}}

"""
PYTHON = '''def told{0}(words):
    """Words, told."""
    # each with its length
    found = {{word: len(word) for word in words}}
    total = sum(map(len, words))
    if not found:
        return None

    # and all of them
    return found, total


def longest{0}(words):
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    # the first of them
    return best


'''
GO = """// Told tells a number.
func Told{0}(value int) int {{
	twice := value * 2
	if twice > 10 {{
		// large
		return twice
	}}

	return value + 1
}}

"""
RUST = """// tells a number
pub fn told{0}(value: i32) -> i32 {{
    let twice = value * 2;
    if twice > 10 {{
        // large
        return twice;
    }}

    value + 1
}}

"""
TEXTS = {
    "a.c": C,
    "a.cpp": C,
    "a.py": PYTHON,
    "a.go": GO,
    "a.rs": RUST,
}
STARTS = {"a.go": "package a\n\n"}
CHECKS = {
    "a.c": "gcc -std=c89 -pedantic -Wall -Wextra -Wmissing-prototypes -Wshadow -Werror -fsyntax-only a.c",
    "a.cpp": "g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only a.cpp",
    "a.py": "python3 -m py_compile a.py",
    "a.go": "go vet a.go",
    "a.rs": "rustc --crate-type rlib a.rs",
}


def patch(path: str) -> tuple[Program, Program]:
    base = STARTS.get(path, "") + "".join(TEXTS[path].format(number) for number in range(8))
    old = "total = 0" if path in ("a.c", "a.cpp") else "def told3(words):\n" if path == "a.py" else "value + 1"
    new = {"a.py": "def told3(words):\n    words = tuple(words)\n"}.get(path, f"{old} * 1")
    head, tail = base[: len(base) // 2], base[len(base) // 2 :]
    commit = base.replace(old, new) if path == "a.py" else head + tail.replace(old, new, 1)
    return Program({path: base}), Program({path: commit})


@pytest.mark.parametrize("path", list(TEXTS))
def test_planted_changes_are_hunks_of_their_own_and_leave_nothing_behind(path: str) -> None:
    base, commit = patch(path)
    plants = drawn(base, commit, 6, seed=1)
    assert len(plants) == 6 and len({plant.kind for plant in plants}) >= 4
    assert {plant.kind for plant in plants} <= KINDS.keys()
    files, owners = planted(commit, plants)
    every = hunks_of(base.files, files)
    useless = [hunk for hunk in every if tags(hunk, owners) - {None}]
    assert without(base.files, files, useless) == commit.files
    assert len(every) - len(useless) == len(hunks_of(base.files, commit.files)) == 1
    assert not are_apart(base, commit, [*plants, plants[0]])


@pytest.mark.parametrize("path", list(TEXTS))
def test_a_program_with_planted_changes_builds(path: str, tmp_path: Path) -> None:
    words = CHECKS[path].split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    base, commit = patch(path)
    for seed in range(2):
        files, _ = planted(commit, drawn(base, commit, 12, seed))
        (tmp_path / path).write_text(files[path])
        told = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr


def test_the_same_seed_plants_the_same() -> None:
    base, commit = patch("a.py")
    assert drawn(base, commit, 4, seed=3) == drawn(base, commit, 4, seed=3) != drawn(base, commit, 4, seed=4)
    assert drawn(base, base, 4, seed=3) == []
