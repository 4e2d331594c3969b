"""Measures a batch of answers: every kernel once, through the evaluator.

    answers -> distinct kernels -> build and verify concurrently, time one after the other -> leaders once more

The evaluator keeps its lanes (``sandbox/lanes.py``): builds overlap, timing is exclusive.  Every measurement is written
at once, one line each, and a resumed run reads it from there: a step that is repeated after a kill gets the same
measurements.  A failure of the machine is None, and is not written.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import anyio
import msgspec

from maxcode.code.source import fingerprint
from maxcode.code.techniques import used
from maxcode.core.jsonl import Lines
from maxcode.core.roles import Evaluator
from maxcode.core.stats import RaceRule, median_interval
from maxcode.core.types import Action, Evaluation, Feedback, Outcome, Problem, Program
from maxcode.errors import BoundaryError
from maxcode.evaluate.cluster import together
from maxcode.sandbox.lanes import Ledger, accounted
from maxcode.train.rewards import is_scored, rate

TRAINING_RULE = RaceRule(most=3)  # a policy learns more from many rough rates than from a few precise ones

log = logging.getLogger(__name__)


@final
@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """An answer to measure, and its problem (with what its stage permits)."""

    problem: Problem
    action: Action


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One line: the evaluation of a kernel at a step.  Only the first line of a kernel has ``text``."""

    step: int
    key: str
    problem: str
    evaluation: Evaluation
    text: str = ""


@final
@dataclass(slots=True)
class _Known:
    """The recorded measurements of a kernel, and how many of them this run has used so far."""

    recorded: list[Evaluation] = field(default_factory=list)
    taken: int = 0

    @property
    def is_unread(self) -> bool:
        """Whether the answer holds no program, so that nothing was measured."""
        return self.recorded[0].outcome is Outcome.UNPARSED

    @property
    def evaluation(self) -> Evaluation:
        """All measurements used so far as one."""
        found = self.recorded[0]
        for one in self.recorded[1 : self.taken]:
            found = pooled(found, one)
        return found


@final
@dataclass(frozen=True, slots=True)
class MeasuredBatch:
    """The evaluations in the order of the requests (None if the machine failed), and their cost: the number of new
    (``fresh``) measurements, and seconds in the lanes (``sandbox/lanes.py``)."""

    evaluations: tuple[Evaluation | None, ...]
    fresh: int
    lanes: Ledger


@final
class Measuring:
    """Measures answers, and remembers kernels.  ``afresh`` times again what the evaluator has timed; None: never again.
    If several processes train, each has a ``rank`` and its own file."""

    def __init__(
        self, evaluator: Evaluator, afresh: Evaluator | None = None, folder: Path | None = None, rank: int = 0
    ) -> None:
        self._evaluator = evaluator
        self._afresh = afresh
        self._known: dict[str, _Known] = defaultdict(_Known)
        name = f"measurements-{rank}.jsonl" if rank else "measurements.jsonl"
        self._lines = Lines(folder / name if folder is not None else None, Measurement)

    def __len__(self) -> int:
        """The number of distinct kernels so far, each counted once whatever was permitted when it was measured; those
        that compile to the same are one."""
        used = ((key, known) for key, known in self._known.items() if known.taken and not known.is_unread)
        return len({(key.split(" ")[0], known.recorded[0].digest or key.rpartition(" ")[0]) for key, known in used})

    def has(self, problem: Problem, program: Program) -> bool:
        """Whether a kernel is measured so far, up to layout, whatever was permitted then."""
        begin = f"{problem.id} {fingerprint(program.files, problem.language)}"
        found = (self._known.get(f"{begin} {allowed}") for allowed in (True, False))
        return any(one is not None and one.taken > 0 for one in found)

    def resume(self, step: int) -> None:
        """Restores the state before ``step``; later measurements are kept, but not used yet."""
        self._known.clear()
        for line in self._lines.read():
            known = self._known[line.key]
            known.recorded.append(line.evaluation)
            known.taken += line.step < step

    async def measure(self, step: int, asked: Sequence[MeasureRequest], groups: Sequence[int]) -> MeasuredBatch:
        """Measures all answers of a step; ``groups`` tells which belong together.  If the fastest of a group was timed
        only once, it is timed again, and both timings count as one."""
        with accounted() as ledger:
            keys = [_key(one) for one in asked]
            homes = {key: f"{step}/{group}" for key, group in zip(reversed(keys), reversed(groups), strict=True)}
            fresh = await self._all(step, dict(zip(keys, asked, strict=True)), 1, homes)
            leaders = self._leaders(keys, groups) if self._afresh is not None else []
            fresh += await self._all(step, {key: asked[keys.index(key)] for key in leaders}, 2, homes)
        return MeasuredBatch(tuple(self._seen(key) for key in keys), fresh, ledger)

    async def _all(self, step: int, asked: dict[str, MeasureRequest], times: int, homes: Mapping[str, str]) -> int:
        """Ensures that each kernel has ``times`` measurements; returns how many were made for that.

        ``homes``: the group of each kernel; a group is measured on one node, because its answers are compared."""
        made: list[str] = []
        failed: list[Exception] = []

        async def one(key: str, what: MeasureRequest) -> None:
            known = self._known[key]
            if known.taken >= times:
                return
            if len(known.recorded) == known.taken:
                with together(homes[key]):
                    found = await self._measured(what, times)
                if found is None:
                    return
                self._write(step, key, what, found, first=not known.recorded)
                known.recorded.append(found)
                if not known.is_unread:
                    made.append(key)
            known.taken += 1

        async def kept(key: str, what: MeasureRequest) -> None:
            try:
                await one(key, what)
            except Exception as error:  # raised outside the task group, which would wrap it
                failed.append(error)

        async with anyio.create_task_group() as group:
            for key, what in asked.items():
                group.start_soon(kept, key, what)
        if failed:
            raise failed[0]
        return len(made)

    async def _measured(self, what: MeasureRequest, times: int) -> Evaluation | None:
        evaluator = self._evaluator if times == 1 or self._afresh is None else self._afresh
        try:
            found = await evaluator.evaluate(what.problem, what.action)
        except BoundaryError as error:
            log.warning("a kernel is not scored, because the machine failed: %s", error)
            return None
        return found if is_scored(found) else None

    def _leaders(self, keys: Sequence[str], groups: Sequence[int]) -> list[str]:
        best: dict[int, tuple[float, str]] = {}
        for key, group in zip(keys, groups, strict=True):
            found = rate(self._seen(key))
            if found is not None and found.value > best.get(group, (0.0, ""))[0]:
                best[group] = (found.value, key)
        return list(dict.fromkeys(key for _, key in best.values() if self._known[key].taken == 1))

    def _seen(self, key: str) -> Evaluation | None:
        known = self._known.get(key)
        return known.evaluation if known is not None and known.taken else None

    def _write(self, step: int, key: str, what: MeasureRequest, found: Evaluation, first: bool) -> None:
        text = what.action.program.text if first and what.action.program is not None else ""
        self._lines.append(
            Measurement(step=step, key=key, problem=what.problem.id, evaluation=_brief(found), text=text)
        )


def _key(asked: MeasureRequest) -> str:
    """Equal for kernels that differ only in layout and that their rules both permit or both refuse."""
    problem, program = asked.problem, asked.action.program
    if program is None:
        return f"{problem.id} unparsed {asked.action.unread}"
    return f"{problem.id} {fingerprint(program.files, problem.language)} {is_allowed(asked)}"


def is_allowed(asked: MeasureRequest) -> bool:
    """Whether a program uses only what its problem permits or the original uses."""
    problem, program = asked.problem, asked.action.program
    if problem.permitted is None or program is None:
        return True
    own = _techniques(problem.language, problem.program)
    return _techniques(problem.language, program) <= problem.permitted | own


def _techniques(language: str, program: Program) -> frozenset[str]:
    return frozenset[str]().union(*(used(language, text) for text in program.files.values()))


def _brief(found: Evaluation) -> Evaluation:
    """An evaluation without the parts that training does not use: remarks, profile, seconds per test."""
    return replace(found, feedback=Feedback(found.feedback.reasons[:3]), remarks=(), profile=(), measures={})


def pooled(one: Evaluation, other: Evaluation) -> Evaluation:
    """Two timings of a kernel as one, over the pairs of both; if either is not correct, or has no pairs, the later one
    counts."""
    first, second = one.timing, other.timing
    if first is None or second is None or not first.samples or not second.samples:
        return other
    pairs = first.samples + second.samples
    gflops = second.gflops
    if gflops is not None:  # the median scales with its values, which gives the work of a pass
        work = gflops.value / median_interval([1 / candidate for _, candidate in second.samples]).value
        gflops = median_interval([work / candidate for _, candidate in pairs])
    speedup = median_interval([original / candidate for original, candidate in pairs])
    timing = replace(second, samples=pairs, pairs=len(pairs), speedup=speedup, gflops=gflops)
    return replace(other, timing=timing)
