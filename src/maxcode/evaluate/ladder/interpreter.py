"""How the programs of a problem are started: as their language says, or by the interpreter of a virtual environment.

The sandbox shows such an interpreter and its packages read-only, and the host's /usr with them, as for Python
functions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from maxcode.code.languages import Language, language
from maxcode.core.types import Problem
from maxcode.evaluate.python.runtime import PythonRuntime, find_python
from maxcode.sandbox.binds import Binds
from maxcode.sandbox.sealed import INTERPRETER


def tongue_of(problem: Problem) -> Language:
    """The language of a problem, with the interpreter that the user chose."""
    plain = language(problem.language)
    return _with(plain, problem.spec.venv) if problem.spec.venv else plain


def binds_of(problem: Problem) -> Binds:
    """What the sandbox shows for that interpreter.  InputError where that has tests that are held out."""
    if not problem.spec.venv:
        return ()
    return _without_tests(problem.spec.venv, problem.spec.folder if problem.spec.held_out else "")


def named(venv: str) -> str:
    """The interpreter of a virtual environment in words, without the place of its folder."""
    return f"{_found(venv).version} of the virtual environment {Path(venv).name}"


@lru_cache(maxsize=8)
def _found(venv: str) -> PythonRuntime:
    return find_python(venv)  # once a process: each run of a race asks


@lru_cache(maxsize=8)
def _without_tests(venv: str, folder: str) -> Binds:
    if folder:
        _found(venv).refuse_shown(Path(folder), "the problem with its tests in")
    return _found(venv).binds


@lru_cache(maxsize=8)
def _with(plain: Language, venv: str) -> Language:
    """The packages are found by a variable, which ``-I`` would not let the interpreter read."""
    found = _found(venv)
    return replace(
        plain,
        tools=(found.python,),
        build=tuple(found.python if word == INTERPRETER else word for word in plain.build),
        run=(found.python, "-s", "{artefact}"),
        variables=(*plain.variables, *found.variables, f"PYTHONPATH={':'.join(found.paths)}"),
        runtime=found.sealed,
        package="",
    )
