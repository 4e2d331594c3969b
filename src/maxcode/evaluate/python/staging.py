"""Admitted Python functions and rounds of their sides, for evaluating, confirming and checking again."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import final

import anyio

from maxcode.core.phases import START, VERIFICATION, activity
from maxcode.core.types import (
    Action,
    Evaluation,
    Facts,
    Machine,
    Outcome,
    Problem,
    Program,
    TimedInput,
    Timing,
)
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.original_runs import spending
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity
from maxcode.evaluate.ladder.race import SHORT_PASS_S, End, Pair, Side, run_until
from maxcode.evaluate.ladder.reject import not_permitted, reject
from maxcode.evaluate.python.checking import checked_by_halves, is_dear
from maxcode.evaluate.python.handing import Handing
from maxcode.evaluate.python.making import MAKING, shared
from maxcode.evaluate.python.runtime import find_python
from maxcode.evaluate.python.sides import OUT, Checks, Layout, SideStarter, draw_seeds
from maxcode.evaluate.python.spots import left_by, notes_of, profile_of, spots
from maxcode.evaluate.python.track import PythonTrack, RecordedPairs, Seen, open_track
from maxcode.evaluate.rounds.round import (
    CALL,
    VERIFY_ROUNDS,
    Beyond,
    RoundFailed,
    Sitting,
    failed_in,
    found_right,
    hidden,
    last_words,
    late,
    seconds_of,
)
from maxcode.evaluate.rounds.stages import Rival, without_work
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

LEAST_PART_S, MOST_BATCH = 0.001, 64  # of a part, so that going to and fro is little beside it
LEAST_ROUND_S, LEAST_SLOTS, MOST_SLOTS = 0.010, 2, 16
MOST_ROUND_BYTES = 256 << 20
ROOM = 2.0  # times the largest message seen is the room for arguments
DESCRIBED = 8  # inputs that are looked at first
LEAST_PAIRS, PAIRS, ENOUGH_S = 3, 5, 15.0  # of the original with itself; after so many seconds the least are enough


@final
@dataclass(frozen=True, slots=True)
class Staged:
    """An admitted Python function.  ``degenerate``: why a candidate could pass without doing the work; ``shown``: the
    arguments of calls on which candidates are profiled."""

    stage: SideStarter
    layout: Layout
    admitted: Admitted
    degenerate: tuple[str, ...]
    shown: bytes

    @property
    def problem(self) -> Problem:
        return self.stage.problem

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.admitted.timed

    @property
    def same_calls(self) -> str:
        recorded = self.problem.spec.python_spec.recorded
        many = f"{self.layout.calls} of {recorded} recorded calls, all held out"
        return f"the timed calls are {many}, the same in every pair" if recorded else ""

    @property
    def caveats(self) -> tuple[str, ...]:
        """Warnings for every result."""
        return tuple(map(without_work, self.degenerate))


@final
class PythonStages:
    """The problems that one harness has admitted; builds and starts their sides (``rounds/stages.py``)."""

    def __init__(self, sandbox: Sandbox, prompts: bool = True) -> None:
        """``prompts``: profile candidates, which only prompts and reports of searches tell of."""
        self._sandbox = sandbox
        self._prompts = prompts
        self._staged: dict[str, Staged] = {}
        self._admitting = anyio.Lock()

    async def admit(self, problem: Problem) -> Staged:
        staged = await self._stage(problem)
        self._staged[identity(problem)] = staged
        return staged

    async def of(self, problem: Problem) -> Staged:
        async with self._admitting:
            if identity(problem) not in self._staged:
                await self.admit(problem)
            return self._staged[identity(problem)]

    async def fresh(self, problem: Problem) -> Staged:
        """The problem as it is: its secrets are drawn for every round."""
        return await self.of(problem)

    async def _stage(self, problem: Problem) -> Staged:
        runtime = find_python(problem.spec.python_spec.venv)
        threads = 1 if problem.goal == "cpu" else len(os.sched_getaffinity(0))
        stage = SideStarter(self._sandbox, runtime, problem, threads)
        layout, shown = await self._described(stage)
        if problem.spec.python_spec.calls is not None:
            layout = _of_recorded(layout, problem.spec.python_spec.recorded)
            seconds, seen, layout = await self._seconds_of_recorded(stage, layout)
        else:
            seconds, seen, layout = await self._seconds(stage, layout)
            layout = _laid_out(layout, seconds, seen.check_s)
        printed = await _profile_run(stage, problem.program, shown)
        profile = profile_of(printed)
        reasons, notes = (*_degenerate(seen), *left_by(profile, printed)), notes_of(seconds, profile)
        given = Input(CALL, Blob.of(b""), None, "generated", seconds)
        warnings = (*map(without_work, reasons), *notes, *checked_by_halves(layout, seconds, seen.check_s))
        hottest = spots(profile, _texts(stage, problem.program))
        baseline = Evaluation(Outcome.CORRECT, profile=hottest, measures={CALL: seconds}, warnings=warnings)
        admitted = Admitted(problem, (given,), (given,), Built(None), baseline, notes=warnings)
        facts = Facts(timed=(TimedInput(seconds),), calls=_called(problem, layout), threads=threads)
        return Staged(stage, layout, replace(admitted, facts=facts), reasons, shown)

    async def _described(self, stage: SideStarter) -> tuple[Layout, bytes]:
        """Room for the arguments of a part, of whole pages, and the arguments of the calls to profile."""
        is_recorded = stage.problem.spec.python_spec.calls is not None
        seeds = halves(stage)[0] if is_recorded else draw_seeds(DESCRIBED)
        with spending(MAKING):
            ran = await stage.once("describe", stage.problem.program, seeds)
        if not ran.ok:
            raise InputError(f"inputs.py does not run: {last_words(ran)}")
        said = json.loads(ran.stdout.rstrip().rpartition(b"\n")[2])
        if said["different"] < 2 and not is_recorded:
            raise InputError(
                "the inputs of all seeds are the same: a function could keep the result of an earlier call; make the "
                "arguments that `inputs(seed, size)` returns depend on its seed"
            )
        layout = Layout(_whole_pages(int(ROOM * max(said["sizes"]))))
        return layout if is_recorded else shared(layout, said["seconds"]), ran.files[OUT]

    async def _seconds(self, stage: SideStarter, layout: Layout) -> tuple[float, Seen, Layout]:
        """Seconds of a warm call of the original; it runs against itself, which shows whether it is always the same."""
        original, began, pairs = stage.problem.program, time.monotonic(), list[Pair]()
        layout = _of_admission(stage, layout)
        try:
            async with open_track(stage, layout, {"original": original, "candidate": original}) as track:
                while len(pairs) < LEAST_PAIRS or (len(pairs) < PAIRS and time.monotonic() - began < ENOUGH_S):
                    pairs.append(await track.pair())
                seen = track.seen
                seen.check_s = track.checker.check_s if track.checker is not None else 0.0
        except RoundFailed as failed:
            raise InputError(_unsteady(stage.problem, failed)) from failed
        if seen.raised == seen.calls:
            raise InputError(f"the original raises an exception on every input ({seen.error}); correct inputs.py")
        seconds = min(pair.total("original") for pair in pairs[1:]) / layout.calls
        return seconds, seen, replace(layout, results=max(1 << 20, 4 * _whole_pages(seen.bytes)), checks="all")

    async def _seconds_of_recorded(self, stage: SideStarter, layout: Layout) -> tuple[float, Seen, Layout]:
        """The same of recorded calls."""
        original, layout = stage.problem.program, _of_admission(stage, layout)
        try:
            found = [
                await _recorded(stage, layout, {"original": original, "candidate": original}).once() for _ in range(2)
            ]
        except RoundFailed as failed:
            raise InputError(_unsteady(stage.problem, failed)) from failed
        return (
            min(pair.total("original") for pair, _ in found) / layout.calls,
            found[0][1].seen,
            replace(layout, checks="all"),
        )

    async def run(
        self, staged: Staged, sides: Mapping[Side, Program], end: End, verify: int, beyond: Beyond = "never"
    ) -> Sitting:
        handing = Handing()
        if staged.problem.spec.python_spec.calls is not None:
            pairs = _recorded(staged.stage, staged.layout, sides, handing)
            async with build_lane():
                with activity(VERIFICATION):
                    for _ in range(max(1, verify // VERIFY_ROUNDS)):
                        _, track = await pairs.once()
            start_s = track.start_s("original"), track.start_s("candidate")
            held = await run_until(end, pairs)
            handing.check()
            return Sitting(held, late(start_s, "its import and first calls"), start_s)
        async with AsyncExitStack() as stack:
            async with build_lane():
                with activity(START):
                    track = await stack.enter_async_context(open_track(staged.stage, staged.layout, sides, handing))
                with activity(VERIFICATION):
                    await _verified(track, verify)
            held = await run_until(end, track)
        handing.check()
        start_s = track.start_s("original"), track.start_s("candidate")
        untimed = hidden(track.round_s["original"], track.round_s["candidate"])
        return Sitting(held, (*late(start_s, "its import and first calls"), *untimed), start_s)

    # ---------------------------------------------------------------------------------------------- rounds/stages.py

    def one_by_one(self, staged: Staged) -> tuple[Staged, int] | None:
        one = staged.layout
        if one.batch == 1:
            return None
        capacity, results = (_whole_pages(-(-size // one.batch)) for size in (one.capacity, one.results))
        alone = replace(one, capacity=capacity, batch=1, slots=one.calls, results=results)
        return replace(staged, layout=alone), one.calls

    def original(self, staged: Staged) -> Program:
        return staged.problem.program

    async def built(self, staged: Staged, program: Program) -> Program | Evaluation:
        """The program itself; refused where it uses what is not permitted."""
        return not_permitted(staged.problem, program) or program

    def rejected(self, problem: Problem, action: Action) -> Evaluation | None:
        return reject(problem, action)

    def failed(self, failed: RoundFailed) -> Evaluation:
        return failed_in(failed)

    def right(self, staged: Staged, side: Program, timing: Timing, seen: Sitting) -> Evaluation:
        return found_right(seconds_of(timing, staged.layout.calls), timing, (*staged.caveats, *seen.warnings))

    async def examined(self, staged: Staged, side: Program, found: Evaluation) -> Evaluation:
        if not self._prompts:
            return found
        async with build_lane():
            profile = profile_of(await _profile_run(staged.stage, side, staged.shown))
        return replace(found, profile=spots(profile, _texts(staged.stage, side)))

    def leaves_cores(self, staged: Staged) -> bool:
        """If the CPU time decides: libraries have one thread then."""
        return staged.problem.goal == "cpu"

    async def over_rival(self, staged: Staged, side: Program) -> Rival:
        """Nothing: a Python function has no other rival."""
        return None, ()

    def compiler(self, problem: Problem, machine: Machine) -> str:
        """The version of Python."""
        return find_python(problem.spec.python_spec.venv).version

    @property
    def made(self) -> str:
        return "every call of every round: fresh ones by inputs.py, from secret seeds; or recorded calls, held out"


async def _profile_run(stage: SideStarter, program: Program, shown: bytes) -> bytes:
    """What the role ``profile`` prints."""
    return (await stage.once("profile", program, shown=shown)).stdout.rstrip()


def _texts(stage: SideStarter, program: Program) -> Mapping[str, str]:
    return {**dict(stage.problem.spec.python_spec.beside), **program.files}


async def _verified(track: PythonTrack, rounds: int) -> None:
    for _ in range(rounds):
        await track.round()


def _unsteady(problem: Problem, failed: RoundFailed) -> str:
    if failed.side == "original" or failed.ran is not None:
        return f"the original {problem.entry} does not run: {failed}"
    return (
        f"the original does not agree with itself in another process: {failed}; take out what is random (set order, "
        "unseeded generators), or give `is_solution`"
    )


def _of_admission(stage: SideStarter, layout: Layout) -> Layout:
    """The layout of rounds in which is_solution, where there is one, meets results for the first time."""
    return replace(layout, results=1 << 26, checks="first") if stage.problem.spec.python_spec.check else layout


def _laid_out(layout: Layout, seconds: float, check_s: float) -> Layout:
    """Calls in a part, and parts in a round: enough to time them, as memory allows.  ``check_s``: of one result."""
    room = max(1, MOST_ROUND_BYTES // max(1, layout.capacity))
    batch = max(1, min(MOST_BATCH, math.ceil(LEAST_PART_S / max(seconds, 1e-7)), room // LEAST_SLOTS))
    capacity = _whole_pages(layout.capacity * batch)
    slots = max(LEAST_SLOTS, min(MOST_SLOTS, math.ceil(LEAST_ROUND_S / (batch * seconds)), room // batch))
    short = slots * batch * seconds < SHORT_PASS_S
    checks: Checks = "half" if is_dear(check_s, seconds, slots * batch) else "all"
    results = layout.results * batch
    laid = replace(layout, capacity=capacity, batch=batch, slots=slots, results=results, twice=short, checks=checks)
    return laid if layout.makers == 1 else shared(laid, math.inf)


def halves(stage: SideStarter) -> tuple[range, range]:
    """The numbers of the recorded calls: those that may be seen, and those that are held out."""
    count = stage.problem.spec.python_spec.recorded
    return range(0, count, 2), range(1, count, 2)


def _of_recorded(layout: Layout, count: int) -> Layout:
    """The layout for as many recorded calls, of which a half is timed, each once in a round."""
    room = max(LEAST_SLOTS, MOST_ROUND_BYTES // max(1, layout.capacity))
    timed = min(count // 2, room)
    batch = -(-timed // MOST_SLOTS)
    return replace(layout, capacity=_whole_pages(layout.capacity * batch), batch=batch, slots=timed // batch)


def _recorded(
    stage: SideStarter, layout: Layout, sides: Mapping[Side, Program], handing: Handing | None = None
) -> RecordedPairs:
    seen, held = halves(stage)
    return RecordedPairs(stage, layout, sides, seen[: layout.calls], held[: layout.calls], handing)


def _whole_pages(size: int) -> int:
    return -(-size // 4096) * 4096


def _degenerate(seen: Seen) -> tuple[str, ...]:
    if len(seen.results) < 2 and seen.calls > 1:
        return ("every input gives the same result",)
    return ()


def _called(problem: Problem, layout: Layout) -> str:
    again = "the calls are held-out ones, and the same in every turn, each in new processes"
    arguments = "the arguments of every call are fresh" if problem.spec.python_spec.calls is None else again
    halves = "; is_solution checks one half of them, drawn in secret afterwards" if layout.checks == "half" else ""
    return (
        "original and candidate are processes of their own that take turns on the same cores. In a turn each gets "
        f"{layout.slots} times {layout.batch} call{'s' * (layout.batch > 1)}; {arguments}{halves}"
    )
