"""The evaluator of the kind ``module``: reject, build, then turns against the reference, the first of them untimed.

It plays the same two roles as ``program.py``'s and keeps to the same promises.  What departs: a side is one process
that lives through its race, because torch takes a second to start; so every call gets fresh inputs and every output of
every call is checked, verified and timed alike, and nothing that a process keeps can help it.  A confirmation has new
weights and new seeds, and new processes in each of its sittings: where the memory of a process happens to lie is in all
of its pairs, and would pass for a gain of some per cent.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import final

import anyio

from maxcode.core.stats import RaceRule, median_interval
from maxcode.core.types import (
    Action,
    CaseResult,
    Evaluation,
    Feedback,
    Hotspot,
    Interval,
    Outcome,
    Problem,
    Program,
    State,
    StateId,
    Timing,
)
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.contest import warnings_of
from maxcode.evaluate.ladder.judge import identity, reject
from maxcode.evaluate.ladder.playoff import last_standing
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.race import (
    SHORT_PASS_S,
    End,
    Pair,
    RaceResult,
    end_of_playoff,
    end_of_race,
    run_until,
    timing_of,
    together,
)
from maxcode.evaluate.ladder.race import Side as Name
from maxcode.evaluate.module.clocks import REPORT_BYTES, slowed
from maxcode.evaluate.module.compiled import compiled_only
from maxcode.evaluate.module.contract import Contract, Plans, degenerate, plans, shapes_told
from maxcode.evaluate.module.gpu import find_gpu, on_gpu, require_gpu
from maxcode.evaluate.module.metrics import metrics
from maxcode.evaluate.module.module_constants import replaced
from maxcode.evaluate.module.natives import Natives
from maxcode.evaluate.module.operators import operators
from maxcode.evaluate.module.sides import BUILD_FAILED, CANDIDATE, REFERENCE, WRONG_OUTPUT, Side, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import CALL, ModuleTrack, RoundFailed, open_track
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

VERIFY_ROUNDS = 3
PLAYOFF_PAIRS, COMPILED_PAIRS = 15, 15
SITTING_PAIRS = 6
OUT_OF_MEMORY = b"CUDA out of memory"
_CLASS = re.compile(r"^class[ \t]+ModelNew\b", re.MULTILINE)


@final
@dataclass(frozen=True, slots=True)
class Staged:
    """An admitted module problem: where its sides are started, its plans and reference; ``caveats`` go with every
    result."""

    stage: SideStarter
    plans: Plans
    reference: Side
    admitted: Admitted
    caveats: tuple[str, ...]

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.admitted.timed


@final
class ModuleEvaluator:
    """Evaluates candidates of the module problems it has admitted; share it between search and training.

    Trusts: the kernel, bubblewrap, the shim of every session, this process, and the reference, which is the user's.
    """

    def __init__(self, sandbox: Sandbox, rule: RaceRule = RaceRule(), beside_compiled: bool = True) -> None:  # noqa: B008
        """``beside_compiled``: whether a confirmation is followed by a comparison with torch.compile."""
        self._sandbox = sandbox
        self._beside_compiled = beside_compiled
        self._rule = rule
        self._short = replace(rule, most=PLAYOFF_PAIRS)
        self._staged: dict[str, Staged] = {}
        self._natives = Natives()
        self._admitting = anyio.Lock()

    @property
    def sandbox(self) -> str:
        """The sandbox's tier in words; part of every result."""
        return self._sandbox.describe()

    # ------------------------------------------------------------------------------------------------- admission

    async def admit(self, problem: Problem) -> Admitted:
        """Run the reference: what it takes and gives, whether it is degenerate, how long a call takes.

        InputError when it cannot be compared with anything.
        """
        staged = await self._stage(problem)
        self._staged[identity(problem)] = staged
        return staged.admitted

    async def _stage(self, problem: Problem) -> Staged:
        spec = problem.spec.module_spec
        reference = Side(replaced(problem.program.text, dict(spec.constants)), REFERENCE)
        threads = 1 if problem.goal == "cpu" else len(os.sched_getaffinity(0))
        stage = SideStarter(self._sandbox, find_runtime(), problem, threads, secrets.randbits(31))
        gpu = await require_gpu(self._sandbox, problem) if spec.device == "cuda" else None
        stage = on_gpu(stage, gpu) if gpu is not None else stage
        stage = replace(stage, contract=await stage.describe(reference))
        stage = await stage.with_weights(reference)
        seconds = await self._seconds(stage, reference)
        slots = stage.contract.slots(seconds)
        short = slots * seconds < SHORT_PASS_S and not stage.on_device
        plan = plans(stage.contract, slots, REPORT_BYTES * stage.on_device, twice=short)
        caveats = tuple(
            f"degenerate: {why}; a program could pass without doing the work, so a speed-up means nothing here"
            for why in degenerate(stage.contract)
        )
        spots = await operators(stage, reference)
        told = replace(problem, statement="\n".join((problem.statement, gpu.told())).strip()) if gpu else problem
        return Staged(stage, plan, reference, _admitted(told, stage.contract, (seconds, spots), caveats), caveats)

    async def _seconds(self, stage: SideStarter, reference: Side) -> float:
        """What a call of the reference takes when it is warm."""
        plan = plans(stage.contract, 2, REPORT_BYTES * stage.on_device)
        async with open_track(stage, plan, reference, {"original": reference}) as track:
            await track.pair()
            pairs = [await track.pair() for _ in range(3)]
        return min(pair.total("original") for pair in pairs) / 2

    async def compiled(self, problem: Problem, action: Action) -> tuple[Admitted, Evaluation] | None:
        """A candidate for a GPU where there is none: compiled, not verified; None where there is one."""
        found = await find_gpu(self._sandbox, problem)
        return await compiled_only(self._sandbox, problem, action, found) if isinstance(found, str) else None

    async def _of(self, problem: Problem) -> Staged:
        async with self._admitting:
            if identity(problem) not in self._staged:
                await self.admit(problem)
            return self._staged[identity(problem)]

    # ------------------------------------------------------------------------------------------------ evaluator

    async def evaluate(self, problem: Problem, action: Action, rival: Action | None = None) -> Evaluation:
        """The ladder: reject, build, verify, time.  The ratio is against the reference in eager mode."""
        if (refused := _rejected(problem, action)) is not None:
            return refused
        assert action.program is not None
        staged = await self._of(problem)
        side = await self._built(staged, action.program)
        if isinstance(side, Evaluation):
            return side
        sides: dict[Name, Side] = {"original": staged.reference, "candidate": side}
        if rival is not None and rival.program is not None and rival.program.digest != action.program.digest:
            beside = await self._built(staged, rival.program)
            sides |= {} if isinstance(beside, Evaluation) else {"rival": beside}
        found = await self._raced(staged, sides, end_of_race(self._rule, "rival" in sides))
        if found.timing is not None and found.timing.speedup.value > 0.9:  # only such states may be expanded
            async with build_lane():
                seen = await operators(staged.stage, side), await metrics(staged.stage, side)
                found = replace(found, profile=seen[0], remarks=(*found.remarks, *seen[1]))
        return found

    async def _built(self, staged: Staged, program: Program) -> Side | Evaluation:
        async with build_lane():
            side, failed = await self._natives.of(staged.stage, Side(program.text, CANDIDATE))
        return side if failed is None else Evaluation(Outcome.UNBUILT, Feedback((failed.reason,), failed.diagnostics))

    async def _raced(self, staged: Staged, sides: Mapping[Name, Side], end: End) -> Evaluation:
        try:
            held, warnings = await self._run(staged, sides, end, VERIFY_ROUNDS)
        except RoundFailed as failed:
            if failed.side != "rival":
                return _failed(failed)
            kept: dict[Name, Side] = {name: side for name, side in sides.items() if name != "rival"}
            return await self._raced(staged, kept, end_of_race(self._rule, False))
        found = _found(staged, timing_of(staged.stage.problem, held, staged.inputs), warnings)
        return replace(_unless_slowed(staged, found), remarks=self._natives.remarks(sides["candidate"]))

    async def _run(
        self, staged: Staged, sides: Mapping[Name, Side], end: End, verify: int
    ) -> tuple[RaceResult, tuple[str, ...]]:
        """Start the sides, check ``verify`` rounds that are not timed, then race until ``end``."""
        async with AsyncExitStack() as stack:
            async with build_lane():
                track = await stack.enter_async_context(open_track(staged.stage, staged.plans, staged.reference, sides))
                for _ in range(verify):
                    await track.round()
            held = await run_until(end, track)
        return held, _seeded(track)

    # ---------------------------------------------------------------------------------------------- certificates

    async def refusal(self, problem: Problem, action: Action) -> str:
        """Why a candidate is not run at all; empty where it is."""
        refused = _rejected(problem, action)
        if refused is None and action.program is not None:
            side = await self._built(await self._of(problem), action.program)
            refused = side if isinstance(side, Evaluation) else None
        return "" if refused is None else "; ".join(refused.feedback.reasons)

    async def failure(self, problem: Problem, program: Program, rounds: int) -> str:
        """What goes wrong in this many rounds of new processes with new weights; empty where nothing does."""
        staged = await self._fresh(problem)
        side = await self._built(staged, program)
        if isinstance(side, Evaluation):
            return "; ".join(side.feedback.reasons)
        try:
            await self._run(staged, {"original": staged.reference, "candidate": side}, _after(1), rounds - 1)
        except RoundFailed as failed:
            return "; ".join(_failed(failed).feedback.reasons)
        return ""

    async def control(self, problem: Problem, sittings: Sequence[int]) -> list[Pair]:
        """The reference against itself, with so many pairs in each sitting; InputError where it fails."""
        staged = await self._fresh(problem)
        sides: dict[Name, Side] = {"original": staged.reference, "candidate": staged.reference}
        try:
            held = [(await self._run(staged, sides, _after(pairs), VERIFY_ROUNDS))[0] for pairs in sittings]
        except RoundFailed as failed:
            raise InputError(f"the reference failed while being called: {failed}") from failed
        return [pair for one in held for pair in one.pairs]

    # -------------------------------------------------------------------------------------------------- referee

    async def settle(
        self, problem: Problem, contenders: Sequence[State], champion: State | None
    ) -> dict[StateId, Evaluation]:
        """Contenders in slot order against the leader on fresh pairs, with new weights; the last one standing is
        confirmed, beside torch.compile of the reference."""
        staged = await self._fresh(problem)

        async def prepared(state: State) -> Side | Evaluation:
            return await self._built(staged, state.program)

        leader, found = await last_standing(contenders, champion, prepared, partial(self._wins, staged))
        if leader is not None:
            found[leader[0].id] = await self._confirmed(staged, leader[1])
        return found

    async def _fresh(self, problem: Problem) -> Staged:
        """The problem with new weights."""
        known = await self._of(problem)
        stage = replace(known.stage, seed=secrets.randbits(31))
        return replace(known, stage=await stage.with_weights(known.reference))

    async def _wins(
        self,
        staged: Staged,
        candidate: tuple[State, Side],
        leader: tuple[State, Side],
        found: dict[StateId, Evaluation],
    ) -> bool:
        sides: dict[Name, Side] = {"original": staged.reference, "rival": leader[1], "candidate": candidate[1]}
        try:
            held, _ = await self._run(staged, sides, end_of_playoff(self._short), VERIFY_ROUNDS)
        except RoundFailed as failed:
            found[(candidate if failed.side == "candidate" else leader)[0].id] = _failed(failed)
            return failed.side == "rival"
        return held.verdict == "faster"

    async def _confirmed(self, staged: Staged, side: Side) -> Evaluation:
        sides: dict[Name, Side] = {"original": staged.reference, "candidate": side}
        try:
            sittings: list[RaceResult] = []
            while (held := together(sittings, self._rule)) is None:
                sitting, warnings = await self._run(staged, sides, _after(SITTING_PAIRS), VERIFY_ROUNDS)
                sittings.append(sitting)
            compiled, why = await self._over_compiled(staged, side) if self._beside_compiled else (None, ())
        except RoundFailed as failed:
            return _failed(failed)
        timing = timing_of(staged.stage.problem, held, staged.inputs)
        found = _found(staged, replace(timing, confirmed=True, over_compiled=compiled), (*warnings, *why))
        return replace(_unless_slowed(staged, found), remarks=self._natives.remarks(side))

    async def _over_compiled(self, staged: Staged, side: Side) -> tuple[Interval | None, tuple[str, ...]]:
        """The candidate's speed-up over torch.compile of the reference; None, with the reason, where that fails.

        ``RoundFailed`` where the candidate does: its outputs are checked here too.
        """
        compiled = replace(staged.reference, compile=True)
        sides: dict[Name, Side] = {"original": staged.reference, "rival": compiled, "candidate": side}

        try:
            held, _ = await self._run(staged, sides, _after(COMPILED_PAIRS), VERIFY_ROUNDS)
        except RoundFailed as failed:
            if failed.side != "rival":
                raise
            return None, (f"not compared with torch.compile: {failed}",)
        return median_interval([pair.ratio("rival", "candidate") for pair in held.pairs]), ()


def _admitted(
    problem: Problem, contract: Contract, seen: tuple[float, tuple[Hotspot, ...]], caveats: tuple[str, ...]
) -> Admitted:
    """The problem with its shapes in its statement; ``seen``: seconds of a call of the reference, and its profile."""
    seconds, spots = seen
    given = Input(CALL, Blob.of(b""), None, "generated", seconds)
    baseline = Evaluation(Outcome.CORRECT, profile=spots, measures={CALL: seconds}, warnings=caveats)
    statement = "\n".join(part for part in (problem.statement, *shapes_told(contract)) if part)
    return Admitted(replace(problem, statement=statement), (given,), (given,), Built(None), baseline, notes=caveats)


def _after(pairs: int) -> End:
    """The end of a race that is about nothing but its figures."""
    return lambda seen: "tie" if len(seen) >= pairs else None


def _rejected(problem: Problem, action: Action) -> Evaluation | None:
    if (refused := reject(problem, action)) is not None:
        return refused
    assert action.program is not None
    if not _CLASS.search(action.program.text):
        return Evaluation(Outcome.REJECTED, Feedback(("the program must define `class ModelNew`",)))
    return None


def _failed(failed: RoundFailed) -> Evaluation:
    """What a candidate that failed comes to; the reference must not, but for memory of a GPU, which nothing limits."""
    if failed.side == "original" and failed.ran is not None and OUT_OF_MEMORY in failed.ran.stderr:
        return Evaluation(Outcome.CRASHED, Feedback(("it left too little memory of the GPU to the reference",)))
    if failed.side == "original":
        raise InputError(f"the reference failed while being called: {failed}")
    ran = failed.ran
    outcome = Outcome.WRONG
    if failed.cheats:
        outcome = Outcome.REJECTED
    elif ran is not None and ran.ending == "timeout":
        outcome = Outcome.TIMEOUT
    elif ran is not None and ran.ending == "exit" and ran.code == BUILD_FAILED:
        outcome = Outcome.UNBUILT
    elif ran is not None and ran.ending != "tampered" and (ran.ending, ran.code) != ("exit", WRONG_OUTPUT):
        outcome = Outcome.CRASHED
    words = ran.stderr.decode(errors="replace")[-8000:] if ran is not None else ""
    case = CaseResult(CALL, outcome, ran.cpu_s if ran is not None else 0.0, seen=True, detail=str(failed))
    return Evaluation(outcome, Feedback((str(failed),), words if outcome is Outcome.UNBUILT else "", (case,)))


def _found(staged: Staged, timing: Timing, warnings: tuple[str, ...]) -> Evaluation:
    """The evaluation of a candidate whose every output was right; seconds are those of one call, as the baseline's."""
    seconds = min((candidate for _, candidate in timing.samples), default=0.0) / staged.plans.slots
    case = CaseResult(CALL, Outcome.CORRECT, seconds, seen=True)
    told = (*staged.caveats, *warnings, *warnings_of(timing))
    return Evaluation(Outcome.CORRECT, Feedback(cases=(case,)), timing, measures={CALL: seconds}, warnings=told)


def _unless_slowed(staged: Staged, found: Evaluation) -> Evaluation:
    """The evaluation; rejected where the reference was slowed down on a GPU, where nothing stops what a stopped process
    has left running."""
    if not staged.stage.on_device or found.timing is None:
        return found
    beside = median(original for original, _ in found.timing.samples) / staged.plans.slots
    if not (why := slowed(staged.admitted.timed[0].seconds, beside)):
        return found
    return replace(found, outcome=Outcome.REJECTED, feedback=Feedback((why,)), timing=None)


def _seeded(track: ModuleTrack) -> tuple[str, ...]:
    if "candidate" not in track.seeded:
        return ()
    return ("its parameters are not named as the reference's: both were made by the same seed, not copied",)
