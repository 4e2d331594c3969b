"""The suite ``algotune``: AlgoTune's tasks as Python functions, and the solvers that models have published.

    algotune:convex_hull   algotune:convex_hull/GPT-5   algotune:all   algotune:all/o4-mini   algotune:convex_hull@2000

``$MAXCODE_ALGOTUNE`` is a checkout of AlgoTune: AlgoTuneTasks/TASK/TASK.py, reports/generation.json with the size of
each task, and results/MODEL/TASK with the published solvers.  ``@`` gives another size, for a task whose own check
takes too long.  With a model's name its solver is the reference that ``maxcode evaluate --reference`` measures.  The
task's own ``generate_problem`` makes the inputs, from fresh secret seeds, and its own ``is_solution`` decides.  A call
gets what AlgoTune's solvers get: a problem as it comes out of a stored data set (``_INPUTS_TEXT``), which is its own.
Packages come from the virtual environment in ``.venv`` of the checkout, or from that in ``$MAXCODE_ALGOTUNE_VENV``;
without one there is only the standard library.

The text of a task is used as it is, with one line behind it that gives its class the name ``Solver``.  The base class
of the tasks is replaced by a small one of our own, because AlgoTune's loads its whole harness.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from maxcode.core.files import read_text
from maxcode.core.types import Program
from maxcode.errors import InputError, unknown
from maxcode.problems.suite import Given, LeftOut, Listing, Origin, Source, folder_of, sha256

ALGOTUNE = "algotune"
PREFIX = ALGOTUNE + ":"
VARIABLE, VENV = "MAXCODE_ALGOTUNE", "MAXCODE_ALGOTUNE_VENV"
ALL = "all"
SOLVER = "solver.py"
LIMITS = {"run_s": 60, "memory_mb": 4096}  # the checks of some tasks take many times as long as their solvers
_HOW = f"clone https://github.com/oripress/AlgoTune and set {VARIABLE} to the folder, which contains AlgoTuneTasks"
_TASK = "algotune_task.py"
_BASE = "AlgoTuneTasks/base.py"
_BASE_TEXT = '''"""In place of AlgoTune's base class: what a task needs of it to generate, to solve and to check."""


def register_task(name):
    return lambda task: task


class Task:
    def __init__(self, n=None, **kwargs):
        self.n, self.k, self.oracle = n, None, self.solve
'''
_INPUTS_TEXT = '''"""The task's own generator; problems as AlgoTune stores them (AlgoTuner/utils/serialization.py)."""

from algotune_task import Solver

try:
    import numpy
except ImportError:
    numpy = None
LARGE = 100 * 1024  # bytes; from here on numbers in lists are stored as an array of float64
_task = Solver()


def inputs(seed, size):
    return (stored(_task.generate_problem(size, random_seed=seed % 2**31)),)


def stored(value):
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    if type(value) is dict:
        return {key_of(key): stored(one) for key, one in value.items()}
    if type(value) is tuple:
        return tuple(map(stored, value))
    if type(value) is not list:
        return value
    found = as_array(value)
    return list(map(stored, value)) if found is None else found


def key_of(key):
    text = str(key)
    try:
        return int(text) if text.lstrip("-").isdigit() else text
    except ValueError:
        return text


def as_array(values):
    if numpy is None or not values or not isinstance(values[0], (list, int, float, numpy.number)):
        return None
    try:
        found = numpy.asarray(values, dtype=float)
    except Exception:
        return None
    return found if found.nbytes > LARGE else None
'''
_CHECK_TEXT = '''"""The task's own check."""

from algotune_task import Solver

_task = Solver()


def is_solution(problem, result):
    return bool(_task.is_solution(problem, result))
'''


@final
class AlgoTune:
    def listing(self, words: str) -> Listing:
        """One task, or all of them in the order of their names; unusable ones are left out, with the reason."""
        asked = _asked(words)
        task, place, found = asked.task, _place(), Listing()
        for one in _tasks(place) if task == ALL else [task]:
            full = f"{PREFIX}{replace(asked, task=one)}"
            try:
                _given(place, replace(asked, task=one))
            except InputError as error:
                if task != ALL:
                    raise
                found += Listing(left_out=(LeftOut(full, str(_file(place, one)), str(error)),))
            else:
                found += Listing((Source(Path(full)),))
        return found

    def given(self, words: str) -> Given:
        """The task of that name, with the solver of a model if one is named."""
        asked = _asked(words)
        if asked.task == ALL:
            raise InputError(f"{PREFIX}{words} stands for all tasks; name one of them, e.g. {PREFIX}convex_hull")
        return _given(_place(), asked)


@final
@dataclass(frozen=True, slots=True)
class _Asked:
    """What a name asks for; ``size``: 0: the one of AlgoTune; ``model``: empty: the task alone."""

    task: str
    size: int
    model: str

    def __str__(self) -> str:
        return self.task + (f"@{self.size}" if self.size else "") + (f"/{self.model}" if self.model else "")


def _asked(words: str) -> _Asked:
    named, _, model = words.partition("/")
    task, at, size = named.partition("@")
    if at and not (size.isascii() and size.isdigit() and int(size)):
        raise InputError(
            f"{PREFIX}{words}: the size {size!r} is no whole number above 0; e.g. {PREFIX}convex_hull@2000"
        )
    return _Asked(task or ALL, int(size or 0), model)


def _place() -> Path:
    place = folder_of(VARIABLE, "AlgoTune", _HOW)
    if not (place / "AlgoTuneTasks").is_dir():
        raise InputError(f"{place} has no folder AlgoTuneTasks; {_HOW}")
    return place


def _tasks(place: Path) -> list[str]:
    return sorted(path.stem for path in place.glob("AlgoTuneTasks/*/*.py") if path.stem == path.parent.name)


def _file(place: Path, task: str) -> Path:
    return place / "AlgoTuneTasks" / task / f"{task}.py"


def _given(place: Path, asked: _Asked) -> Given:
    task, model = asked.task, asked.model
    if task not in (known := _tasks(place)):
        raise unknown("task of AlgoTune:", task, known)
    text = read_text(_file(place, task))
    named = f"{text.rstrip()}\n\n\nSolver = {_class_of(text, task)}\n"
    folder = model_folder(place, model) if model else None
    size, more = asked.size or _size(place, task), [str(asked.size)] if asked.size else []
    told = {"size": size} | ({"model": folder.name} if folder is not None else {})
    id_ = "-".join([ALGOTUNE, task, *more, *([slug(folder.name)] if folder is not None else [])])
    reference = _solver(folder / task) if folder is not None else None
    further = {file: "" for file in (reference.files if reference is not None else ()) if file != SOLVER}
    return Given(
        Origin(ALGOTUNE, task, id_, sha256(text), told),
        _table(place, size) | {"sources": [SOLVER, *further]},
        Program({SOLVER: named, **further}),  # both sides have the same files
        texts={"inputs.py": _INPUTS_TEXT, "check.py": _CHECK_TEXT, _TASK: named, _BASE: _BASE_TEXT},
        reference=reference,
    )


def _table(place: Path, size: int) -> dict[str, Any]:
    python = {
        "function": "Solver.solve",
        "inputs": "inputs.py",
        "is_solution": "check.py",
        "size": size,
        "beside": [_TASK, _BASE],
        "own_arguments": True,
    }
    venv = Path(os.environ.get(VENV, "") or place / ".venv")
    if os.environ.get(VENV) or venv.is_dir():
        python["venv"] = str(venv.absolute())
    return {"kind": "function", "language": "python", "python": python, "limits": dict(LIMITS)}


def _class_of(text: str, task: str) -> str:
    """The name of the class of a task."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise InputError(f"the task {task} is not Python that this version reads: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any("register_task" in ast.unparse(one) for one in node.decorator_list):
            return node.name
    raise InputError(f"the task {task} has no class with @register_task")


def _size(place: Path, task: str) -> int:
    """The size that AlgoTune measured for the time that it aims at."""
    path = place / "reports" / "generation.json"
    try:
        table: Mapping[str, Any] = json.loads(read_text(path))
        size = table.get(task, {}).get("n")
    except (ValueError, AttributeError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}); check it out again") from error
    if not isinstance(size, int):
        raise InputError(f"{path} has no size `n` of the task {task}")
    return size


def models(place: Path) -> list[str]:
    """The names of the models that have published solvers."""
    return sorted(path.name for path in (place / "results").glob("*") if path.is_dir())


def model_folder(place: Path, model: str) -> Path:
    """The folder of a model's solvers; upper case, blanks and signs in the name do not matter."""
    found = {slug(name): name for name in models(place)}
    if slug(model) not in found:
        raise unknown("model of AlgoTune:", model, list(found.values()))
    return place / "results" / found[slug(model)]


def slug(name: str) -> str:
    """A name in small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def _solver(folder: Path) -> Program:
    """The published solver; InputError if there is none, or if parts of it must be built first."""
    if not (folder / SOLVER).is_file():
        raise InputError(f"there is no published solver {folder / SOLVER}")
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    if built := [path.name for path in files if path.suffix in (".pyx", ".c", ".cpp", ".so")]:
        raise InputError(f"the solver {folder} has parts that must be built first ({built[0]}); maxcode builds none")
    rest = [path for path in files if path.suffix == ".py" and path.name not in (SOLVER, "setup.py")]
    return Program({path.relative_to(folder).as_posix(): read_text(path) for path in (folder / SOLVER, *rest)})
