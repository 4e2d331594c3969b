"""The files of a run folder next to the record: ``run.toml``, ``original/``, ``best/``, ``best.diff``, the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from maxcode.code.languages import LANGUAGES
from maxcode.code.source import paths_of, unified_diff
from maxcode.core.budget import MANY
from maxcode.core.files import read_file, write_whole
from maxcode.core.types import Problem, Program
from maxcode.errors import InputError
from maxcode.llm import prompts
from maxcode.observe.trajectory import TOKENS
from maxcode.problems import PATHS, Loaded, digest, is_given, is_named
from maxcode.run.admission import Admission
from maxcode.run.candidate_result import tests_of
from maxcode.run.certificate import DIFF
from maxcode.run.certificate import FILE as CERTIFICATE
from maxcode.run.changes import PARTS, parts_of
from maxcode.run.complete_request import CompleteRequest
from maxcode.run.given_candidate import GIVEN_FILE, digest_of, read_candidate
from maxcode.run.hottest import EDIT
from maxcode.run.proposal import NAME as PROPOSAL
from maxcode.run.record import GIVEN, check_header, read_header
from maxcode.run.report import RESULT, write_report
from maxcode.run.request import Request
from maxcode.run.request_checks import asked_as, asks_model, guided_by, refuse_other_run
from maxcode.run.result import RunResult

_MAY_CHANGE = frozenset({"budget", "caps", "machine_code", "notes", "tests", "replay", PARTS, GIVEN})


def open_folder(job: CompleteRequest, admission: Admission) -> int:
    """Writes ``run.toml`` and ``original/``; returns the first budget of the run, which sets the width of the search.

    Raises RecordError, which names the differences, if the folder holds another run.
    """
    request, shape = job.request, _shape(job)
    header = {**_header(job, admission), **_of_suite(job.loaded), **guided_by(request), "shape": shape}
    refuse_other_run(request, header)
    prompts_matter = asks_model(request)
    may_change = _MAY_CHANGE | unused_compilers(admission.admitted.problem, read_header(job.folder))
    check_header(job.folder, header, may_change if prompts_matter else may_change | {"prompts"})
    _write_tree(job.folder / "original", admission.admitted.problem.program)
    return shape


def write_best(folder: Path, original: Program, best: Program, is_patch: bool = False) -> None:
    """Writes the best program and its difference to the original; of a patch, the files that it changes or adds.
    What maxcode wrote there of another winner is removed; what others left in best/, such as a build, stays."""
    changed = {path: text for path, text in best.files.items() if original.files.get(path) != text}
    shown, diff = Program(changed) if is_patch else best, diff_of(original, best).encode()
    texts = {f"best/{path}": text.encode() for path, text in shown.files.items()}
    is_new = any(_bytes(folder / path) != text for path, text in {DIFF: diff, **texts}.items())
    earlier = _written(folder, original, is_patch)
    _write_tree(folder / "best", shown)  # before anything is removed: the disk may be full
    write_whole(folder / DIFF, diff)
    if is_new:
        _remove(folder, earlier - shown.files.keys(), (PROPOSAL, CERTIFICATE))


def remove_best(folder: Path, original: Program, is_patch: bool = False) -> None:
    """Removes what an earlier command wrote about a winner that is no longer the best; nothing, if it wrote no
    ``best.diff``."""
    if _bytes(folder / DIFF) is not None:
        _remove(folder, _written(folder, original, is_patch), (PROPOSAL, CERTIFICATE, DIFF))


def _written(folder: Path, original: Program, is_patch: bool) -> set[str]:
    """What is in best/ of an earlier winner: the files that ``best.diff`` names and, of a whole program, those of the
    original."""
    told = _bytes(folder / DIFF)
    if told is None:
        return set()
    return {*paths_of(told.decode(errors="replace")), *(() if is_patch else original.files)}


def _remove(folder: Path, of_best: Iterable[str], names: Sequence[str]) -> None:
    try:
        for name in of_best:
            _remove_own(folder / "best", name)
        for name in names:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot remove the earlier winner in {folder}: {error.strerror} ({error.filename}); remove best/ by hand"
        ) from error


def _remove_own(best: Path, name: str) -> None:
    """Removes a file that maxcode wrote, and the folders that are empty then; a link to a file or to a folder is of
    another."""
    path = best / name
    if not path.is_file() or path.resolve() != best.resolve() / name:
        return
    path.unlink()
    for parent in path.parents:
        if not parent.is_relative_to(best) or any(parent.iterdir()):
            return
        parent.rmdir()


def diff_of(original: Program, best: Program) -> str:
    """The difference as `git apply` reads it.  New files without a line come last: git takes what follows their header
    for a part of it."""
    told = []
    for path, text in best.files.items():
        diff = unified_diff(original.files.get(path, ""), text, path)
        told.append(diff if path in original.files else diff.replace(f"--- a/{path}", "--- /dev/null", 1))
    empty = (path for path, text in best.files.items() if not text and path not in original.files)
    return "".join([*told, *(f"diff --git a/{path} b/{path}\nnew file mode 100644\n" for path in empty)])


def write_result(result: RunResult) -> None:
    """Writes the report, then ``result.json``: a folder with that file holds a finished run."""
    write_report(result.folder, result.notes)
    write_whole(result.folder / RESULT, f"{result.as_json()}\n".encode())


def unused_compilers(problem: Problem, began: Mapping[str, Any]) -> frozenset[str]:
    """The keys of ``run.toml`` for compilers that the run has not used.  ``began``: its ``run.toml`` so far.

    gcc and g++ build drivers and native code for any language.  Commands, such as those of a repository, may have used
    whatever was installed, and nothing that came later; base is built anew then.
    """
    has_commands = problem.traits.is_patch or problem.spec.generator or problem.spec.checker.command
    was_there = began.get("machine", {}).get("compilers", {}) if has_commands else {}
    used = {problem.language, *(row.name for row in LANGUAGES.values() if row.by_gcc), *was_there}
    return frozenset(f"machine.compilers.{name}" for name in LANGUAGES if name not in used)


def _shape(job: CompleteRequest) -> int:
    """The budget with which the run started."""
    header = read_header(job.folder)
    found = header.get("shape", header.get("budget"))
    if isinstance(found, int):
        return found
    return job.request.budget if job.request.budget < MANY else job.request.width_for


def _header(job: CompleteRequest, admission: Admission) -> dict[str, Any]:
    request, found = job.request, admission.admitted
    code = found.baseline.machine_code
    return {
        "version": version("maxcode"),
        **_of_problem(request, admission),
        **({EDIT: request.overrides[EDIT]} if EDIT in request.overrides else {}),
        **_of_method(request),
        "digest": digest(found.problem),
        "sandbox": admission.machine.sandbox,
        "machine": asdict(admission.machine),
        "tests": tests_of(found),
        **_of_candidate(request, found.problem),
        PARTS: parts_of(found.problem),
        **({"machine_code": msgspec.to_builtins(code)} if code is not None else {}),
        "notes": list(admission.notes),
        GIVEN: _given(request, found.problem),
    }


def _of_candidate(request: Request, problem: Problem) -> dict[str, str]:
    """The digest of the user's own candidate, if the run has one."""
    if not request.policy.startswith(GIVEN_FILE):
        return {}
    path = Path(request.policy.removeprefix(GIVEN_FILE))
    return {"candidate": digest_of(read_candidate(path, problem))}


def _given(request: Request, problem: Problem) -> dict[str, Any]:
    """What ``maxcode verify`` needs to find the problem from any working directory."""
    source = request.source if is_named(request.source) else request.source.resolve()
    venv = problem.spec.venv if problem.spec.python is None else problem.spec.python.venv
    paths = {key: request.overrides[key] for key in PATHS if is_given(request.overrides.get(key))}
    return {
        "source": str(source),
        **({"tests": str(request.tests.resolve())} if request.tests is not None else {}),
        **{key: _absolute(value) for key, value in paths.items()},
        **({"venv": venv} if "venv" in request.overrides.get("python", {}) else {}),
    }


def _absolute(value: Any) -> Any:
    """The paths of an override, as run.toml holds them."""
    if isinstance(value, Path):
        return str(value.absolute())
    if isinstance(value, dict):
        return {name: _absolute(path) for name, path in value.items()}
    return [_absolute(path) for path in value]


def _of_problem(request: Request, admission: Admission) -> dict[str, Any]:
    problem = admission.admitted.problem
    return {
        "problem": problem.id,
        "language": problem.language,
        "source": str(request.source),
        "flags": list(problem.spec.flags),
        "checker": problem.spec.checker.kind,
        "goal": problem.goal,
    }


def _of_method(request: Request) -> dict[str, Any]:
    return {
        "policy": request.policy,
        "method": request.method,
        "critic": request.critic,
        "answer": request.answer,
        "without": sorted(request.without),
        **asked_as(request),
        **({"with_rules": sorted(request.with_rules)} if request.with_rules else {}),
        **({"without_rules": sorted(request.without_rules)} if request.without_rules else {}),
        **({"replay": str(request.replay)} if request.replay is not None else {}),
        "prompts": prompts.digest(),
        "seed": request.seed,
        **({"gamma": request.gamma} if request.gamma != 1.0 else {}),
        **({"trajectory_tokens": request.trajectory_tokens} if request.trajectory_tokens != TOKENS else {}),
        **({"budget": request.budget} if request.budget < MANY else {}),
        "caps": {name: bound for name, bound in asdict(request.caps).items() if bound is not None},
    }


def _of_suite(loaded: Loaded) -> dict[str, Any]:
    """The header's fields for a problem of a suite and for the shapes of a module."""
    module = loaded.problem.spec.module
    found: dict[str, Any] = {}
    if module is not None:
        found = {"device": module.device, "constants": dict(module.constants)}
    return found if loaded.origin is None else {**found, "suite": loaded.origin.as_table()}


def _bytes(path: Path) -> bytes | None:
    """What is in a file; None if there is none."""
    return read_file(path) if path.is_file() else None


def _write_tree(folder: Path, program: Program) -> None:
    for path, text in program.files.items():
        write_whole(folder / path, text.encode())
