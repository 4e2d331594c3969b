"""The evaluator of the kind ``module``: reject, build, then rounds against the reference, the first ones untimed.

It has the same two roles as ``program/evaluator.py`` and gives the same guarantees.  The difference: a side is one
process that lives through its race, because torch takes a second to start.  So every call gets fresh inputs, and every
output of every call is checked, verified and timed alike; nothing that a process keeps can help it.  A confirmation has
new weights and new seeds, and new processes in each of its sessions: where the memory of a process lies affects all of
its pairs, and would look like a gain of some per cent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import final

from maxcode.core.phases import in_stage
from maxcode.core.stats import RaceRule, median_interval
from maxcode.core.types import Action, Evaluation, Interval, Machine, Problem, Program, State, StateId
from maxcode.evaluate.harness_protocol import FreshRace, MeasureOptions, Provenance, TimingCache
from maxcode.evaluate.inputs.fresh import GeneratedInputs
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.leader import last_standing
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.race import End, Side, end_of_playoff, end_of_race, timing_of, together
from maxcode.evaluate.module.compiled import compiled_only
from maxcode.evaluate.module.gpu import find_gpu
from maxcode.evaluate.module.metrics import metrics
from maxcode.evaluate.module.operators import operators
from maxcode.evaluate.module.sides import ModuleSide
from maxcode.evaluate.module.staging import VERIFY_ROUNDS, Sitting, Staged, Stages, after
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import RoundFailed
from maxcode.evaluate.module.verdicts import failed_in, found_right, rejected, unless_slowed
from maxcode.evaluate.module.winner_check import ModuleCheck
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Sandbox

PLAYOFF_PAIRS, COMPILED_PAIRS = 15, 15
SITTING_PAIRS = 6


@final
class ModuleEvaluator:
    """Evaluates candidates of admitted module problems; search and training share it.

    Trusts the kernel, bubblewrap, the shim of every session, this process, and the reference, which is the user's.
    """

    def __init__(self, sandbox: Sandbox, rule: RaceRule = RaceRule(), beside_compiled: bool = True) -> None:  # noqa: B008
        """``beside_compiled``: a confirmation is followed by a comparison with torch.compile."""
        self._sandbox = sandbox
        self._beside_compiled = beside_compiled
        self._rule = rule
        self._short = replace(rule, most=PLAYOFF_PAIRS)
        self._stages = Stages(sandbox)

    @property
    def sandbox(self) -> str:
        """The sandbox tier as text; part of every result."""
        return self._sandbox.describe()

    # ------------------------------------------------------------------------------------------------- admission

    @in_stage("admission")
    async def admit(self, problem: Problem) -> Admitted:
        """Run the reference: what it takes and returns, if it is degenerate, how long a call takes.

        InputError if its outputs cannot be compared with anything.
        """
        return (await self._stages.admit(problem)).admitted

    async def compiled(self, problem: Problem, action: Action) -> tuple[Admitted, Evaluation] | None:
        """A GPU candidate on a machine without a GPU: compiled, not verified; None if there is a GPU."""
        found = await find_gpu(self._sandbox, problem)
        return await compiled_only(self._sandbox, problem, action, found) if isinstance(found, str) else None

    # ------------------------------------------------------------------------------------------------ evaluator

    @in_stage("evaluation")
    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        """The ladder: reject, build, verify, time.  The speed-up is over the reference in eager mode."""
        if (refused := rejected(problem, action)) is not None:
            return refused
        assert action.program is not None
        staged = await self._stages.of(problem)
        side = await self._stages.built(staged, action.program)
        if isinstance(side, Evaluation):
            return side
        sides: dict[Side, ModuleSide] = {"original": staged.reference, "candidate": side}
        if (
            incumbent is not None
            and incumbent.program is not None
            and incumbent.program.digest != action.program.digest
        ):
            beside = await self._stages.built(staged, incumbent.program)
            sides |= {} if isinstance(beside, Evaluation) else {"incumbent": beside}
        found = await self._raced(staged, sides, end_of_race(self._rule, "incumbent" in sides))
        if found.timing is not None:  # slow ones too: a search may go on from the fastest of them
            async with build_lane():
                seen = await operators(staged.stage, side), await metrics(staged.stage, side)
                found = replace(found, profile=seen[0], remarks=(*found.remarks, *seen[1]))
        return found

    async def _raced(self, staged: Staged, sides: Mapping[Side, ModuleSide], end: End) -> Evaluation:
        try:
            seen = await self._stages.run(staged, sides, end, VERIFY_ROUNDS, beyond=True)
        except RoundFailed as failed:
            if failed.side != "incumbent":
                return failed_in(failed)
            kept: dict[Side, ModuleSide] = {name: side for name, side in sides.items() if name != "incumbent"}
            return await self._raced(staged, kept, end_of_race(self._rule, False))
        timing = timing_of(staged.stage.problem, seen.held, staged.inputs)
        found = found_right(staged, seen.told(timing, staged.degenerate), seen.warnings, seen.official)
        return replace(unless_slowed(staged, found), remarks=self._stages.natives.remarks(sides["candidate"]))

    # ---------------------------------------------------------------------------------------------- certificates

    def provenance(self, admitted: Admitted, machine: Machine) -> Provenance:
        """No input is the same every time, so none is named; torch is the compiler."""
        return Provenance((), f"torch {find_runtime().torch}, {machine.compilers.get('cpp', 'no g++')}", {})

    async def made(self, problem: Problem, harsh: bool = False) -> GeneratedInputs:
        """No inputs other than those of every call."""
        return GeneratedInputs(how=("every call of every round: fresh ones, from secret seeds",))

    async def check(self, problem: Problem, winner: Program) -> ModuleCheck:
        """A checker of a winner (``winner_check.py``)."""
        return ModuleCheck(self._stages, problem, winner)

    async def race_fresh(self, problem: Problem, winner: Program, pairs: int) -> FreshRace:
        """No race: all inputs of a confirmation are fresh already."""
        return await (await self.check(problem, winner)).race_fresh(pairs)

    # ------------------------------------------------------------------------------------------ nodes of a cluster

    def measuring(self, options: MeasureOptions) -> ModuleEvaluator:
        """This evaluator itself: the options do not apply to modules."""
        return self

    def time_these(self, admitted: Admitted, names: Sequence[str]) -> Admitted:
        """The admission unchanged: its only input is always timed."""
        return admitted

    def give(self, problem: Problem, program: Program, built: Built) -> None:
        """Does nothing: a module is built where it is called."""

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
        """Races challengers in slot order against the incumbent on fresh pairs, with new weights.

        The last winner is confirmed, and compared with torch.compile of the reference as well.
        """
        staged = await self._stages.fresh(problem)

        async def prepared(state: State) -> ModuleSide | Evaluation:
            return await self._stages.built(staged, state.program)

        leader, found = await last_standing(challengers, incumbent, prepared, partial(self._wins, staged))
        if leader is not None:
            found[leader[0].id] = await self._confirmed(staged, leader[1])
        return found

    async def _wins(
        self,
        staged: Staged,
        candidate: tuple[State, ModuleSide],
        leader: tuple[State, ModuleSide],
        found: dict[StateId, Evaluation],
    ) -> bool:
        sides: dict[Side, ModuleSide] = {
            "original": staged.reference,
            "incumbent": leader[1],
            "candidate": candidate[1],
        }
        try:
            held = (await self._stages.run(staged, sides, end_of_playoff(self._short), VERIFY_ROUNDS)).held
        except RoundFailed as failed:
            found[(candidate if failed.side == "candidate" else leader)[0].id] = failed_in(failed)
            return failed.side == "incumbent"
        return held.verdict == "faster"

    async def _confirmed(self, staged: Staged, side: ModuleSide) -> Evaluation:
        sides: dict[Side, ModuleSide] = {"original": staged.reference, "candidate": side}
        try:
            sittings: list[Sitting] = []
            while (held := together([one.held for one in sittings], self._rule)) is None:
                run = partial(self._stages.run, staged, sides, after(SITTING_PAIRS), VERIFY_ROUNDS)
                sittings.append(await run(beyond=not sittings))
            compiled, why = await self._over_compiled(staged, side) if self._beside_compiled else (None, ())
        except RoundFailed as failed:
            return failed_in(failed)
        timing = sittings[0].told(timing_of(staged.stage.problem, held, staged.inputs), staged.degenerate)
        timing = replace(timing, confirmed=True, over_compiled=compiled)
        found = found_right(staged, timing, (*sittings[0].warnings, *why), sittings[0].official)
        return replace(unless_slowed(staged, found), remarks=self._stages.natives.remarks(side))

    @in_stage("torch.compile")
    async def _over_compiled(self, staged: Staged, side: ModuleSide) -> tuple[Interval | None, tuple[str, ...]]:
        """The candidate's speed-up over torch.compile of the reference; None, with the reason, if that fails.

        ``RoundFailed`` if the candidate fails: its outputs are checked here too.
        """
        compiled = replace(staged.reference, compile=True)
        sides: dict[Side, ModuleSide] = {"original": staged.reference, "incumbent": compiled, "candidate": side}

        try:
            held = (await self._stages.run(staged, sides, after(COMPILED_PAIRS), VERIFY_ROUNDS)).held
        except RoundFailed as failed:
            if failed.side != "incumbent":
                raise
            return None, (f"not compared with torch.compile: {failed}",)
        return median_interval([pair.ratio("incumbent", "candidate") for pair in held.pairs]), ()
