"""From a path or a name to a ``Problem``: the one entry point of this package.

A bare source file becomes the same ``Description`` that a ``problem.toml`` holds, so the rest is the same code.  Order
of checks: the description, the program, the flags, the commands, the tests; the first failure is reported.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, final

from maxcode.code.languages import LANGUAGES, Language, language, language_of
from maxcode.core.files import FileKind, read_text, read_toml
from maxcode.core.types import (
    KINDS,
    Case,
    Checker,
    Clock,
    ModuleSpec,
    Problem,
    Program,
    ProgramSpec,
)
from maxcode.errors import InputError, unknown
from maxcode.evaluate.python.runtime import find_python
from maxcode.problems.bounded import bounded
from maxcode.problems.cases import Split, find_cases, made_outputs, split
from maxcode.problems.description import DESCRIPTION, GENERATED, Description, describe, merged
from maxcode.problems.function_table import function_spec
from maxcode.problems.given_paths import GivenPaths, apart
from maxcode.problems.kernelbench import is_contract
from maxcode.problems.mixture import is_mixture
from maxcode.problems.python_table import python_spec
from maxcode.problems.recipe import Place, Recipe, recipe_of
from maxcode.problems.repository import KIND, repository
from maxcode.problems.started_with import data_files
from maxcode.problems.suite import Given, Origin
from maxcode.problems.suites import SUITES, given, is_named

_SCRIPT = re.compile(r"[^-{].*\.(py|sh|pl|rb|js|lua|awk)")


@final
@dataclass(frozen=True, slots=True)
class Loaded:
    """A problem with notes for the user.  ``origin``: its place in a suite, if it is from one; ``reference``: that
    suite's own faster version, which no policy sees; ``recipe``: how its files are built."""

    problem: Problem
    notes: tuple[str, ...] = ()
    origin: Origin | None = None
    reference: Program | None = None
    recipe: Recipe | None = None


@final
@dataclass(frozen=True, slots=True)
class _Material:
    """What belongs to a description: its folder, and the tests and texts that a user or a suite gives instead of files
    there; ``given``: paths of the command line."""

    base: Path = Path()
    tests: Path | None = None
    program: Program | None = None
    cases: tuple[Case, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    given: GivenPaths = field(default_factory=GivenPaths)


def load(source: Path, tests: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Loaded:
    """Read a problem.

    ``source`` is a source file (with ``tests``), a folder with ``problem.toml``, the path of such a file, or the name
    of a suite's problem (``kernelbench:1/19``; ``suites.py``).  ``tests`` replaces the folder of tests.  ``overrides``
    are keys of ``problem.toml`` that replace those in the file; the tables limits, tests, module and python are merged
    key by key, a checker replaces the whole checker.  ``files``, ``include`` and ``compile_commands`` may also be the
    Paths of a command line (``given_paths.py``).  Raises InputError, with a remedy, for everything that cannot be used.
    """
    if is_named(source):
        if tests is not None:
            raise InputError(f"{source} brings its own tests, if it has any; leave out --tests")
        return from_given(given(source), overrides or {})
    overrides, paths = apart(overrides or {})
    if not os.path.lexists(source):
        raise _missing(source)
    if is_mixture(source):
        raise InputError(f"{source} is a suite of several problems; give it to `maxcode bench`, or name one of them")
    if source.is_dir() or source.suffix == ".toml":
        path = source / DESCRIPTION if source.is_dir() else source
        if not os.path.lexists(path):
            raise InputError(f"the folder {source} has no {DESCRIPTION}; write one, or {_with_tests(source)}")
        table = merged(read_toml(path), overrides)
        if table.get("kind") == KIND:
            return _repository(table, path, tests, paths)
        found = describe(table, str(path))
        material = _Material(path.parent, tests, given=paths)
        return _assemble(found, material, found.id or path.parent.resolve().name)
    loaded = _bare(source, tests, overrides, paths)
    return replace(loaded, notes=(*loaded.notes, *_unused_description(source)))


def _missing(source: Path) -> InputError:
    if re.match("[a-z]+:[^/]", str(source)):
        return unknown("suite", str(source).partition(":")[0], SUITES)
    return InputError(f"{source} does not exist; give a source file with --tests, or a folder with {DESCRIPTION}")


def _with_tests(folder: Path) -> str:
    suffixes = {suffix for row in LANGUAGES.values() for suffix in row.suffixes}
    sources = [path for path in sorted(folder.glob("*")) if path.suffix in suffixes]
    if len(sources) != 1 or not (folder / "tests").is_dir():
        return "give a source file with --tests"
    return f"give its source: {sources[0]} --tests {folder / 'tests'}"


def _bare(source: Path, tests: Path | None, overrides: Mapping[str, Any], given: GivenPaths) -> Loaded:
    """A problem of a source file alone, which the options describe."""
    is_module = tests is None and source.suffix == ".py" and is_contract(_read_source(source.parent, source.name))
    kind = {"kind": "module"} if is_module else {}
    found = describe(merged({"source": source.name, **kind}, overrides), "the options")
    if tests is None and KINDS[found.kind].has_tests and "tests" not in overrides:
        raise InputError(f"no tests for {source}: add --tests DIR, {_alternative(source)}")
    folder = Path(os.path.realpath(source)).parent.name
    name = found.id or (source.stem if found.kind == "module" else f"{folder}-{source.stem}")
    return _assemble(found, _Material(source.parent, tests, given=given), name)


def _repository(table: Mapping[str, Any], path: Path, tests: Path | None, given: GivenPaths) -> Loaded:
    """A problem of the kind repo, whose commands name its tests and its files."""
    if tests is not None or given != GivenPaths():
        raise InputError(
            f"{path} is a repository, whose commands name its tests and files (--tests, --file, --include, "
            "--compile-commands); leave them out"
        )
    return Loaded(*repository(table, path.parent, str(path)))


def from_given(one: Given, overrides: Mapping[str, Any]) -> Loaded:
    """The problem that a suite gives; ``overrides`` as in ``load``."""
    overrides, paths = apart(overrides)
    found = describe(merged(one.table, overrides), "the options")
    material = _Material(program=one.program, cases=one.cases, texts=one.texts, given=paths)
    loaded = _assemble(found, material, found.id or one.origin.id)
    notes = (*loaded.notes, *one.notes, one.origin.words)
    return replace(loaded, notes=notes, origin=one.origin, reference=one.reference)


def _alternative(source: Path) -> str:
    if (source.parent / DESCRIPTION).exists():
        return f"or give the folder {source.parent}, which has a {DESCRIPTION}"
    return f"or give a folder with {DESCRIPTION}"


def _unused_description(source: Path) -> list[str]:
    path = source.parent / DESCRIPTION
    return [f"{path} is not read, because a source file was given; give the folder to use it"] if path.exists() else []


def _assemble(found: Description, material: _Material, name: str) -> Loaded:
    base = material.base
    if not KINDS[found.kind].has_tests and (material.tests is not None or found.checker != Checker()):
        raise InputError(
            f"a {found.kind} has no tests and no checker of its own (--tests, --checker, --tolerance): its original is "
            f"the oracle; give [{found.kind}] tolerance in {DESCRIPTION}"
        )
    program, tongue = _program(found, material)
    place = Place(material.base, material.given) if material.program is None else None
    recipe = recipe_of(found, place, program, tongue)
    program, flags = recipe.program, recipe.flags
    _check_flags(tongue, flags)
    flags, bound = bounded(found, tongue, flags)
    _check_command(base, "checker.command", found.checker.command)
    _check_command(base, "tests.generator", found.tests.generator)
    called = _called(found, program, tongue, material)
    parts = _tests(found, material) if KINDS[found.kind].has_tests else Split((), (), ())
    amount = GENERATED if found.tests.generated is None else found.tests.generated
    files = data_files(found, base, material.given.files, (*parts.seen, *parts.held_out))
    spec = replace(
        called,
        flags=flags,
        checker=found.checker,
        limits=found.limits,
        seen=parts.seen,
        held_out=parts.held_out,
        generator=found.tests.generator,
        generated=amount if found.tests.generator else 0,
        size=found.tests.size,
        made=found.tests.made,
        domain=found.tests.domain,
        folder=str(base.resolve()),
        checker_beside=found.checker_beside,
        tie_break=bool(found.tie_break),
        shared_cores=found.shared_cores,
        args=found.args,
        env=tuple(sorted(found.env.items())),
        files=files,
        include=recipe.include,
        venv=_environment(found, tongue, base),
    )
    permitted = None if found.permitted is None else frozenset(found.permitted)
    problem = Problem(name, found.kind, tongue.name, program, spec, found.statement.strip(), _goal(found), permitted)
    return Loaded(problem, (*recipe.notes, *parts.notes, *bound, *_note_on_shapes(called.module)), recipe=recipe)


def _program(found: Description, material: _Material) -> tuple[Program, Language]:
    program = material.program or Program({path: _read_source(material.base, path) for path in found.paths})
    tongue = language(found.language) if found.language else language_of(program.name)
    if len(program.files) > 1 and not tongue.several:
        raise InputError(
            f"a program in {tongue.name} is one file here, and this one has {len(program.files)}; join them with a "
            "bundler (esbuild, rollup) and give the result"
        )
    return program, tongue


def _called(found: Description, program: Program, tongue: Language, material: _Material) -> ProgramSpec:
    """How what is called in place of a whole program is called, and nothing else."""
    read = partial(_text_beside, found, material)
    match found.kind:
        case "function":
            if tongue.grammar not in ("c", "cpp"):
                raise InputError(f"functions can be in C or C++, not in {tongue.name}; give a source in one of these")
            return ProgramSpec(function=function_spec(found.function, read))
        case "module":
            return ProgramSpec(module=_module_spec(found, program, tongue))
        case "python":
            if tongue.name != "python":
                raise InputError(
                    f"[python] is for a source in Python, not in {tongue.name}; a C function has [function]"
                )
            return ProgramSpec(python=python_spec(found.python, program, material.base, read))
    return ProgramSpec()


def _text_beside(found: Description, material: _Material, name: str) -> str:
    """The text of a file that a table names: as a suite gives it, else in the folder."""
    if name in material.texts:
        return material.texts[name]
    return read_text(material.base / name, FileKind(f"the file of [{found.kind}]"))


def _environment(found: Description, tongue: Language, base: Path) -> str:
    """The virtual environment of a whole program; InputError with the cure if there is none in that folder."""
    if found.kind != "program" or not found.python.venv:
        return ""
    if tongue.name != "python":
        raise InputError(f"a virtual environment ([python] venv, --venv) is for Python, not for {tongue.name}")
    folder = str((base / found.python.venv).absolute())
    find_python(folder)
    return folder


def _module_spec(found: Description, program: Program, tongue: Language) -> ModuleSpec:
    if tongue.name != "python" or len(program.files) != 1:
        raise InputError('kind = "module" is for one Python file that defines Model, get_inputs and get_init_inputs')
    if not is_contract(program.text):
        raise InputError(f"{program.name} must define `class Model(nn.Module)`, `get_inputs()` and `get_init_inputs()`")
    table = found.module
    return ModuleSpec(
        table.device, tuple(sorted(table.constants.items())), table.tolerance, tuple(sorted(table.domain.items()))
    )


def _goal(found: Description) -> Clock:
    """The problem's goal; wall-clock time in place of CPU time on a GPU, whose work takes no processor time."""
    on_gpu = found.kind == "module" and found.module.device == "cuda"
    return "wall" if on_gpu and found.goal == "cpu" else found.goal


def _note_on_shapes(module: ModuleSpec | None) -> list[str]:
    if module is None or not module.constants:
        return []
    return ["shapes other than its own: " + ", ".join(f"{name} = {value}" for name, value in module.constants)]


def _read_source(base: Path, path: str) -> str:
    """The text of one source file with its line endings unchanged."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise InputError(
            f"the source '{path}' is outside {base}; give the folder of all sources: put {DESCRIPTION} into "
            f"{os.path.commonpath([base.resolve(), (base / path).resolve().parent])}, and name each source from there"
        )
    full = base / path
    try:
        text = read_text(full, FileKind("the source"))
    except InputError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise InputError(f"the source {full} does not exist; correct its name") from error
        raise
    if not text.strip():
        raise InputError(f"the source {full} is empty; give the program to make faster")
    return text


def _check_flags(tongue: Language, flags: tuple[str, ...]) -> None:
    for flag in flags:
        if any(re.fullmatch(allowed, flag) for allowed in tongue.allowed_flags):
            continue
        if not tongue.allowed_flags:
            raise InputError(f"the flag '{flag}' cannot be used: programs in {tongue.name} are not compiled; remove it")
        raise InputError(
            f"the flag '{flag}' is not allowed: only flags for optimisation, standard, machine, warnings, macros and "
            f"the usual libraries are, one flag a word, so that a build cannot read or write files or load plug-ins; "
            f"remove it (the default is {' '.join(tongue.default_flags)})"
        )


def _check_command(base: Path, key: str, command: tuple[str, ...]) -> None:
    """Check that the command and the files it names exist; it runs in the sandbox later."""
    if not command:
        return
    program = command[0]
    if not os.path.isfile(base / program) and shutil.which(program) is None:
        raise InputError(f"{key}: there is no program '{program}' in {base} or on the PATH; correct it or install it")
    for word in command[1:]:
        if _SCRIPT.fullmatch(word) and not os.path.isfile(base / word):
            raise InputError(f"{key}: there is no file '{word}' in {base}; add it or correct its name")


def _tests(found: Description, material: _Material) -> Split:
    if material.cases:
        return split(material.cases, found.tests.seen, found.tests.held_out)
    folder = material.tests if material.tests is not None else material.base / found.tests.folder
    if material.tests is None and found.tests.generator and not os.path.exists(folder):
        return Split(
            (), (), (f"there is no tests folder {folder}: all inputs are generated, the original is the oracle",)
        )
    cases = find_cases(folder)
    parts = split(cases, found.tests.seen, found.tests.held_out)
    return replace(parts, notes=(*parts.notes, *made_outputs(cases, folder)))
