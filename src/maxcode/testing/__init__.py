"""What tests need and ships with the package: doubles that keep the roles' contracts, and suites that hold others to
them.  Nothing has to be mocked.
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
