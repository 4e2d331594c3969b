"""``problem.toml``: its schema is the fields below, its tables are constructor arguments.

    source = "slow.cpp"                # or sources = ["main.cpp", "graph.cpp"]; the first names the language
    statement = "what it does"         # also: id, language, flags = ["-O2"]
    edit = "graph.cpp", include = ["include"], compile_commands = "build/compile_commands.json"      # of several files
    goal = "cpu" | "wall" | "instructions"
    tie_break = "instructions", shared_cores = true
    args = ["-n", "3"], files = ["data.txt"], env = { MODE = "fast" }    # of a program, in every run
    [checker]  kind = "tokens" | "exact" | "float" | "pie" | "command", abs_tol, rel_tol, command
    checker_beside = "pie"             # PIE's own checker is recorded as well, but does not decide
    [limits]   run_s, build_s, memory_mb, output_mb, processes
    kind = "function", [function] ...  # a function instead of a whole program: function_table.py
    kind = "function", [python] ...    # the same of a Python function: python_table.py
    [python]   venv = ".venv"          # of a whole Python program: its interpreter and its packages
    kind = "module", [module] device = "cpu", tolerance, constants = { batch_size = 16 }, domain    # a KernelBench file
    permitted = ["simd", "tiling"]     # the permitted techniques (code/techniques); all if the key is missing
    [tests]    folder, seen = ["0*"], held_out = ["1*"], generator = ["python3", "gen.py", "{seed}"], generated
               size, made             # size of generated inputs, if the generator takes {size}; number of fresh inputs
               domain = ["1..10", "0..100"]  # which values each number of an input may have, in the order of reading

An unknown key is refused with the nearest spelling, a wrong type with the expected one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Literal, final, get_args, get_type_hints

from maxcode.code.domains import domain_of
from maxcode.code.techniques import TECHNIQUES
from maxcode.core.toml_tables import converted
from maxcode.core.types import Checker, Clock, Kind, Limits
from maxcode.errors import InputError, unknown
from maxcode.problems.function_table import FunctionTable
from maxcode.problems.python_table import PythonTable

DESCRIPTION = "problem.toml"
LIMIT_BELOW = 1e8  # of each limit
GENERATED = 4  # inputs to make if a generator is given without a number


@final
@dataclass(frozen=True, slots=True)
class Tests:
    """The table ``[tests]``.

    ``seen``, ``held_out``  patterns for names of tests
    ``generated``           number of generated inputs; None = 4 if there is a generator
    ``size``                the value of ``{size}`` for the generator
    ``made``                number of fresh inputs, which are shown to nobody
    ``domain``              which values each number of an input may have, in the order of reading (``code/domains.py``)
    """

    folder: str = "tests"
    seen: tuple[str, ...] = ()
    held_out: tuple[str, ...] = ()
    generator: tuple[str, ...] = ()
    generated: int | None = None
    size: int = 1000
    made: int = 8
    domain: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class ModuleTable:
    """The table ``[module]``; see ``types.ModuleSpec``."""

    device: Literal["cpu", "cuda"] = "cpu"
    constants: dict[str, int] = field(default_factory=dict)
    tolerance: float = 1e-4
    domain: dict[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Description:
    """The content of ``problem.toml``.  ``flags`` None = the default flags of the language."""

    id: str = ""
    language: str = ""
    source: str = ""
    sources: tuple[str, ...] = ()
    statement: str = ""
    goal: Clock = "cpu"
    tie_break: Literal["", "instructions"] = ""
    shared_cores: bool = False
    edit: str = ""
    include: tuple[str, ...] = ()
    compile_commands: str = ""
    flags: tuple[str, ...] | None = None
    args: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    checker: Checker = field(default_factory=Checker)
    checker_beside: Literal["", "pie"] = ""
    limits: Limits = field(default_factory=Limits)
    tests: Tests = field(default_factory=Tests)
    kind: Kind = "program"
    permitted: tuple[str, ...] | None = None
    function: FunctionTable = field(default_factory=FunctionTable)
    module: ModuleTable = field(default_factory=ModuleTable)
    python: PythonTable = field(default_factory=PythonTable)

    @property
    def paths(self) -> tuple[str, ...]:
        """The source files; the first one is started."""
        return self.sources or (self.source,)


_GOALS = get_args(Clock)
_KINDS = get_args(get_type_hints(Checker)["kind"])


def merged(table: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """``table`` updated with ``overrides``: limits, tests, module and python key by key, every other key (a checker
    too) as a whole."""
    result = dict(table)
    for key, value in overrides.items():
        below = result.get(key)
        join = (
            key in ("limits", "tests", "module", "python") and isinstance(below, Mapping) and isinstance(value, Mapping)
        )
        result[key] = {**below, **value} if join and isinstance(below, Mapping) else value
    return result


def describe(table: Mapping[str, Any], where: str) -> Description:
    """The table as a Description.  ``where`` names the file in errors.  InputError for an unknown key, a wrong type or
    a bad value."""
    _known_value(table, "goal", _GOALS, where)
    _known_value(table, "tie_break", ("instructions",), where)
    _known_value(table, "checker_beside", ("pie",), where)
    _known_value(table, "kind", ("program", "function", "module", "repo"), where)
    _known_value(table.get("checker"), "kind", _KINDS, f"[checker] of {where}")
    found = converted(table, Description, where)
    if found.kind == "function" and found.python != PythonTable():
        found = replace(found, kind="python")
    _sensible(found, where)
    return found


def _known_value(table: object, key: str, known: tuple[str, ...], where: str) -> None:
    value = table.get(key) if isinstance(table, Mapping) else None
    if isinstance(value, str) and value not in known:
        raise unknown(f"{key} in {where}:", value, known)


def _sensible(found: Description, where: str) -> None:
    if found.source and found.sources:
        raise InputError(f"{where} has source and sources; leave one of them out")
    if not found.source and not found.sources:
        raise InputError(f'{where} names no program; write source = "slow.cpp" into it, with the name of yours')
    parts = PurePosixPath(found.id).parts
    if ".." in parts or "/" in parts or not found.id.isprintable():
        raise InputError(f"{where}: id is {found.id!r}; it names the run folder, so it must be a plain name")
    for name in ("run_s", "build_s", "memory_mb", "output_mb", "processes"):
        value = getattr(found.limits, name)
        if not 0 < value < LIMIT_BELOW:
            raise InputError(f"{where}: limits.{name} is {value}; it must be a number above 0 and below 1e8")
    for name in ("abs_tol", "rel_tol"):
        value = getattr(found.checker, name)
        if not (value >= 0 and math.isfinite(value)):
            raise InputError(f"{where}: checker.{name} is {value}; it must be 0 or more")
    if (found.checker.kind == "command") != bool(found.checker.command):
        raise InputError(
            f'{where}: checker.command belongs to kind = "command" and only there; '
            'for your own checker write kind = "command" and command = ["python3", "check.py"]'
        )
    for name in found.permitted or ():
        if name not in TECHNIQUES:
            raise unknown(f"technique in `permitted` of {where}:", name, TECHNIQUES)
    if found.kind == "function" and not found.function.name:
        raise InputError(
            f"{where} names no function; write it into a table: [function] for C and C++, [python] for Python"
        )
    if found.kind != "function" and found.function.name:
        raise InputError(
            f'{where}: the table [function] belongs to kind = "function" in C and C++, and only there; a Python '
            "function has the table [python]"
        )
    if found.kind not in ("python", "program") and found.python != PythonTable():
        raise InputError(f'{where}: the table [python] belongs to kind = "function" or "program", and only there')
    if found.kind == "program" and found.python != PythonTable(venv=found.python.venv):
        raise InputError(
            f'{where}: of the table [python] a whole program has only venv; the other keys belong to kind = "function"'
        )
    if found.kind != "module" and found.module != ModuleTable():
        raise InputError(f'{where}: the table [module] belongs to kind = "module", and only there')
    if not 0 < found.module.tolerance < 1:
        raise InputError(f"{where}: module.tolerance is {found.module.tolerance}; it must be above 0 and below 1")
    for text in found.module.domain.values():
        domain_of(text, {}, whole=False)
    _sensible_generator(found.tests, where)


def _sensible_generator(tests: Tests, where: str) -> None:
    if tests.generated is not None and tests.generated < 0:
        raise InputError(f"{where}: tests.generated is {tests.generated}; it must be a number of inputs, 0 or more")
    for name, value, least in (("size", tests.size, 1), ("made", tests.made, 0)):
        if value < least:
            raise InputError(f"{where}: tests.{name} is {value}; it must be {least} or more")
    for text in tests.domain:
        domain_of(text, {}, whole=True)
    if tests.generated and not tests.generator:
        raise InputError(
            f"{where}: tests.generated is {tests.generated} but there is no generator; "
            'add generator = ["python3", "gen.py", "{seed}"] to [tests]'
        )
    if tests.generator and not any("{seed}" in word for word in tests.generator):
        raise InputError(
            f"{where}: the generator `{' '.join(tests.generator)}` does not take a seed, so all its inputs would be "
            "the same; put {seed} among its arguments"
        )
