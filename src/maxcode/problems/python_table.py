"""The table ``[python]`` of problem.toml: from text to a ``PythonSpec``.

    [python]
    function = "smooth"       # "Class.method": of an object made once; "package.module:smooth": loaded as that module
    inputs = "inputs.py"      # def inputs(seed, size): the arguments of a call, a tuple
    size = 1000               # given to inputs
    calls = "calls.bin"       # in place of inputs: calls that `maxcode capture` recorded
    is_solution = "check.py"  # optional: def is_solution(*arguments, result) -> bool, in place of equality
    venv = ".venv"            # optional: a virtual environment, whose packages can be imported
    beside = ["helpers.py"]   # optional: further files that can be imported
    tolerance = 1e-9          # optional: of real numbers, relative
    own_arguments = true      # optional: the function may change its arguments, and give their memory back

Paths are relative to the folder of problem.toml.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.files import DATA_AT_MOST, FileKind, read_file
from maxcode.core.types import DataFile, Program, PythonSpec
from maxcode.errors import InputError, unknown

LEAST_CALLS = 4
_FUNCTION = re.compile(r"(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:)?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")


@final
@dataclass(frozen=True, slots=True)
class PythonTable:
    """The table as the user writes it."""

    function: str = ""
    inputs: str = ""
    size: int = 1000
    is_solution: str = ""
    venv: str = ""
    beside: tuple[str, ...] = ()
    tolerance: float | None = None
    calls: str = ""
    own_arguments: bool = False


def python_spec(table: PythonTable, program: Program, folder: Path, read: Callable[[str], str]) -> PythonSpec:
    """The checked table with the texts of its files, which ``read`` gives, and the calls in ``folder``; InputError with
    the key that cannot be used."""
    if not table.function or bool(table.inputs) == bool(table.calls):
        raise InputError(
            "[python] needs `function`, and either `inputs` or `calls`; see docs/how-to/python-functions.md"
        )
    if not _FUNCTION.fullmatch(table.function):
        raise InputError(
            f"[python]: function is '{table.function}'; write the name of a function, Class.method, or "
            "package.module:name"
        )
    if table.size < 1 or not (table.tolerance is None or 0 <= table.tolerance < 1):
        raise InputError("[python]: size must be 1 or more, tolerance 0 or more and below 1")
    if table.own_arguments and not table.is_solution:
        raise InputError("[python]: own_arguments needs is_solution, which is asked with the arguments as they were")
    _require(program.name, next(iter(program.files.values())), table.function.rpartition(":")[2])
    inputs, check = (read(name) if name else "" for name in (table.inputs, table.is_solution))
    for path, text, name in ((table.inputs, inputs, "inputs"), (table.is_solution, check, "is_solution")):
        if path:
            _require(path, text, name)
    venv = str((folder / table.venv).absolute()) if table.venv else ""
    beside = tuple((name, read(name)) for name in table.beside)
    calls = _recorded(folder, table.calls) if table.calls else None
    of_results = table.tolerance, calls, table.own_arguments
    return PythonSpec(table.function, inputs, table.size, check, venv, beside, *of_results)


def _recorded(folder: Path, name: str) -> DataFile:
    content = read_file(folder / name, FileKind("the file of recorded calls", at_most=DATA_AT_MOST))
    if (count := _count(content)) < LEAST_CALLS:
        raise InputError(
            f"{folder / name} has {count} recorded calls, at least {LEAST_CALLS} are needed; record them with "
            "`maxcode capture`"
        )
    return DataFile(name, hashlib.sha256(content).hexdigest(), content)


def _count(content: bytes) -> int:
    """The number of calls in a file of recorded calls; 0 for any other file."""
    count, at = int.from_bytes(content[:8], "little"), 8
    for _ in range(min(2 * count, len(content))):
        at += 8 + int.from_bytes(content[at : at + 8], "little")
    return count if at == len(content) else 0


def _require(path: str, text: str, name: str) -> None:
    """InputError if the file does not define the name at its top, as a function, a class or a value."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{path} is not Python that this version reads: {error}; correct it") from error
    first, _, method = name.partition(".")
    defined = {one: node for node in tree.body for one in _names(node)}
    if first not in defined:
        known = [one for one in defined if not one.startswith("__")]
        raise unknown(f"name in {path}:", first, known) if known else InputError(f"{path} does not define {first}")
    node = defined[first]
    if method and isinstance(node, ast.ClassDef) and not node.bases:
        methods = [one.name for one in node.body if isinstance(one, ast.FunctionDef)]
        if method not in methods:
            raise unknown(f"method of {first} in {path}:", method, methods)


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    stored = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    return [one.id for one in stored]
