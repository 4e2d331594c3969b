"""Which results the user's ``is_solution`` is asked about, and what it says.

Results that are the original's, byte for byte, need no check of their own.  Where a check takes much longer than a call
(``Layout.checks`` is "half"), the original's are checked in its admission alone, and of those of the others in a timed
round one half of the parts.  Which half is drawn anew in every round, from the secrets of the machine, when all sides
have handed in their results.  So who is wrong in ``k`` parts of timed rounds passes with a probability of 2^-k at most,
however it picks them: it may learn from a pause that it was checked, but nothing of the rounds to come.  A confirmation
has at least 48 such parts; who is wrong in a tenth of them passes with 3 %, in a quarter with less than 1 in 4000.
Rounds that are not timed are checked whole.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import final

from maxcode.core.phases import CHECK, activity
from maxcode.errors import InputError
from maxcode.evaluate.ladder.original_runs import spending
from maxcode.evaluate.ladder.race import Side
from maxcode.evaluate.python.comparing import told
from maxcode.evaluate.python.nodes import Reader, Unreadable, in_slot
from maxcode.evaluate.python.sides import Layout, SideStarter
from maxcode.evaluate.rounds.round import RoundFailed, last_words
from maxcode.sandbox.sandbox import Blob, Calls, Ran

DEAR_TIMES, DEAR_S = 3.0, 0.1  # a check is dear if it takes more calls than this, and more seconds in a round
MOST_CHECK_S = 10.0  # of a result of the original
_CURE = (
    "make is_solution faster, or the inputs smaller: `size` in [python] of problem.toml, algotune:TASK@SIZE for a task "
    "of AlgoTune"
)


@final
@dataclass(frozen=True, slots=True)
class Given:
    """What a side gave in a part of a round: its arguments' memory, its results, and its arguments afterwards.

    ``seeds``: of its calls, which are told of one that fails, and never used again; none of recorded calls."""

    memory: memoryview
    results: Sequence[memoryview]
    afterwards: Sequence[memoryview]
    seeds: Sequence[int] = ()

    def named(self, call: int, where: int) -> str:
        """The call of this number in words; ``where``: its number in the round, from 1."""
        return f"call {where} of a round" + (f" (inputs of the seed {self.seeds[call]})" if self.seeds else "")


@final
@dataclass(frozen=True, slots=True)
class Checker:
    """The process of ``is_solution`` in one session.  ``spent_s``: CPU seconds of the check of a part, each
    time: a busy machine changes them little."""

    stage: SideStarter
    layout: Layout
    calls: Calls
    spent_s: list[float] = field(default_factory=list)

    async def ask(
        self, name: Side, inputs: bytes, results: tuple[Sequence[Given], Sequence[Given]], timed: bool
    ) -> None:
        """Has the results of a side checked.  ``RoundFailed`` where one is refused.

        ``results``: the original's and the side's; ``timed``: those of a timed round.
        """
        original, given = results
        parts = self._asked(name, original, given, timed)
        if not parts:
            return
        for group in [[one] for one in parts] if self.layout.checks == "first" else [parts]:
            ran = await self._round(self.calls, name, inputs, given, group)
            if ran.ending == "answered":
                self.spent_s.extend([ran.cpu_s / len(group)] * len(group))
                self._read(name, given, group, ran)
            else:
                await self._ended(name, inputs, original, group, ran)

    @property
    def check_s(self) -> float:
        """CPU seconds of a check of a part, on average; 0 where there was none."""
        return fmean(self.spent_s) if self.spent_s else 0.0

    def _asked(self, name: Side, original: Sequence[Given], given: Sequence[Given], timed: bool) -> list[int]:
        """The parts to be checked."""
        halves = self.layout.checks == "half"
        if name == "original":
            return [] if halves else list(range(len(given)))
        parts = unlike(original, given)
        return random.SystemRandom().sample(parts, -(-len(parts) // 2)) if halves and timed else parts

    async def _round(
        self, calls: Calls, name: Side, inputs: bytes, given: Sequence[Given], parts: Sequence[int]
    ) -> Ran:
        layout, memory = self.layout, memoryview(inputs)
        slots: list[bytes | memoryview | int] = []
        for slot, one in enumerate(given):
            if slot not in parts:
                slots.append(layout.capacity + layout.results)  # zeros: the driver passes over it
                continue
            try:
                results = in_slot(one.results, layout.results)
            except ValueError as error:
                raise RoundFailed(name, f"its results are too large: {error}", None) from error
            slots += [memory[slot * layout.capacity : (slot + 1) * layout.capacity], *results]
        limits = self.stage.round_limits(False, layout.slots)
        if layout.checks == "first":
            limits = (MOST_CHECK_S * layout.batch, 3 * MOST_CHECK_S * layout.batch)
        with Blob.joined(slots) as blob, activity(CHECK), spending("is_solution, the check of results,"):
            return await calls.round(blob, *limits)

    def _read(self, name: Side, given: Sequence[Given], parts: Sequence[int], ran: Ran) -> None:
        """``RoundFailed`` where a verdict on one of these parts is no."""
        batch = self.layout.batch
        for part in sorted(parts):
            if (call := ran.stdout[part * batch : (part + 1) * batch].find(0)) < 0:
                continue
            words = ran.stderr.decode(errors="replace").strip().splitlines()
            more = f" ({words[-1][:300]})" if words and words[-1].startswith("is_solution:") else ""
            shown, where = _shown(given[part], call), part * batch + call + 1
            which = given[part].named(call, where)
            raise RoundFailed(name, f"{which}: is_solution refuses its result, {shown}{more}", None)

    async def _ended(
        self, name: Side, inputs: bytes, original: Sequence[Given], parts: Sequence[int], ran: Ran
    ) -> None:
        """The process is gone.  Where it ran out of time, it is the side's fault only if the original's results, which
        may not have been checked yet, are checked in time."""
        if ran.ending == "timeout" and self.layout.checks == "first":
            raise InputError(
                f"is_solution takes more than {MOST_CHECK_S:g} s for one result of the original, and about 80 "
                f"results are checked before a speed-up is believed: {_CURE}"
            )
        if name == "original":
            raise InputError(f"is_solution failed on the results of the original: {last_words(ran)}")
        if ran.ending == "timeout" and self.layout.checks == "half":
            async with self.stage.started("check", self.stage.problem.program, self.layout) as calls:
                again = await calls.ready()
                if again.ending == "answered":
                    again = await self._round(calls, name, inputs, original, parts)
            if again.ending == "timeout":
                raise InputError(f"is_solution does not end in time on results of the original itself: {_CURE}")
        raise RoundFailed(name, f"is_solution failed on its results: {last_words(ran)}", None)


def is_dear(check_s: float, call_s: float, calls: int) -> bool:
    """Whether checking takes much longer than calling; ``calls``: of a round."""
    return check_s > DEAR_TIMES * call_s and calls * check_s > DEAR_S


def checked_by_halves(layout: Layout, call_s: float, check_s: float) -> tuple[str, ...]:
    """A note on how much is checked; none where everything is."""
    if layout.checks != "half":
        return ()
    return (
        f"is_solution takes {check_s:.2g} s for a result, {check_s / call_s:.0f} times as long as a call: of results "
        "that are not the original's it checks one half in timed rounds, drawn in secret, and all in others",
    )


def unlike(original: Sequence[Given], given: Sequence[Given]) -> list[int]:
    """The parts whose results are not the original's, byte for byte."""
    pairs = zip(original, given, strict=True)
    return [at for at, (want, have) in enumerate(pairs) if not _same(want.results, have.results)]


def _same(want: Sequence[memoryview], have: Sequence[memoryview]) -> bool:
    return len(want) == len(have) and all(
        len(one) == len(other) and bytes(one) == bytes(other) for one, other in zip(want, have, strict=True)
    )


def _shown(given: Given, number: int) -> str:
    reader = Reader().open(given.results)
    try:
        return told([reader.node() for _ in range(number + 1)][-1])
    except Unreadable:
        return "which cannot be read"
