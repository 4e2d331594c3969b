"""Admission of a Python function: the original is described and called, and what may be kept of that is kept.

Kept are properties of the original: the room and the number of calls of a round, about how long a call takes, why a
candidate could pass without doing the work, and what prompts tell.  None of it decides a race, where the original runs
beside the candidate.  The inputs of every round are drawn anew by every command; of recorded calls only those that may
be seen are kept.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from maxcode.core.printable import printable
from maxcode.core.types import Evaluation, Facts, Hotspot, Outcome, Problem, Program, TimedInput
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.kept_admissions import SYSTEM, KeptAdmissions, stamps
from maxcode.evaluate.ladder.kept_builds import libraries
from maxcode.evaluate.ladder.original_runs import spending
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity
from maxcode.evaluate.ladder.race import SHORT_PASS_S, Pair, Side
from maxcode.evaluate.python.checking import checked_by_halves, is_dear
from maxcode.evaluate.python.handing import Handing
from maxcode.evaluate.python.making import MAKING, shared
from maxcode.evaluate.python.runtime import PythonRuntime, find_python
from maxcode.evaluate.python.sides import OUT, Checks, Layout, SideStarter, draw_seeds
from maxcode.evaluate.python.spots import left_by, notes_of, profile_of, spots
from maxcode.evaluate.python.track import RecordedPairs, Seen, open_track
from maxcode.evaluate.rounds.round import CALL, RoundFailed, last_words
from maxcode.evaluate.rounds.stages import without_work
from maxcode.sandbox.sandbox import Blob, Sandbox

FOLDER = "calls"  # of the cache
LEAST_PART_S, MOST_BATCH = 0.001, 64  # of a part, so that going to and fro is little beside it
LEAST_ROUND_S, LEAST_SLOTS, MOST_SLOTS = 0.010, 2, 16
MOST_ROUND_BYTES = 256 << 20
ROOM = 2.0  # times the largest message seen is the room for arguments
DESCRIBED = 8  # inputs that are looked at first
MOST_TOLD = 300  # characters of the arguments of a call in a prompt
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


@final
@dataclass(frozen=True, slots=True)
class LearnedCalls:
    """``shown``: see ``Staged``; ``seconds``: of a warm call.  ``reasons``: why the original is degenerate; ``notes``:
    of its profile.  ``examples``: arguments of a few calls that may be seen, as text.  ``all_s``: wall seconds of the
    admission."""

    layout: Layout
    shown: bytes
    seconds: float
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    profile: tuple[Hotspot, ...]
    examples: tuple[str, ...]
    all_s: float


def parts(runtime: PythonRuntime, copy: str) -> dict[str, Iterable[str]]:
    """What it rests on besides what each admission does.  ``copy``: of the system's interpreter, whose name changes
    with its files."""
    return {
        SYSTEM: (copy, *libraries()),
        "a file of the virtual environment": stamps(str(folder) for folder, _ in runtime.binds),
    }


@final
@dataclass(frozen=True, slots=True)
class PythonAdmissions:
    """Admits problems on one machine.  ``prompts``: whether prompts are written; ``kept``: admissions of earlier
    commands."""

    sandbox: Sandbox
    prompts: bool
    kept: KeptAdmissions

    async def staged(self, problem: Problem) -> Staged:
        """Run the original.  InputError if its results cannot be compared with anything."""
        runtime = find_python(problem.spec.python_spec.venv)
        if (calls := problem.spec.python_spec.calls) is not None and problem.spec.folder:
            runtime.refuse_shown(Path(problem.spec.folder, calls.name), "the file of recorded calls")
        threads = 1 if problem.goal == "cpu" else len(os.sched_getaffinity(0))
        stage = SideStarter(self.sandbox, runtime, problem, threads)
        known, notes, saved_s = await self._known_or_learned(stage)
        warnings = (*map(without_work, known.reasons), *known.notes)
        given = Input(CALL, Blob.of(b""), None, "generated", known.seconds)
        baseline = Evaluation(Outcome.CORRECT, profile=known.profile, measures={CALL: known.seconds}, warnings=warnings)
        facts = Facts(timed=(TimedInput(known.seconds),), calls=_called(problem, known), threads=threads)
        admitted = Admitted(
            problem, (given,), (given,), Built(None), baseline, notes=(*notes, *warnings), facts=facts, saved_s=saved_s
        )
        return Staged(stage, known.layout, admitted, known.reasons, known.shown)

    async def _known_or_learned(self, stage: SideStarter) -> tuple[LearnedCalls, tuple[str, ...], float]:
        """What an earlier command has kept of the original or what is learned now, notes on it, and the seconds that
        were saved."""
        copy = str(await self.sandbox.copy_of(stage.runtime.sealed)) if stage.runtime.sealed else ""
        named, files = identity(stage.problem), parts(stage.runtime, copy)
        earlier = await self.kept.earlier(self.sandbox, named, self.prompts, files, LearnedCalls)
        if (known := earlier.found) is not None:
            return known, earlier.notes, known.all_s
        known = await _learned(stage)
        if self.kept.takes(len(known.shown)):
            await earlier.keep(known)
        return known, earlier.notes, 0.0


async def _learned(stage: SideStarter) -> LearnedCalls:
    began, problem = time.monotonic(), stage.problem
    layout, shown = await _described(stage)
    if problem.spec.python_spec.calls is not None:
        layout = _of_recorded(layout, problem.spec.python_spec.recorded)
        seconds, seen, layout = await _seconds_of_recorded(stage, layout)
    else:
        seconds, seen, layout = await _seconds(stage, layout)
        layout = _laid_out(layout, seconds, seen.check_s)
    printed = await profile_run(stage, problem.program, shown)
    profile = profile_of(printed)
    reasons = (*_degenerate(seen), *left_by(profile, printed))
    notes = (*notes_of(seconds, profile), *checked_by_halves(layout, seconds, seen.check_s))
    hottest = spots(profile, texts_of(stage, problem.program))
    examples = tuple(printable(one)[:MOST_TOLD] for one in profile.told) if profile is not None else ()
    return LearnedCalls(layout, shown, seconds, reasons, notes, hottest, examples, time.monotonic() - began)


async def _described(stage: SideStarter) -> tuple[Layout, bytes]:
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
    layout = Layout(whole_pages(int(ROOM * max(said["sizes"]))))
    return layout if is_recorded else shared(layout, said["seconds"]), ran.files[OUT]


async def _seconds(stage: SideStarter, layout: Layout) -> tuple[float, Seen, Layout]:
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
    return seconds, seen, replace(layout, results=max(1 << 20, 4 * whole_pages(seen.bytes)), checks="all")


async def _seconds_of_recorded(stage: SideStarter, layout: Layout) -> tuple[float, Seen, Layout]:
    """The same of recorded calls."""
    original, layout = stage.problem.program, _of_admission(stage, layout)
    try:
        found = [
            await recorded_pairs(stage, layout, {"original": original, "candidate": original}).once() for _ in range(2)
        ]
    except RoundFailed as failed:
        raise InputError(_unsteady(stage.problem, failed)) from failed
    return (
        min(pair.total("original") for pair, _ in found) / layout.calls,
        found[0][1].seen,
        replace(layout, checks="all"),
    )


async def profile_run(stage: SideStarter, program: Program, shown: bytes) -> bytes:
    """What the role ``profile`` prints."""
    return (await stage.once("profile", program, shown=shown)).stdout.rstrip()


def texts_of(stage: SideStarter, program: Program) -> Mapping[str, str]:
    return {**dict(stage.problem.spec.python_spec.beside), **program.files}


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
    capacity = whole_pages(layout.capacity * batch)
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
    return replace(layout, capacity=whole_pages(layout.capacity * batch), batch=batch, slots=timed // batch)


def recorded_pairs(
    stage: SideStarter, layout: Layout, sides: Mapping[Side, Program], handing: Handing | None = None
) -> RecordedPairs:
    seen, held = halves(stage)
    return RecordedPairs(stage, layout, sides, seen[: layout.calls], held[: layout.calls], handing)


def whole_pages(size: int) -> int:
    return -(-size // 4096) * 4096


def _degenerate(seen: Seen) -> tuple[str, ...]:
    if len(seen.results) < 2 and seen.calls > 1:
        return ("every input gives the same result",)
    return ()


def _called(problem: Problem, known: LearnedCalls) -> str:
    layout, is_recorded = known.layout, problem.spec.python_spec.calls is not None
    again = "the calls are held-out ones, and the same in every turn, each in new processes"
    arguments = again if is_recorded else "the arguments of every call are fresh"
    halves = "; is_solution checks one half of them, drawn in secret afterwards" if layout.checks == "half" else ""
    name = problem.spec.python_spec.function.rpartition(":")[2].rpartition(".")[2]
    examples = ", ".join(f"`{name}({one})`" for one in known.examples)
    return (
        "original and candidate are processes of their own that take turns on the same cores. In a turn each gets "
        f"{layout.slots} times {layout.batch} call{'s' * (layout.batch > 1)}; {arguments}{halves}"
        f"{f'. Calls that are not timed, for example: {examples}' if is_recorded and examples else ''}"
    )
