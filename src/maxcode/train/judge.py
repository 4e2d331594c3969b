"""From the completions of a step to advantages: all work between the trainer and the evaluator, without torch.

    completions -> actions -> evaluations -> scores -> (shrunk, bonus) -> advantages        and the archive learns

A judge is called once a step, with all its rows.  It writes to the run folder: ``samples.jsonl``, one line per answer;
``steps.jsonl``, one line per step with its times; ``measurements.jsonl``, one line per measurement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import anyio
import msgspec

from maxcode.code.source import fingerprint
from maxcode.core.jsonl import Lines
from maxcode.core.types import Action, Evaluation, Interval, Outcome, Program
from maxcode.train.advantages import Advantage, Advantages, best_of, grouped, half_width, shrunk
from maxcode.train.diversity import BEFORE, ArchiveProgress, PromptRow, ScoredAnswer, coverage
from maxcode.train.explore import Explore
from maxcode.train.measuring import MeasuredBatch, MeasureRequest, Measuring
from maxcode.train.prompts import Prompts
from maxcode.train.rewards import TrainingReward, is_scored, rate

BEST_OF = 8
_NO_GROUP = -1  # of what is no answer of the policy
FEW_UNIQUE, FALLING = 0.2, 0.2  # a step is marked below this share of different answers, or at this loss of validity


class SampleLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer, and its schedule if it is one.  ``rate`` is GFLOPS (or a speed-up) with its interval; ``outcome`` and
    ``score`` are None if the machine failed.  ``explored``: it is no answer of the policy (``explore.py``)."""

    step: int
    problem: str
    stage: int
    shown: bool
    mark: str
    outcome: Outcome | None
    rate: Interval | None
    score: float | None
    advantage: float | None
    schedule: str = ""
    explored: bool = False


class StepLine(msgspec.Struct, frozen=True, kw_only=True):
    """One step of all processes.  ``generate_s``, ``evaluate_s`` and ``learn_s`` are wall seconds of the first and add
    up to the step.  Inside the evaluation, ``compile_s`` and ``measure_s`` are seconds of work in its lanes (they
    overlap), and ``queue_s`` is the mean wait of a measurement for them.  Rates count failures as 0; ``best_of`` is the
    expected best of 8."""

    step: int
    samples: int
    scored: int
    valid: float
    unique: float
    fresh: int
    mean: float
    best: float
    best_of: float
    score: float
    stages: dict[str, int]
    cells: dict[str, int]
    generate_s: float
    evaluate_s: float
    compile_s: float
    queue_s: float
    measure_s: float
    learn_s: float = 0.0
    alarms: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """The advantages and the true scores of a step's answers, in the order of the answers."""

    advantages: Advantages
    scores: list[float | None]
    step: StepLine


@final
@dataclass(frozen=True, slots=True)
class Rules:
    """How answers are scored and compared."""

    prompts: Prompts
    reward: TrainingReward
    advantage: Advantage


@final
@dataclass(slots=True)
class Judge:
    """Judges the steps of one run.  If several processes train, ``share`` joins their lists, so that all keep the same
    archive, and one ``writes``.  ``explore``: what else is measured in every step."""

    progress: ArchiveProgress
    measuring: Measuring
    rules: Rules
    folder: Path | None = None
    share: Callable[[list[Any]], list[Any]] = lambda rows: rows
    clock: Callable[[], float] = time.monotonic
    writes: bool = True
    explore: Explore | None = None
    _began: float = field(init=False, default=0.0)
    _ended: float = field(init=False, default=0.0)
    _last: StepLine | None = field(init=False, default=None)
    _valid: list[float] = field(init=False, default_factory=list)
    _begun: dict[str, frozenset[str]] = field(init=False, default_factory=dict)
    _samples: Lines[SampleLine] = field(init=False)
    _steps: Lines[StepLine] = field(init=False)

    def __post_init__(self) -> None:
        folder = self.folder
        self._samples = Lines(folder / "samples.jsonl" if folder is not None else None, SampleLine)
        self._steps = Lines(folder / "steps.jsonl" if folder is not None else None, StepLine)

    @property
    def steps(self) -> list[StepLine]:
        """The steps so far."""
        return list(self._steps.read())

    def resume(self, step: int) -> None:
        """Restores the state before ``step``; the progress is loaded separately, from the checkpoint."""
        self.measuring.resume(step)
        if self.writes:
            self._samples.keep(lambda line: line.step < step)
            self._steps.keep(lambda line: line.step < step)
        self._valid = [line.valid for line in self._steps.read() if line.step < step]

    def has(self, problem: str, text: str) -> bool:
        """Whether a program is measured: in a step so far, or because the archive began with it."""
        asked = self.progress.problems[problem]
        program = asked.program.with_text(text)
        return self.measuring.has(asked, program) or _mark(program, asked.language) in self._begun_with(problem)

    def _begun_with(self, problem: str) -> frozenset[str]:
        if problem not in self._begun:
            language = self.progress.problems[problem].language
            known = [one for one in self.progress.archive(problem) if one.made == BEFORE]
            self._begun[problem] = frozenset(_mark(one.program, language) for one in known)
        return self._begun[problem]

    def begin(self) -> None:
        """Starts a step: the time until the answers are judged is generation."""
        self._began = self.clock()

    def judge(self, numbers: Sequence[int], completions: Sequence[Any]) -> Judged:
        """Measures, scores and compares the answers to the rows ``numbers``, one group after the other."""
        asked_at = self.clock()
        rows = [self.progress.row(number) for number in numbers]
        read = self.rules.prompts.read
        actions = [
            read(row.problem, row.beginning + completion if row.beginning else completion)
            for row, completion in zip(rows, completions, strict=True)
        ]
        beside = self._beside(dict(zip(numbers, rows, strict=True)), actions)
        asked = [MeasureRequest(row.problem, action) for row, action in [*zip(rows, actions, strict=True), *beside]]
        batch = anyio.run(self.measuring.measure, rows[0].step, asked, [*numbers, *[_NO_GROUP] * len(beside)])
        found = self._compared(numbers, rows, actions, replace(batch, evaluations=batch.evaluations[: len(rows)]))
        found += [self._explored(*one) for one in zip(beside, batch.evaluations[len(rows) :], strict=True)]
        self._ended = self.clock()
        return self._told(found, batch, asked_at)

    def _beside(self, rows: Mapping[int, PromptRow], actions: Sequence[Action]) -> list[tuple[PromptRow, Action]]:
        if self.explore is None:
            return []
        texts, explore = {one.program.text for one in actions if one.program is not None}, self.explore.beside
        return [(row, one) for number, row in rows.items() for one in explore(number, row, self.has, texts)]

    def _explored(self, drawn: tuple[PromptRow, Action], evaluation: Evaluation | None) -> _Found:
        row, action = drawn
        answer = replace(_answer(_NO_GROUP, row, action.completion, action, evaluation), scored=False)
        return _Found(row, action, evaluation, self.rules.reward(evaluation), None, answer, explored=True)

    def _compared(
        self, numbers: Sequence[int], rows: Sequence[PromptRow], actions: Sequence[Action], batch: MeasuredBatch
    ) -> list[_Found]:
        reward = self.rules.reward
        scores = [reward(one) for one in batch.evaluations]
        answers = [
            _answer(number, row, self.rules.prompts.schedule(action), action, one)
            for number, row, action, one in zip(numbers, rows, actions, batch.evaluations, strict=True)
        ]
        bonus = self.progress.bonus(answers, self.share(list(answers)))
        widths = [half_width(reward, one) for one in batch.evaluations]
        advantages = self._advantages(numbers, scores, widths, bonus)
        return [_Found(*one) for one in zip(rows, actions, batch.evaluations, scores, advantages, answers, strict=True)]

    def _advantages(
        self, groups: Sequence[int], scores: Sequence[float | None], widths: Sequence[float], bonus: Sequence[float]
    ) -> Advantages:
        rule = self.rules.advantage
        wide = dict(zip(range(len(scores)), widths, strict=True))
        if rule.shrink:
            at = iter(range(len(scores)))
            scores = grouped(scores, groups, lambda some: shrunk(some, [wide[next(at)] for _ in some]))
        paid = [None if one is None else one + extra for one, extra in zip(scores, bonus, strict=True)]
        return grouped(paid, groups, rule)

    def _told(self, found: Sequence[_Found], batch: MeasuredBatch, asked_at: float) -> Judged:
        everyone: list[_Found] = self.share(list(found))
        costs: list[MeasuredBatch] = self.share([replace(batch, evaluations=())])
        step = found[0].row.step
        self.progress.after(step, [one.answer for one in everyone])
        line = self._line(step, [one for one in everyone if not one.explored], costs, asked_at)
        self._valid.append(line.valid)
        self._last = line
        if self.writes:
            for one in everyone:
                self._samples.append(one.line)
        own = [one for one in found if not one.explored]
        return Judged([one.advantage for one in own], [one.score for one in own], line)

    def _line(self, step: int, found: Sequence[_Found], costs: Sequence[MeasuredBatch], asked_at: float) -> StepLine:
        fresh = sum(one.fresh for one in costs)
        rates = [one.answer.quality or 0.0 for one in found if one.evaluation is not None]
        scores = [one.score for one in found if one.score is not None]
        valid = sum(one.answer.quality is not None for one in found) / max(1, len(rates))
        unique = len({one.mark for one in found}) / len(found)
        return StepLine(
            step=step,
            samples=len(found),
            scored=len(scores),
            valid=valid,
            unique=unique,
            fresh=fresh,
            mean=sum(rates) / max(1, len(rates)),
            best=max(rates, default=0.0),
            best_of=best_of(rates, BEST_OF),
            score=sum(scores) / max(1, len(scores)),
            stages={name: self.progress.standing(name).stage for name in self.progress.problems},
            cells=dict(coverage(self.progress)),
            generate_s=asked_at - self._began,
            evaluate_s=self._ended - asked_at,
            compile_s=sum(one.lanes.build_s for one in costs),
            queue_s=sum(one.lanes.wait_s for one in costs) / max(1, fresh),
            measure_s=sum(one.lanes.time_s for one in costs),
            alarms=self._alarms(unique, valid),
        )

    def _alarms(self, unique: float, valid: float) -> tuple[str, ...]:
        before = max(self._valid[-5:], default=valid)
        told = ["few of the answers differ"] if unique < FEW_UNIQUE else []
        told += [f"validity fell from {before:.0%} to {valid:.0%}"] if valid < before - FALLING else []
        return tuple(told)

    def finish(self) -> StepLine | None:
        """Ends a step: the time since the answers were judged is learning.  Writes the step's line."""
        if self._last is None:
            return None
        line = msgspec.structs.replace(self._last, learn_s=self.clock() - self._ended)
        if self.writes:
            self._steps.append(line)
        self._last = None
        return line


@final
@dataclass(frozen=True, slots=True)
class _Found:
    row: PromptRow
    action: Action
    evaluation: Evaluation | None
    score: float | None
    advantage: float | None
    answer: ScoredAnswer
    explored: bool = False

    @property
    def mark(self) -> str:
        """Equal for answers that are the same program."""
        program = self.action.program
        return _mark(program, self.row.problem.language) if program is not None else "unparsed"

    @property
    def line(self) -> SampleLine:
        return SampleLine(
            step=self.row.step,
            problem=self.row.problem.id,
            stage=self.row.stage,
            shown=self.row.shown is not None,
            mark=self.mark,
            outcome=self.evaluation.outcome if self.evaluation is not None else None,
            rate=rate(self.evaluation),
            score=self.score,
            advantage=self.advantage,
            schedule=self.answer.schedule,
            explored=self.explored,
        )


def _mark(program: Program, language: str) -> str:
    return fingerprint(program.files, language)[:16]


def _answer(number: int, row: PromptRow, schedule: str, action: Action, evaluation: Evaluation | None) -> ScoredAnswer:
    found = rate(evaluation)
    program = action.program if found is not None else None
    quality = found.value if found is not None else None
    return ScoredAnswer(row.problem.id, row.stage, number, program, quality, is_scored(evaluation), schedule)
