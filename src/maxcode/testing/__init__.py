"""Tools for tests: doubles that keep the contracts of the roles, and suites that check other implementations.

With them, tests need no mocks.
"""

from __future__ import annotations

from maxcode.testing.conformance import Exam, violations
from maxcode.testing.doubles import Echo, FakeClock, Scripted, ScriptedModel, Table, exact_timing, toy_problem
from maxcode.testing.nodes import TableNode, TableNodes

__all__ = [
    "Echo",
    "Exam",
    "FakeClock",
    "Scripted",
    "ScriptedModel",
    "Table",
    "TableNode",
    "TableNodes",
    "exact_timing",
    "toy_problem",
    "violations",
]
