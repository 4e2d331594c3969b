"""Which cases of a family of tests `make test` runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], quick: int) -> list[Any]:
    """All cases of a family; those after the first ``quick`` run in the long suite alone."""
    return [case if number < quick else _slow(case) for number, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
