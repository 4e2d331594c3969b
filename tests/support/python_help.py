"""Python functions of our own as problems, and the environment that they run in."""

from __future__ import annotations

import sys
from pathlib import Path

from maxcode.core.types import Limits, Problem, Program, ProgramSpec, PythonSpec

ENVIRONMENT = sys.prefix  # that of the tests, which has numpy and scipy


def problem_of(
    source: str,
    inputs: str,
    function: str = "",
    check: str = "",
    venv: str = "",
    name: str = "slow.py",
    run_s: float = 2.0,
) -> Problem:
    """A Python function; its name is that of the first function of the source if it is not given."""
    function = function or source.partition("def ")[2].partition("(")[0]
    spec = PythonSpec(function, inputs, check=check, venv=venv)
    program = Program({name: source})
    return Problem(function, "python", "python", program, ProgramSpec(python=spec, limits=Limits(run_s=run_s)))


def of_folder(folder: Path, name: str) -> Problem:
    """The problem of the files ``NAME.py``, ``NAME_inputs.py`` and perhaps ``NAME_check.py``."""
    source, inputs = ((folder / f"{name}{ending}.py").read_text() for ending in ("", "_inputs"))
    check = folder / f"{name}_check.py"
    venv = ENVIRONMENT if "numpy" in source else ""
    return problem_of(source, inputs, check=check.read_text() if check.exists() else "", venv=venv)
