"""Which Python files are benchmarks that do something when they are run, the likeliest first."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

_TEST = re.compile(r"(^|/)(tests?|testing|spec)/|(^|/)(test_[^/]*|[^/]*_test)\.py$", re.IGNORECASE)
_PREPARES = frozenset({"sys", "os", "logging", "warnings", "site"})  # modules whose functions only prepare,
_PASSES_ON = frozenset({"exit", "_exit", "write"})  # but for these, where what they are given is called
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp
_NOTHING, _PERHAPS, _SURELY = range(3)


def scripts(paths: Sequence[str], read: Callable[[str], str], called: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """The scripts whose path is ``called`` as benchmarks are, and those that may only define something; of each first
    those whose name is called so, and with a ``__main__``.

    Files that begin with ``_`` are helpers of others, and so are those that only define and import.
    """
    asked = (one for one in paths if one.endswith(".py") and called.search(one) and not _TEST.search(one))
    works = {one: _works(one, read(one)) for one in asked}

    def rank(path: str) -> tuple[bool, bool]:
        return called.search(PurePosixPath(path).name) is None, "__main__" not in read(path)

    surely, perhaps = ([one for one, how in works.items() if how == level] for level in (_SURELY, _PERHAPS))
    return sorted(surely, key=rank), sorted(perhaps, key=rank)


def _works(path: str, text: str) -> int:
    name = PurePosixPath(path).name
    if name == "__main__.py" or name.startswith(("_", "conftest.", "setup.")):
        return _NOTHING
    try:
        return _most(ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _SURELY if "__main__" in text else _NOTHING


def _most(body: Sequence[ast.stmt]) -> int:
    return max(map(_work, body), default=_NOTHING)


def _work(one: ast.stmt) -> int:
    """Whether a statement of a module does more than define, import and prepare."""
    if isinstance(one, ast.If):
        return _SURELY if "__main__" in ast.dump(one.test) else _most([*one.body, *one.orelse])
    if isinstance(one, ast.Try | ast.TryStar):  # its handlers prepare for what is not there
        return _most([*one.body, *one.orelse, *one.finalbody])
    if isinstance(one, ast.Raise):  # SystemExit(main())
        return _SURELY if isinstance(one.exc, ast.Call) and _is_given_a_call(one.exc) else _NOTHING
    if isinstance(one, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign):
        found = _of_value(one.value)
        return found if isinstance(one, ast.Expr) else min(found, _PERHAPS)
    return _SURELY if isinstance(one, ast.For | ast.While | ast.With) else _NOTHING


def _of_value(value: ast.expr | None) -> int:
    if not isinstance(value, ast.Call):
        return _PERHAPS if isinstance(value, _COMPREHENSIONS) else _NOTHING
    first: ast.expr = value.func
    while isinstance(first, ast.Attribute):
        first = first.value
    if not (isinstance(first, ast.Name) and first.id in _PREPARES):
        return _SURELY
    is_passed_on = isinstance(value.func, ast.Attribute) and value.func.attr in _PASSES_ON
    return _SURELY if is_passed_on and _is_given_a_call(value) else _NOTHING


def _is_given_a_call(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Call) for one in call.args)
