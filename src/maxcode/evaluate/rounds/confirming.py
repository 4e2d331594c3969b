"""A confirmation by sessions, each with new processes: where the memory of a process lies affects all of its pairs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar, final

import anyio

from maxcode.core.ahead import started
from maxcode.core.stats import LOOKS, RaceRule
from maxcode.core.types import Evaluation
from maxcode.evaluate.ladder.race import Pair, RaceResult, Side, timing_of, together
from maxcode.evaluate.rounds.round import VERIFY_ROUNDS, Beyond, Sitting, after, seen_in
from maxcode.evaluate.rounds.stages import P, Rival, S, Stages
from maxcode.sandbox.lanes import also_in_timing_lane

Found = TypeVar("Found")
SITTING_PAIRS = 6


@final
class Confirmation(Generic[S, P]):
    """The confirmation of one candidate, once.

    ``verify``: rounds before each race that are not timed.
    ``control``: the original takes part once more in every session, and a further session has calls beyond the drawn
    values: for a certificate.
    ``sittings``: the sessions so far in which all was right, in order.
    """

    def __init__(
        self, stages: Stages[S, P], rule: RaceRule, staged: S, verify: int = VERIFY_ROUNDS, control: bool = False
    ) -> None:
        self._stages, self._rule, self._staged = stages, rule, staged
        self._verify, self._control = verify, control
        self.sittings: list[Sitting] = []

    async def of(self, side: P) -> Evaluation:
        """The evaluation of the candidate.  ``RoundFailed`` names a side that failed in a session."""
        held, (rival, why) = await self._in_sessions(side)
        staged = self._staged
        timing = self.sittings[0].told(timing_of(staged.problem, held, staged.inputs), staged.degenerate)
        timing = replace(timing, confirmed=True, over_compiled=rival)
        first = replace(self.sittings[0], warnings=(*seen_in(self.sittings), *why))
        return self._stages.right(staged, side, timing, first)

    def control_pairs(self) -> list[Pair]:
        """The original against itself, in as many pairs."""
        pairs = [pair for one in self.sittings for pair in one.held.pairs]
        return [
            Pair(
                {"original": one.seconds["original"], "candidate": one.seconds["control"]},
                {"original": one.elapsed["original"], "candidate": one.elapsed["control"]},
            )
            for one in pairs
        ]

    async def _in_sessions(self, side: P) -> tuple[RaceResult, Rival]:
        """The confirmation, and the race against the rival.  Where cores are left, the processes of a session start
        and are verified while those of another one are timed or verified."""
        overlaps = self._stages.leaves_cores(self._staged)
        turns = anyio.CapacityLimiter(2 if overlaps else 1)

        async def in_turn(work: Callable[[], Awaitable[Found]]) -> Found:
            async with turns:
                return await work()

        async with AsyncExitStack() as stack:
            if overlaps:  # the first session is verified for longest, and meanwhile nothing would be timed
                stack.enter_context(also_in_timing_lane())
            rival = None
            while (held := together([one.held for one in self.sittings], self._rule)) is None:
                due = next(look for look in LOOKS if look > len(self.sittings)) - len(self.sittings)
                works = [partial(self._session, side, len(self.sittings) + number) for number in range(due)]
                coming = [await stack.enter_async_context(started(partial(in_turn, work))) for work in works]
                if rival is None:
                    over_rival = partial(self._stages.over_rival, self._staged, side)
                    rival = await stack.enter_async_context(started(partial(in_turn, over_rival)))
                for sitting in coming:
                    self.sittings.append(await sitting())
            assert rival is not None  # no session, no verdict
            return held, await rival()

    async def _session(self, side: P, number: int) -> Sitting:
        original = self._stages.original(self._staged)
        sides: dict[Side, P] = {"original": original, "candidate": side}
        sides |= {"control": original} if self._control else {}
        beyond: Beyond = "around" if number < 1 + self._control else "never"
        return await self._stages.run(self._staged, sides, after(SITTING_PAIRS), self._verify, beyond)
