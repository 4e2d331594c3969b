"""Tests that must fail: they show that a test command reports what happens, whatever the candidate's process says.

A patch could end the process of the tests early, with status 0 and the summary of base.  So the winner's tests run once
more with one test added to one of base's test files, which compares two sums of random numbers that differ.  The run
must fail.  A candidate cannot know the test without running it; but it runs in the candidate's process, so it could
still be found and left out: the level of trust stays "own tests only".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

_WORDS = ("order", "size", "merge", "empty", "split", "load", "parse", "pack", "limit", "range", "shape", "value")


def _in_python(name: str, sums: tuple[int, int, int]) -> str:
    one, two, total = sums
    head = f"import unittest as _{name}_base\n\n\nclass Test{name.title().replace('_', '')}(_{name}_base.TestCase):"
    return f"\n\n{head}\n    def test_{name}(self):\n        self.assertEqual({one} + {two}, {total})\n"


def _in_go(name: str, sums: tuple[int, int, int]) -> str:
    one, two, total = sums
    called = name.title().replace("_", "")
    body = f"\tif got := {one} + {two}; got != {total} {{\n\t\tt.Fatal(got)\n\t}}"
    return f"\n\nfunc Test{called}(t *testing.T) {{\n{body}\n}}\n"


def _in_rust(name: str, sums: tuple[int, int, int]) -> str:
    one, two, total = sums
    return f"\n\n#[test]\nfn {name}() {{\n    assert_eq!({one} + {two}, {total});\n}}\n"


def _in_javascript(name: str, sums: tuple[int, int, int]) -> str:
    one, two, total = sums
    return f"\n\ntest('{name}', () => {{ if ({one} + {two} !== {total}) throw new Error('{one + two}') }})\n"


def _writer(path: str) -> Callable[[str, tuple[int, int, int]], str] | None:
    name = PurePosixPath(path).name
    if name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py")):
        return _in_python
    if name.endswith("_test.go"):
        return _in_go
    if name.endswith(".rs") and "tests" in PurePosixPath(path).parts[:-1]:
        return _in_rust
    if name.endswith((".test.js", ".spec.js", ".test.ts", ".spec.ts", ".test.mjs")):
        return _in_javascript
    return None


def places(files: Mapping[str, str]) -> list[str]:
    """The test files that can take such a test, the smallest first."""
    return sorted((path for path in files if _writer(path) is not None), key=lambda path: len(files[path]))


def with_failing_test(path: str, text: str) -> str:
    """A test file with one more test, which fails."""
    chance = random.SystemRandom()
    one, two = chance.randrange(1000, 1_000_000), chance.randrange(1000, 1_000_000)
    total = one + two + chance.choice((-1, 1)) * chance.randrange(1, 1000)
    name = "_".join(chance.sample(_WORDS, 2)) + f"_{chance.randrange(10, 99)}"
    write = _writer(path)
    assert write is not None
    head, mark, tail = text.partition("\nif __name__ ==")
    return head.rstrip("\n") + write(name, (one, two, total)) + mark + tail
