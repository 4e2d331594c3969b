"""The evaluator of processes that are called in rounds: reject, build, untimed rounds, then rounds that are timed.

It has the same two roles as ``program/evaluator.py`` and gives the same guarantees.  The difference: a side is one
process that lives through its race, because its start takes long.  So every call gets fresh inputs, and every
output of every call is checked, verified and timed alike (where the user's own check is slow, a sample of the timed
ones: ``python/checking.py``); nothing that a process keeps can help it.  A confirmation has
new seeds, and new processes in each of its sessions: where the memory of a process lies affects all of
its pairs, and would look like a gain of some per cent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Generic, Self

from maxcode.core.phases import in_stage
from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Machine, Problem, Program, State, StateId
from maxcode.evaluate.harness_protocol import FreshRace, MeasureOptions, Provenance, TimingCache
from maxcode.evaluate.inputs.proving import GeneratedInputs
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.leader import last_standing
from maxcode.evaluate.ladder.prepare import Admitted, unadmitted
from maxcode.evaluate.ladder.race import End, Side, end_of_playoff, end_of_race, timing_of
from maxcode.evaluate.rounds.confirming import Confirmation
from maxcode.evaluate.rounds.round import VERIFY_ROUNDS, Beyond, RoundFailed
from maxcode.evaluate.rounds.stages import P, S, Stages
from maxcode.evaluate.rounds.winner_check import RoundsCheck
from maxcode.sandbox.sandbox import Sandbox

PLAYOFF_PAIRS = 15


class RoundsEvaluator(Generic[S, P]):
    """Evaluates candidates of admitted problems; search and training share it.

    Trusts the kernel, bubblewrap, the shim of every session, this process, and the original, which is the user's.
    """

    def __init__(self, sandbox: Sandbox, stages: Stages[S, P], rule: RaceRule = RaceRule()) -> None:  # noqa: B008
        self._sandbox = sandbox
        self._rule = rule
        self._short = replace(rule, most=PLAYOFF_PAIRS)
        self._stages = stages

    @property
    def sandbox(self) -> str:
        """The sandbox tier as text; part of every result."""
        return self._sandbox.describe()

    # ------------------------------------------------------------------------------------------------- admission

    @in_stage("admission")
    async def admit(self, problem: Problem) -> Admitted:
        """Run the original: what it takes and returns, if it is degenerate, how long a call takes.

        InputError if its outputs cannot be compared with anything.
        """
        return (await self._stages.admit(problem)).admitted

    # ------------------------------------------------------------------------------------------------ evaluator

    async def refused_early(self, problem: Problem, action: Action) -> tuple[Admitted, Evaluation] | None:
        """The role ``RefusesEarly``: by its text alone."""
        refused = self._stages.rejected(problem, action)
        return None if refused is None else (unadmitted(problem), refused)

    @in_stage("evaluation")
    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        """The ladder: reject, build, verify, time."""
        if (refused := self._stages.rejected(problem, action)) is not None:
            return refused
        assert action.program is not None
        staged = await self._stages.of(problem)
        side = await self._stages.built(staged, action.program)
        if isinstance(side, Evaluation):
            return side
        sides: dict[Side, P] = {"original": self._stages.original(staged), "candidate": side}
        if (
            incumbent is not None
            and incumbent.program is not None
            and incumbent.program.digest != action.program.digest
        ):
            beside = await self._stages.built(staged, incumbent.program)
            sides |= {} if isinstance(beside, Evaluation) else {"incumbent": beside}
        found = await self._raced(staged, sides, end_of_race(self._rule, "incumbent" in sides))
        if found.timing is not None:  # slow ones too: a search may go on from the fastest of them
            found = await self._stages.examined(staged, side, found)
        return found

    async def _raced(self, staged: S, sides: Mapping[Side, P], end: End) -> Evaluation:
        beyond: Beyond = "first" if self._rule.evident is None else "unless faster"  # that is confirmed
        try:
            seen = await self._stages.run(staged, sides, end, VERIFY_ROUNDS, beyond)
        except RoundFailed as failed:
            if failed.side != "incumbent":
                return self._stages.failed(failed)
            kept: dict[Side, P] = {name: side for name, side in sides.items() if name != "incumbent"}
            return await self._raced(staged, kept, end_of_race(self._rule, False))
        timing = seen.told(timing_of(staged.problem, seen.held, staged.inputs), staged.degenerate)
        return self._stages.right(staged, sides["candidate"], timing, seen)

    # ---------------------------------------------------------------------------------------------- certificates

    def provenance(self, admitted: Admitted, machine: Machine) -> Provenance:
        """No input is the same every time, so none is named."""
        return Provenance((), self._stages.compiler(admitted.problem, machine), {})

    async def made(self, problem: Problem, harsh: bool = False) -> GeneratedInputs:
        """No inputs other than those of every call."""
        return GeneratedInputs(how=(self._stages.made,))

    async def check(self, problem: Problem, winner: Program) -> RoundsCheck[S, P]:
        """A checker of a winner (``winner_check.py``)."""
        return RoundsCheck(self._stages, problem, winner, self._rule)

    async def race_fresh(self, problem: Problem, winner: Program, pairs: int) -> FreshRace:
        """No race: all inputs of a confirmation are fresh already, or they are calls that nothing can draw."""
        return await (await self.check(problem, winner)).race_fresh(pairs)

    # ------------------------------------------------------------------------------------------ nodes of a cluster

    def measuring(self, options: MeasureOptions) -> Self:
        """This evaluator itself: the options do not apply to rounds."""
        return self

    def time_these(self, admitted: Admitted, names: Sequence[str]) -> Admitted:
        """The admission unchanged: its only input is always timed."""
        return admitted

    def give(self, problem: Problem, program: Program, built: Built) -> None:
        """Does nothing: a program is built where it is called."""

    def remembered(self) -> TimingCache:
        """An empty cache: every timing is made again."""
        return TimingCache()

    def forget_since(self, then: TimingCache) -> None:
        """Does nothing: there is no cache."""

    # -------------------------------------------------------------------------------------------------- referee

    @in_stage("confirmation")
    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        """Races challengers in slot order against the incumbent on fresh pairs, with new secrets.

        The last winner is confirmed, and compared with what its kind is also compared with.
        """
        staged = await self._stages.fresh(problem)

        async def prepared(state: State) -> P | Evaluation:
            return await self._stages.built(staged, state.program)

        wins = partial(self._wins, staged)
        ahead = self._stages.leaves_cores(staged)
        leader, found = await last_standing(challengers, incumbent, prepared, wins, ahead)
        if leader is not None:
            found[leader[0].id] = await self._confirmed(staged, leader[1])
        return found

    async def _wins(
        self, staged: S, candidate: tuple[State, P], leader: tuple[State, P], found: dict[StateId, Evaluation]
    ) -> bool:
        sides: dict[Side, P] = {
            "original": self._stages.original(staged),
            "incumbent": leader[1],
            "candidate": candidate[1],
        }
        try:
            held = (await self._stages.run(staged, sides, end_of_playoff(self._short), VERIFY_ROUNDS)).held
        except RoundFailed as failed:
            found[(candidate if failed.side == "candidate" else leader)[0].id] = self._stages.failed(failed)
            return failed.side == "incumbent"
        return held.verdict == "faster"

    async def _confirmed(self, staged: S, side: P) -> Evaluation:
        try:
            return await Confirmation(self._stages, self._rule, staged).of(side)
        except RoundFailed as failed:
            return self._stages.failed(failed)
