"""A candidate of the user's own: reading it, confirming it whether it is faster or slower, and searching with it alone.

``maxcode evaluate --out`` is a run whose policy proposes only this candidate, so it has the same record, certificate
and report as a search.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import final

from maxcode.code.languages import LANGUAGES, language
from maxcode.core.files import FileKind, read_text
from maxcode.core.types import Action, Evaluation, Observation, Problem, Program, State, Step
from maxcode.errors import InputError
from maxcode.evaluate.harness_protocol import SearchHarness
from maxcode.problems.description import DESCRIPTION
from maxcode.problems.patches import patched
from maxcode.run.certificate.making import winner_in
from maxcode.run.figures import SLOWER

GIVEN_FILE = "file:"  # the name of the policy, before the path of the candidate


def read_candidate(path: Path, problem: Problem) -> Program:
    """The program in a file, which replaces the original's file of that name, else its first; or in a folder with the
    file names of the original; a folder without a problem.toml of its own may leave out headers.

    For a repository also a diff, or a revision.  Raises InputError if it cannot be read."""
    if problem.traits.is_patch:
        return patched(path, problem)
    if path.is_dir() or path.name == DESCRIPTION:
        folder = path if path.is_dir() else path.parent
        absent = {name: text for name, text in problem.program.files.items() if not (folder / name).exists()}
        suffixes, is_whole = language(problem.language).suffixes, (folder / DESCRIPTION).exists()
        if missing := [name for name in absent if is_whole or name.endswith(suffixes)]:
            told = "it is a folder, and as a candidate it needs the original's files"
            raise InputError(f"cannot read the candidate {folder}: {told}; {missing[0]} is missing")
        here = {name: text for name, text in problem.program.files.items() if name not in absent}
        found = winner_in(folder, replace(problem, program=Program(here))).files
        return Program({name: found.get(name, text) for name, text in problem.program.files.items()})
    _refuse_other_language(path, problem)
    files = problem.program.files
    replaced = next((name for name in files if PurePosixPath(name).name == path.name), problem.program.name)
    return Program({**files, replaced: read_text(path, FileKind("the candidate"))})


def _refuse_other_language(path: Path, problem: Problem) -> None:
    """InputError if the suffix is that of another language; a suffix of no language says nothing."""
    own = language(problem.language)
    other = next((row for row in LANGUAGES.values() if path.suffix in row.suffixes), None)
    if other is not None and path.suffix not in own.suffixes:
        raise InputError(
            f"the candidate {path} is {other.name}, and the original is {own.name}; give a candidate in {own.name}"
        )


def digest_of(program: Program) -> str:
    """SHA-256 of all names and texts, so that a run of another candidate is told apart."""
    return hashlib.sha256(repr(sorted(program.files.items())).encode()).hexdigest()


async def settled(
    harness: SearchHarness, problem: Problem, action: Action, found: Evaluation, decides_slower: bool = False
) -> Evaluation:
    """The evaluation on fresh pairs if the race found the candidate faster or slower, or if a tie must be decided."""
    timing = found.timing
    if timing is None or timing.verdict == "same_code":
        return found
    if not (timing.significant or timing.verdict in SLOWER or decides_slower):
        return found
    state = State(problem, State(problem), Step(action, found, 0.0), (1, 0))
    return (await harness.settle(problem, [state], None))[state.id]


@final
@dataclass(frozen=True, slots=True)
class GivenCandidate:
    """The policy that proposes the program at ``path``."""

    path: Path

    async def propose(self, observation: Observation) -> Action:
        return Action(read_candidate(self.path, observation.state.problem))


@final
@dataclass(frozen=True, slots=True)
class DecidingEvaluator:
    """An evaluator that confirms a candidate that is no gain, so that slower is proved too; a gain is confirmed by the
    referee."""

    harness: SearchHarness

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        found = await self.harness.evaluate(problem, action, incumbent)
        if found.timing is None or found.timing.significant:
            return found
        return await settled(self.harness, problem, action, found, decides_slower=True)
