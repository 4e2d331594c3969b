"""The evaluator of the kind ``repo``: reject, build, tests, benchmark, then pairs of whole processes.

It has the same two roles as ``program/evaluator.py``.  What differs: a side is a tree of files, and every run has a
session and a copy of that tree of its own, so that nothing can pass from one run to another.  A confirmation has a
third arm, base once more: where base differs from itself, this machine or the benchmark favours one arm, and the
confirmation proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import final

import anyio

from maxcode.core.phases import in_stage
from maxcode.core.stats import RaceRule
from maxcode.core.two_sided import TwoSidedRule, interval_at_any_time, judge
from maxcode.core.types import Action, Evaluation, Machine, Outcome, Problem, Program, RaceVerdict, State, StateId
from maxcode.core.types.measured import JUDGED
from maxcode.errors import InputError
from maxcode.evaluate.harness_protocol import FreshRace, Loss, MeasureOptions, Provenance, TimingCache
from maxcode.evaluate.inputs.proving import GeneratedInputs
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.judge import wrong_while_timed
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.leader import last_standing
from maxcode.evaluate.ladder.prepare import Admitted, identity
from maxcode.evaluate.ladder.race import (
    End,
    Pair,
    RaceResult,
    Side,
    WrongOutput,
    end_of_confirmation,
    end_of_playoff,
    end_of_race,
    run_until,
    timing_of,
)
from maxcode.evaluate.ladder.timing import remember, warnings_of
from maxcode.evaluate.repo.admission import Base, admitted, profile_of
from maxcode.evaluate.repo.candidates import Ready, doubts, ready, rejected
from maxcode.evaluate.repo.layers import Layers
from maxcode.evaluate.repo.track import RepoTrack
from maxcode.evaluate.repo.winner_check import RepoCheck
from maxcode.sandbox.lanes import accounted, charge
from maxcode.sandbox.sandbox import Sandbox

PLAYOFF_PAIRS = 15  # a near tie of two programs faster than the original is not worth more pairs
CONTROL = "base against itself differs"
REMEMBERED = 64  # timings
BUILT = 4  # built candidates that are kept, such as the incumbent


@final
class RepoEvaluator:
    """Evaluates candidates of admitted repositories.  One per process."""

    def __init__(
        self,
        sandbox: Sandbox,
        rule: RaceRule = RaceRule(),  # noqa: B008
        keeps: bool = True,
        kept: KeptAdmissions = KeptAdmissions(),  # noqa: B008
        prompts: bool = True,
    ) -> None:
        """``keeps``: use set-ups of base that earlier commands have kept; ``kept``: and these first runs of base.
        ``prompts``: whether somebody is told where base's time goes."""
        self._sandbox = sandbox
        self._rule = rule
        self._short = replace(rule, most=PLAYOFF_PAIRS)
        self._keeps = keeps
        self._kept = kept
        self._prompts = prompts
        self._bases: dict[str, Base] = {}
        self._admitting = anyio.Lock()
        self._timings: dict[str, Evaluation] = {}
        self._ready: dict[str, Ready] = {}
        self._confirmations: dict[str, Evaluation] = {}

    @property
    def sandbox(self) -> str:
        """The sandbox tier as text; part of every result."""
        return self._sandbox.describe()

    # ------------------------------------------------------------------------------------------------- admission

    @in_stage("admission")
    async def admit(self, problem: Problem) -> Admitted:
        """Set up, build, test and run base.  InputError if that fails."""
        return (await self.base(problem)).admitted

    async def base(self, problem: Problem) -> Base:
        """The admission of ``problem``, made on first use."""
        async with self._admitting:
            key = identity(problem)
            if key not in self._bases:
                self._bases[key] = await admitted(self._sandbox, problem, self._kept, self._keeps, self._prompts)
            return self._bases[key]

    # ------------------------------------------------------------------------------------------------ evaluator

    @in_stage("evaluation")
    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        """The ladder: reject, build, tests, benchmark, race.  The speed-up is over base, in the same passes."""
        base = await self.base(problem)
        if (refused := rejected(base, action)) is not None:
            return refused
        assert action.program is not None
        key = _key(problem, action.program)
        if key in self._timings:  # a duplicate, which takes no time
            found = self._timings[key]
            return replace(found, measures={name: one for name, one in found.measures.items() if name != JUDGED})
        with accounted() as spent:
            found = await self._judged(base, action.program, incumbent)
        charge(spent)
        found = replace(found, measures={**found.measures, JUDGED: spent.build_s + spent.time_s})
        if found.timing is not None and found.timing.verdict not in ("dominated", "noisy"):
            remember(self._timings, key, found, REMEMBERED)
        return found

    async def _judged(self, base: Base, program: Program, incumbent: Action | None) -> Evaluation:
        """The evaluation of a candidate that may run."""
        one, found = await ready(base, program)
        if one is None:
            return found
        self._remember(_key(base.problem, program), one)
        sides: dict[Side, Layers] = {"original": base.side, "candidate": one.side}
        if (beside := await self._incumbent(base, program, incumbent)) is not None:
            sides["incumbent"] = beside
        try:
            held = await self._raced(base, sides, end_of_race(self._rule, "incumbent" in sides))
        except WrongOutput as wrong:
            return failed_in_race(found, wrong)
        return _told(base, replace(found, warnings=doubts(base, program)), held, one)

    async def _raced(self, base: Base, sides: Mapping[Side, Layers], end: End) -> RaceResult:
        """The race; an incumbent that fails is left out, without harm to the candidate."""
        try:
            return await run_until(end, RepoTrack(base, sides))
        except WrongOutput as wrong:
            if wrong.side != "incumbent":
                raise
        kept: dict[Side, Layers] = {name: side for name, side in sides.items() if name != "incumbent"}
        return await run_until(end_of_race(self._rule, False), RepoTrack(base, kept))

    async def _incumbent(self, base: Base, program: Program, incumbent: Action | None) -> Layers | None:
        if incumbent is None or incumbent.program is None or incumbent.program.digest == program.digest:
            return None
        beside = await self._ready_again(base, incumbent.program)
        return None if beside is None else beside.side

    async def _ready_again(self, base: Base, program: Program) -> Ready | None:
        """A candidate that was built and right before, or is now."""
        key = _key(base.problem, program)
        if key not in self._ready:
            one, _ = await ready(base, program)
            if one is None:
                return None
            self._remember(key, one)
        return self._ready[key]

    def _remember(self, key: str, one: Ready) -> None:
        self._ready[key] = one
        while len(self._ready) > BUILT:
            del self._ready[next(iter(self._ready))]

    # -------------------------------------------------------------------------------------------------- referee

    @in_stage("confirmation")
    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        """Races challengers in slot order against the incumbent on fresh pairs, and confirms the last winner.

        Every program is built and tested again, the incumbent too, and its tests must be able to fail.
        """
        base = await self.base(problem)

        async def prepared(state: State) -> Ready | Evaluation:
            one, found = await ready(base, state.program, with_canary=True)
            return _as_long(found, state) if one is None else one

        leader, found = await last_standing(challengers, incumbent, prepared, partial(self._wins, base), ahead=False)
        if leader is not None:
            self._remember(_key(problem, leader[0].program), leader[1])
            found[leader[0].id] = await self._confirmed(base, *leader)
        return found

    async def _wins(
        self,
        base: Base,
        candidate: tuple[State, Ready],
        leader: tuple[State, Ready],
        found: dict[StateId, Evaluation],
    ) -> bool:
        sides: dict[Side, Layers] = {
            "original": base.side, "incumbent": leader[1].side, "candidate": candidate[1].side,
        }  # fmt: skip
        try:
            held = await run_until(end_of_playoff(self._short), RepoTrack(base, sides))
        except WrongOutput as wrong:
            state = candidate[0] if wrong.side == "candidate" else leader[0]
            assert state.step is not None
            found[state.id] = failed_in_race(state.step.evaluation, wrong)
            return wrong.side == "incumbent"
        return held.verdict == "faster"

    async def _confirmed(self, base: Base, state: State, one: Ready) -> Evaluation:
        """The evaluation of a winner on fresh pairs, with base once more as a control."""
        assert state.step is not None
        key = _key(base.problem, state.program)
        if key in self._confirmations:  # once: a repeated proposal must not get another chance
            return self._confirmations[key]
        raced = state.step.evaluation
        right = Evaluation(Outcome.CORRECT, raced.feedback, trust=base.trust)
        right = _as_long(replace(right, warnings=doubts(base, state.program)), state)
        sides: dict[Side, Layers] = {"original": base.side, "control": base.side, "candidate": one.side}
        try:
            held = await run_until(end_of_confirmation(self._rule), RepoTrack(base, sides))
        except WrongOutput as wrong:
            return failed_in_race(right, wrong)
        found = _told(base, right, held, one, confirmed=True)
        if found.timing is not None and found.timing.verdict != "noisy":
            remember(self._confirmations, key, found, REMEMBERED)
        return found

    @in_stage("profile")
    async def with_profile(self, problem: Problem, program: Program, found: Evaluation) -> Evaluation:
        """The role ``ProfilesBest``: one run of the benchmark under the profiler that base had."""
        base = await self.base(problem)
        one = await self._ready_again(base, program)
        seconds = found.timing.median_seconds if found.timing is not None else None
        if one is None or seconds is None:
            return found
        seen = await profile_of(base, one.side, program, seconds[1])
        return replace(found, hot=seen.functions, outside=seen.outside)

    # ------------------------------------------------------------------------------------------------ smaller patch

    @in_stage("smaller patch")
    async def loss(self, problem: Problem, whole: Program, less: Program) -> Loss:
        """Races a patch without a part of it against the whole one; two-sided, so that "no change" is proved too."""
        base = await self.base(problem)
        other = await self._ready_again(base, whole)
        one, failed = await ready(base, less)
        if one is None or other is None:
            return Loss("needed", "; ".join(failed.feedback.reasons))
        sides: dict[Side, Layers] = {"incumbent": other.side, "candidate": one.side}
        try:
            held = await run_until(_end_of_loss, RepoTrack(base, sides))
        except WrongOutput as wrong:
            return Loss("needed", str(wrong))
        ratios = [pair.ratio("incumbent", "candidate") for pair in held.pairs]
        return Loss(judge(ratios, _LOSS), ratio=interval_at_any_time(ratios), margin=_LOSS.margin)

    # ---------------------------------------------------------------------------------------------- certificates

    def provenance(self, admitted: Admitted, machine: Machine) -> Provenance:
        """The benchmark's command, with what is compared of its output, is the only input."""
        return Provenance(admitted.inputs, machine.compilers.get(admitted.problem.language, ""), {})

    async def made(self, problem: Problem, harsh: bool = False) -> GeneratedInputs:
        """No inputs other than those of the benchmark."""
        return GeneratedInputs()

    async def check(self, problem: Problem, winner: Program) -> RepoCheck:
        """A checker of a winner (``winner_check.py``)."""
        return RepoCheck(await self.base(problem), winner)

    async def race_fresh(self, problem: Problem, winner: Program, pairs: int) -> FreshRace:
        """No race: the benchmark has its own inputs, or another seed in every pair."""
        return await (await self.check(problem, winner)).race_fresh(pairs)

    # ------------------------------------------------------------------------------------------ nodes of a cluster

    def measuring(self, options: MeasureOptions) -> RepoEvaluator:
        """Another evaluator on the same admissions that measures with these options."""
        rule = replace(self._rule, most=options.pairs) if options.pairs else self._rule
        other = RepoEvaluator(self._sandbox, rule, self._keeps, self._kept, self._prompts)
        other._bases, other._admitting = self._bases, self._admitting
        return other

    def time_these(self, admitted: Admitted, names: Sequence[str]) -> Admitted:
        """The admission unchanged: its only input is always timed."""
        if list(names) != [one.name for one in admitted.timed]:
            raise InputError(f"the inputs {list(names)} are timed on another node and do not exist here")
        return admitted

    def give(self, problem: Problem, program: Program, built: Built) -> None:
        """Does nothing: a candidate is built from base's build tree where it runs."""

    def remembered(self) -> TimingCache:
        """An empty cache: every timing is made again."""
        return TimingCache()

    def forget_since(self, then: TimingCache) -> None:
        """Forgets all timings."""
        self._timings, self._confirmations = {}, {}


def _key(problem: Problem, program: Program) -> str:
    return f"{identity(problem)} {program.digest}"


_LOSS = TwoSidedRule(most=60)


def _end_of_loss(pairs: list[Pair]) -> RaceVerdict | None:
    """Ends when the pairs prove one of the three words."""
    word = judge([pair.ratio("incumbent", "candidate") for pair in pairs], _LOSS)
    if word == "undecided" and len(pairs) < _LOSS.most:
        return None
    return "faster" if word == "faster" else "slower" if word == "slower" else "tie"


def _as_long(found: Evaluation, state: State) -> Evaluation:
    """The evaluation of a confirmation, with the seconds that the judging of its candidate took before."""
    known = state.step.evaluation.measures if state.step is not None else {}
    return replace(found, measures={**found.measures, JUDGED: known[JUDGED]}) if JUDGED in known else found


def failed_in_race(found: Evaluation, wrong: WrongOutput) -> Evaluation:
    """The evaluation of a candidate that failed while it was timed.  InputError if base did, in whichever arm."""
    if wrong.side in ("original", "control"):
        cure = "give it less work, or use a quieter machine" if wrong.late else "let it print the same in every run"
        raise InputError(f"the benchmark of base fails, or does not always print the same ({wrong}); {cure}")
    return wrong_while_timed(found, wrong)


def _told(base: Base, found: Evaluation, held: RaceResult, one: Ready, confirmed: bool = False) -> Evaluation:
    """The evaluation with its timing."""
    timing = replace(timing_of(base.problem, held, base.admitted.timed), confirmed=confirmed)
    trouble = _trouble(held)
    if trouble and timing.significant:
        timing = replace(timing, significant=False, verdict="noisy")
    measures = {**found.measures, "build_s": one.build_s, "build_mb": one.side.further_mb}
    warnings = (*found.warnings, *([trouble] if trouble else []), *warnings_of(timing))
    return replace(found, timing=timing, measures=measures, warnings=warnings)


def _trouble(held: RaceResult) -> str:
    """In which way base differs from itself; empty if it does not, or was not raced against itself."""
    if "control" not in held.pairs[0].seconds:
        return ""
    ratios = [pair.ratio("original", "control") for pair in held.pairs]
    if judge(ratios, TwoSidedRule()) not in ("faster", "slower"):
        return ""
    return f"{CONTROL} ({interval_at_any_time(ratios)}): no verdict can be trusted here; use a quieter machine"
