"""Staged Quality-Diversity during training: the stage of a prompt, and the kernel that it shows.

The stages and the archive are those of the search (``search/stages.py``, ``search/archive.py``).  A row of the training
data is a number: its step and its place in the step.  Its prompt is a pure function of that number, of the seed, and of
the results before the *last* step, because trainers fetch one batch ahead.  So a prompt follows the archive and the
stages with a lag of one step, also in a resumed run.

With ``promotion`` off the stages take turns from the first step on.  Without an archive no kernel is shown and there is
no bonus.  Without stages there is one stage, which permits what the problem permits.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import msgspec

from maxcode.code.techniques import cell
from maxcode.core.files import read_file, write_whole
from maxcode.core.stats import draw
from maxcode.core.types import Problem, Program
from maxcode.errors import InputError, RecordError
from maxcode.policy.rules.kernels.schedule import needs
from maxcode.search.archive import Archive, Cell, Kept, open_to
from maxcode.search.stages import USUAL, Stage, Stages, Standing, Visit

LAG = 1  # steps that a prompt is behind: the trainer fetches the next batch before this one is scored
BEFORE = -LAG - 1  # the time of kernels that are known before the first step, so that its prompts can show them
FILE = "diversity.json"


@final
@dataclass(frozen=True, slots=True)
class Diversity:
    """The active parts of Staged Quality-Diversity.

    ``shown`` is the share of prompts that show a kernel of the archive, the best of its cell.  Of n such kernels, the
    fastest first, that at n u^favour is shown, with u drawn evenly from 0 to 1 (selection by rank): a favour of 1 takes
    all alike, 3 the fastest of 50 in 27 % of the draws.  ``novelty`` is the bonus of a kernel that is the first of its
    cell, divided by the square root of the cell's recent count (which decays by ``decay`` a step).  The bonus is added
    to scores before they become advantages.  All of it is our reconstruction.

    With ``go_on`` a schedule is not shown: the answers begin with its first lines, any number of them alike, since
    schedules that only ever went on would fill up with lines that change little.  The prompt holds these lines, and the
    policy writes, and learns, only what follows.  That is a reset to a state of the archive (Go-Explore, arXiv
    1901.10995), which a policy need not be able to copy.
    """

    stages: Stages | None = USUAL
    promotion: bool = True
    archive: bool = True
    shown: float = 0.5
    favour: float = 1.0
    novelty: float = 0.05
    decay: float = 0.9
    go_on: bool = False


@final
@dataclass(frozen=True, slots=True)
class PromptRow:
    """The content of one prompt: the problem at its stage, the kernel that it shows, if any, and the ``beginning`` of
    the answers, if they go on from it."""

    step: int
    problem: Problem
    stage: int
    shown: Kept | None
    beginning: str = ""


@final
@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The result of one answer: its program if correct, its quality (GFLOPS or a speed-up), and its schedule if it is
    one.  ``scored`` is False if the machine failed, or if it is no answer of the policy: it promotes nothing."""

    problem: str
    stage: int
    group: int
    program: Program | None
    quality: float | None
    scored: bool = True
    schedule: str = ""


@final
@dataclass(slots=True)
class _Place:
    """One problem: its archive, its standing after each step, and the recent counts of its cells."""

    archive: Archive = field(default_factory=Archive)
    standings: list[tuple[int, Standing]] = field(default_factory=list)
    seen: Counter[Cell] = field(default_factory=Counter)

    def standing(self, before: int | None = None) -> Standing:
        known = [standing for step, standing in self.standings if before is None or step < before]
        return known[-1] if known else Standing()


@final
class ArchiveProgress:
    """The archives and the standings of all problems of a run."""

    def __init__(self, problems: Sequence[Problem], rows: int, rules: Diversity, seed: int = 0) -> None:
        """``rows``: prompts per step."""
        self.problems = {problem.id: problem for problem in problems}
        self._rows, self._rules, self._seed = rows, rules, seed
        self._stages = rules.stages or Stages((Stage("all"),))
        self._places = {problem.id: _Place() for problem in problems}

    @property
    def stages(self) -> Stages:
        """The stages; without any, one that permits everything."""
        return self._stages

    def archive(self, problem: str) -> Archive:
        """The archive of a problem."""
        return self._places[problem].archive

    def standing(self, problem: str) -> Standing:
        """The current standing of a problem."""
        return self._places[problem].standing()

    def staged(self, problem: Problem, stage: int) -> Problem:
        """The problem with what a stage permits; without stages, with what it permits itself."""
        return self._stages[stage].of(problem) if self._rules.stages is not None else problem

    def row(self, number: int) -> PromptRow:
        """The content of the prompt of a row."""
        step, slot = divmod(number, self._rows)
        problem = list(self.problems.values())[slot % len(self.problems)]
        known = step - LAG
        stage = self._stage(self._places[problem.id].standing(known).stage, step, slot)
        staged = self.staged(problem, stage)
        shown = self._shown(staged, known, step, slot)
        beginning = self._beginning(shown, step, slot) if shown is not None and self._rules.go_on else ""
        permits = staged.permitted is None or needs(beginning) <= staged.permitted
        return PromptRow(step, staged, stage, shown, beginning if permits else "")

    def _stage(self, frontier: int, step: int, slot: int) -> int:
        if not self._rules.promotion:
            return (step + slot // len(self.problems)) % len(self._stages)
        if frontier and self._chance("rehearse", step, slot) < self._stages.rehearsal:
            return draw(self._seed, "earlier", step, slot) % frontier
        return frontier

    def _shown(self, problem: Problem, known: int, step: int, slot: int) -> Kept | None:
        if not self._rules.archive or self._chance("show", step, slot) >= self._rules.shown:
            return None
        open_ = open_to(problem, self._places[problem.id].archive.elites(before=known))
        ordered = sorted(open_, key=lambda one: -one.quality)
        rank = int(len(ordered) * self._chance("which", step, slot) ** self._rules.favour)
        return ordered[min(rank, len(ordered) - 1)] if ordered else None

    def _beginning(self, shown: Kept, step: int, slot: int) -> str:
        lines = shown.schedule.splitlines(keepends=True)
        return "".join(lines[: 1 + int(self._chance("lines", step, slot) * len(lines))])

    def _chance(self, what: str, step: int, slot: int) -> float:
        return draw(self._seed, what, step, slot) / 2**64

    def begin(self, known: Mapping[str, Sequence[Kept]]) -> None:
        """Fills the archives, by problem, with kernels made at ``BEFORE``."""
        for name, kernels in known.items():
            for one in kernels:
                self._places[name].archive.offer(one)

    # ----------------------------------------------------------------------------------------------- after a step

    def bonus(self, answers: Sequence[ScoredAnswer], among: Sequence[ScoredAnswer] = ()) -> list[float]:
        """The bonus on each score for a rare cell; 0 for answers that are not correct.  ``among``: all answers of the
        step, if other processes have the rest of them."""
        if not self._rules.archive or not self._rules.novelty:
            return [0.0] * len(answers)
        here = [(one.problem, self._cell(one)) for one in answers]
        now = Counter((one.problem, self._cell(one)) for one in among) if among else Counter(here)
        found = []
        for problem, where in here:
            seen = now[problem, where] + self._places[problem].seen[where] if where is not None else 0
            found.append(self._rules.novelty / seen**0.5 if where is not None else 0.0)
        return found

    def after(self, step: int, answers: Sequence[ScoredAnswer]) -> None:
        """Adds the results of a step, for all problems."""
        for place in self._places.values():
            place.seen = Counter({where: seen * self._rules.decay for where, seen in place.seen.items()})
        for one in answers:
            where = self._cell(one)
            if where is not None and one.program is not None and one.quality is not None:
                place = self._places[one.problem]
                place.seen[where] += 1
                place.archive.offer(Kept(where, one.program, one.quality, step, one.schedule))
        self._promote(step, answers)

    def _promote(self, step: int, answers: Sequence[ScoredAnswer]) -> None:
        groups: dict[int, list[ScoredAnswer]] = {}
        for one in answers:
            if one.scored:
                groups.setdefault(one.group, []).append(one)
        for group in groups.values():
            place = self._places[group[0].problem]
            valid = tuple(one.quality for one in group if one.quality is not None)
            visit = Visit(group[0].stage, valid, len(group))
            place.standings.append((step, self._stages.after(place.standing(), visit)))

    def _cell(self, one: ScoredAnswer) -> Cell | None:
        if one.program is None or one.quality is None:
            return None
        language = self.problems[one.problem].language
        return cell(language, "\n".join(one.program.files.values()))

    # ----------------------------------------------------------------------------------------------- checkpoints

    def save(self, path: Path) -> None:
        """Writes the whole state to a file."""
        told = {
            name: _Saved(tuple(place.archive), tuple(place.standings), tuple(place.seen.items()))
            for name, place in self._places.items()
        }
        write_whole(path, msgspec.json.encode(told))

    def load(self, path: Path) -> None:
        """Restores a saved state; raises RecordError if it is of other problems, or cannot be read."""
        try:
            told = msgspec.json.decode(read_file(path), type=dict[str, _Saved])
        except (InputError, msgspec.MsgspecError) as error:
            raise RecordError(f"cannot read {path}: {error}; resume from another checkpoint") from error
        if told.keys() != self._places.keys():
            raise RecordError(
                f"{path} is of {sorted(told)}, but this run is of {sorted(self._places)}; choose another --out"
            )
        for name, saved in told.items():
            self._places[name] = _Place(Archive(saved.archive), list(saved.standings), Counter(dict(saved.seen)))


@final
@dataclass(frozen=True, slots=True)
class _Saved:
    archive: tuple[Kept, ...]
    standings: tuple[tuple[int, Standing], ...]
    seen: tuple[tuple[Cell, float], ...]


def coverage(progress: ArchiveProgress) -> Mapping[str, int]:
    """The number of filled cells of each problem's archive."""
    return {name: len(progress.archive(name).elites()) for name in progress.problems}


def archive_as_json(progress: ArchiveProgress) -> str:
    """The archives as JSON: every cell's best, the fastest first, with its code."""
    told = {}
    for name in progress.problems:
        elites = sorted(progress.archive(name).elites().values(), key=lambda one: -one.quality)
        told[name] = [
            {"cell": one.cell, "quality": one.quality, "step": one.made, "files": one.program.files} for one in elites
        ]
    return json.dumps(told, indent=1) + "\n"
