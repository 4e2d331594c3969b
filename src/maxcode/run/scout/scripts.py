"""Which Python files are benchmarks that do something when they are run, the likeliest first."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

_TEST = re.compile(r"(^|/)(tests?|testing|spec)/|(^|/)(test_[^/]*|[^/]*_test)\.py$", re.IGNORECASE)
_PREPARES = frozenset({"sys", "os", "logging", "warnings", "site"})  # modules whose functions only prepare


def scripts(paths: Sequence[str], read: Callable[[str], str], called: re.Pattern[str]) -> list[str]:
    """The scripts whose path is ``called`` as benchmarks are: first those whose name is, and with a ``__main__``.

    Files that begin with ``_`` are helpers of others, and so are those that only define and import.
    """
    found = [
        one
        for one in paths
        if one.endswith(".py") and called.search(one) and not _TEST.search(one) and _works(one, read(one))
    ]

    def rank(path: str) -> tuple[bool, bool]:
        return called.search(PurePosixPath(path).name) is None, "__main__" not in read(path)

    return sorted(found, key=rank)


def _works(path: str, text: str) -> bool:
    name = PurePosixPath(path).name
    if name == "__main__.py" or name.startswith(("_", "conftest.", "setup.")):
        return False
    try:
        return any(map(_is_work, ast.parse(text).body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "__main__" in text


def _is_work(one: ast.stmt) -> bool:
    """Whether a statement of a module does more than define, import and prepare."""
    if isinstance(one, ast.If):
        return "__main__" in ast.dump(one.test) or any(map(_is_work, [*one.body, *one.orelse]))
    if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
        first: ast.expr = one.value.func
        while isinstance(first, ast.Attribute):
            first = first.value
        return not (isinstance(first, ast.Name) and first.id in _PREPARES)
    return isinstance(one, ast.For | ast.While | ast.With)
