"""Which folders of a Go module hold benchmarks: programs that are called so, and functions of tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

_CALLED = re.compile(r"(^|/)(bench|perf|speed)|(bench|benchmarks?|perf|speed)(/|$)", re.IGNORECASE)
_SERVES = re.compile(r"(server|daemon|client|proxy)$", re.IGNORECASE)
_BENCH = re.compile(r"^func Benchmark\w*\(", re.MULTILINE)
_PACKAGE = re.compile(r"^package (\w+)", re.MULTILINE)
_CONSTRAINT = re.compile(r"^//\s*(?:go:build|\+build)\b(?! (?:linux|unix|go1\.\d+)\s*$)", re.MULTILINE)


def go_folders(paths: Sequence[str], read: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """The folders of programs whose name begins or ends as that of a benchmark, and those with functions
    ``Benchmark...``.

    ``go build`` takes no file of another module, of ``testdata`` or of a hidden folder, and none with a constraint.
    """
    modules = tuple(f"{PurePosixPath(one).parent}/" for one in paths if one.endswith("/go.mod"))
    programs: dict[str, None] = {}
    tested: dict[str, None] = {}
    for path in paths:
        if not path.endswith(".go") or path.startswith(modules) or _is_left_out(path):
            continue
        folder, text = str(PurePosixPath(path).parent), read(path)
        package = _PACKAGE.search(text)
        if package is not None and _CONSTRAINT.search(text[: package.start()]):
            continue
        if path.endswith("_test.go"):
            tested |= {folder: None} if _BENCH.search(text) else {}
        elif package and package[1] == "main" and _CALLED.search(folder) and not _SERVES.search(folder):
            programs[folder] = None
    return list(programs), list(tested)


def _is_left_out(path: str) -> bool:
    return any(one.startswith(("_", ".")) or one in ("testdata", "vendor") for one in PurePosixPath(path).parts)
