"""The identity of a problem: the hash that a record keeps, so that a resume refuses a changed problem."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from maxcode.core.files import DATA_AT_MOST, FileKind, read_file
from maxcode.core.types import Case, Problem


def digest(problem: Problem) -> str:
    """SHA-256, hexadecimal, over all that can change a verdict or a prompt: program, language, goal, flags, checker,
    limits, statement, the tests' names, sides and bytes, and the generator's and checker's commands with their files.

    The id and the paths are not part of it, so a moved folder is the same problem.  Raises InputError if a test is
    missing.
    """
    total = hashlib.sha256()
    for part in _parts(problem):
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
    return total.hexdigest()


def _parts(problem: Problem) -> Iterator[bytes]:
    spec = problem.spec
    settings = {
        "kind": problem.kind,
        "language": problem.language,
        "program": list(problem.program.files.items()),
        "statement": problem.statement,
        "goal": problem.goal,
        "permitted": None if problem.permitted is None else sorted(problem.permitted),
        "flags": spec.flags,
        "checker": dataclasses.asdict(spec.checker),
        "limits": dataclasses.asdict(spec.limits),
        "generator": spec.generator,
        "generated": spec.generated,
        **({"tie_break": True} if spec.tie_break else {}),  # omitted without a tie-break, so that old runs resume
        **({"shared_cores": True} if spec.shared_cores else {}),
        **started_with(problem),
        **({"include": spec.include} if spec.include else {}),
        **({"venv": True} if spec.venv else {}),
        "function": None if spec.function is None else spec.function.said,
        **({} if spec.repo is None else {"repo": spec.repo.said}),
        **({} if spec.module is None else {"module": dataclasses.asdict(spec.module)}),
        **({} if spec.python is None else {"python": spec.python.said}),
    }
    yield json.dumps(settings, sort_keys=True).encode()
    for side, cases in (("seen", spec.seen), ("held_out", spec.held_out)):
        for case in cases:
            yield from _case_parts(side, case)
    for word in (*spec.generator, *spec.checker.command):
        path = Path(spec.folder, word)
        if path.is_file():
            yield word.encode()
            yield _bytes(path)


def started_with(problem: Problem) -> dict[str, Any]:
    """The arguments, variables and data files (name -> SHA-256) of every run; what there is none of is left out."""
    spec = problem.spec
    found = {"args": list(spec.args), "env": dict(spec.env), "files": {one.name: one.sha256 for one in spec.files}}
    return {key: value for key, value in found.items() if value}


def _case_parts(side: str, case: Case) -> Iterator[bytes]:
    yield f"{side} {case.name} {case.expected is not None}".encode()
    yield _bytes(Path(case.stdin))
    if case.expected is not None:
        yield _bytes(Path(case.expected))


def _bytes(path: Path) -> bytes:
    return read_file(path, FileKind(cure="put it back, or load the problem again", at_most=DATA_AT_MOST))
