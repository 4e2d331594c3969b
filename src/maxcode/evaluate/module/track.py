"""Runs the sides of a module problem in turn: fresh inputs for every call, every output checked.

A pair is one round by every side on the same fresh inputs, in random order, or two if a round is short; then the faster
one counts for each side.  Between rounds a process is stopped.  An output is right if it is as near to the reference's
output in double precision as the reference itself, or within the tolerance: ``max |got - exact| / (rms(exact) +
|exact|) <= max(tolerance, 3 x the reference's own)``, over all elements.  So the bound scales with the output (ours:
KernelBench's absolute bound accepts anything if outputs are small).
"""

from __future__ import annotations

import math
import random
import secrets
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import final

import anyio.to_thread

from maxcode.core.types import Clock
from maxcode.errors import InputError
from maxcode.evaluate.function.comparing import distance, worst
from maxcode.evaluate.ladder.race import Pair, Side
from maxcode.evaluate.module.clocks import disagreement, early, reported, without_copy
from maxcode.evaluate.module.contract import COMPARED, Plans
from maxcode.evaluate.module.official import OfficialRule
from maxcode.evaluate.module.sides import BY_SEED, ModuleSide, SideStarter, last_words
from maxcode.sandbox.sandbox import Blob, Calls, Ran

OWN_ERRORS = 3.0  # allowed error, in errors of the reference itself
CALL = "calls"  # the one input that module problems have


class RoundFailed(Exception):
    """A side failed in a round, or its output was wrong.

    ``ran``: how it ended, if it ended; ``cheats``: its clocks show that it hides work.
    """

    def __init__(self, side: Side, why: str, ran: Ran | None = None, cheats: bool = False) -> None:
        super().__init__(why)
        self.side = side
        self.ran = ran
        self.cheats = cheats
        self.official: bool | None = None  # of the candidate, if it failed


@final
@dataclass(frozen=True, slots=True)
class Round:
    """A round's inputs, one blob, and for each slot the exact outputs as doubles."""

    inputs: Blob
    exact: tuple[bytes, ...]


@final
class ModuleTrack:
    """Processes that are ready to be called.  The caller holds the timing lane."""

    def __init__(
        self, stage: SideStarter, plans: Plans, maker: Calls, sides: Mapping[Side, Calls], seeded: frozenset[Side]
    ) -> None:
        self.seeded = seeded  # sides whose weights come from the same seed, not from a copy
        self._contract = stage.contract
        self._tolerance = stage.problem.spec.module_spec.tolerance
        self._plans = plans
        self._maker = maker
        self._sides = dict(sides)
        self._order = random.SystemRandom()
        self._limits = {
            name: stage.round_limits(name == "candidate") for name in ("original", "incumbent", "candidate")
        }
        self._on_device = stage.on_device
        self._copy_s = math.inf  # the least so far: a value that is too small makes the ratio too small
        self.clock: Clock = stage.problem.goal
        self.official = OfficialRule(stage.contract.outputs)

    async def pair(self) -> Pair:
        """One round by every side, or two if they are short; the faster one counts for each side.

        ``RoundFailed`` as in ``round``.
        """
        return fastest([await self.round() for _ in range(2 if self._plans.twice else 1)])

    async def round(self) -> Pair:
        """One round by every side, in random order.  ``RoundFailed`` names the side that failed."""
        made = await self._make()
        names = list(self._sides)
        self._order.shuffle(names)
        found = {name: await self._round(name, made) for name in names}
        if self._on_device:
            found = self._by_clocks(found)
        if "candidate" in found:
            await anyio.to_thread.run_sync(self.official.see, found["original"].stdout, found["candidate"].stdout)
        try:
            await self._check(made, found)
        except RoundFailed as failed:
            failed.official = await self._all_trials() if failed.side == "candidate" else None
            raise
        seconds = {name: ran.cpu_s if self.clock == "cpu" else ran.wall_s for name, ran in found.items()}
        return Pair(
            {name: {CALL: seconds[name]} for name in self._sides}, {name: found[name].wall_s for name in self._sides}
        )

    async def _all_trials(self) -> bool | None:
        """What KernelBench's rule says of a candidate that is wrong by ours; it is called again if that needs it."""
        while not self.official.is_decided:
            made = await self._make()
            sides: tuple[Side, Side] = ("original", "candidate")
            try:
                found = {name: await self._round(name, made) for name in sides}
                found = self._by_clocks(found) if self._on_device else found
            except RoundFailed:
                return False
            await anyio.to_thread.run_sync(self.official.see, found["original"].stdout, found["candidate"].stdout)
        return self.official.accepts

    async def _make(self) -> Round:
        seeds = b"".join(struct.pack("<q", secrets.randbits(62)) for _ in range(self._plans.slots))
        with Blob.of(seeds) as blob:
            ran = await self._maker.round(blob, *self._limits["original"])
        if ran.ending != "answered":
            raise InputError(f"get_inputs of the reference failed: {last_words(ran)}")
        taken = self._contract.input_bytes
        each = taken + sum(8 * one.elements for one in self._contract.outputs)
        slots = [ran.stdout[at : at + each] for at in range(0, len(ran.stdout), each)]
        return Round(Blob.of(b"".join(slot[:taken] for slot in slots)), tuple(slot[taken:] for slot in slots))

    async def _round(self, name: Side, made: Round) -> Ran:
        ran = await self._sides[name].round(made.inputs, *self._limits[name])
        if ran.ending != "answered":
            raise RoundFailed(name, last_words(ran), ran)
        if min(ran.cpu_s, ran.wall_s) <= 0:
            raise RoundFailed(name, "its calls used no time")
        return ran

    def _by_clocks(self, found: Mapping[Side, Ran]) -> dict[Side, Ran]:
        """The rounds on a GPU with only their outputs, and their seconds without the copy (``clocks.py``)."""
        apart = {name: reported(ran.stdout, self._plans.slots) for name, ran in found.items()}
        original = found["original"]
        self._copy_s = min(self._copy_s, max(apart["original"].copy_s, 0.0))
        for name, ran in found.items():
            trouble = disagreement(ran.wall_s, apart[name].events_s) or early(ran.prepared_s, original.prepared_s)
            if trouble and name != "original":
                raise RoundFailed(name, trouble, ran, cheats=True)
        return {
            name: replace(ran, stdout=apart[name].outputs, wall_s=without_copy(ran.wall_s, self._copy_s))
            for name, ran in found.items()
        }

    async def _check(self, made: Round, found: Mapping[Side, Ran]) -> None:
        own = await anyio.to_thread.run_sync(self._errors, made, found["original"].stdout)
        if not all(math.isfinite(error) for error in own):
            raise InputError(
                "the reference gives NaN or infinity on some of its inputs; no output can be compared with them"
            )
        for name, ran in found.items():
            if name == "original" or ran.stdout == found["original"].stdout:
                continue
            errors = await anyio.to_thread.run_sync(self._errors, made, ran.stdout)
            for number, (error, reference) in enumerate(zip(errors, own, strict=True)):
                if not error <= max(self._tolerance, OWN_ERRORS * reference):
                    raise RoundFailed(name, self._describe_error(number, error, reference))

    def _describe_error(self, number: int, error: float, reference: float) -> str:
        each = len(self._contract.outputs)
        place = f"call {number // each + 1} of a round" + (f", output {number % each + 1}" if each > 1 else "")
        return (
            f"wrong output ({place}): an element is {error:.1e} off, at most {self._tolerance:g} of its size "
            f"(the reference itself: {reference:.1e})"
        )

    def _errors(self, made: Round, output: bytes) -> list[float]:
        """The worst error of every output of every slot, in that order."""
        found, at = [], 0
        for exact in made.exact:
            start = 0
            for one in self._contract.outputs:
                count = one.elements
                want = exact[start : start + 8 * count]
                scale = distance("double", want, None) / math.sqrt(count) if count else 0.0
                found.append(worst(COMPARED[one.dtype], want, output[at : at + one.bytes], scale or 1.0))
                at, start = at + one.bytes, start + 8 * count
        return found


def fastest(rounds: Sequence[Pair]) -> Pair:
    """For each side the least of several rounds, by both clocks."""
    sides = rounds[0].seconds
    return Pair(
        {name: {CALL: min(one.total(name) for one in rounds)} for name in sides},
        {name: min(one.elapsed[name] for one in rounds) for name in sides},
    )


@asynccontextmanager
async def open_track(
    stage: SideStarter, plans: Plans, reference: ModuleSide, sides: Mapping[Side, ModuleSide]
) -> AsyncIterator[ModuleTrack]:
    """The maker and all sides, each in its own sandbox, started in parallel and ready.

    ``RoundFailed`` if a side does not get ready, InputError if the maker does not.
    """
    async with AsyncExitStack() as stack:
        maker = await stack.enter_async_context(stage.maker(reference, plans))
        calls = {name: await stack.enter_async_context(stage.started(side, plans)) for name, side in sides.items()}
        ready = await maker.ready()
        if ready.ending != "answered":
            raise InputError(f"the reference {stage.problem.program.name} does not run: {last_words(ready)}")
        seeded = set()
        for name, one in calls.items():
            ran = await one.ready()
            if ran.ending != "answered":
                raise RoundFailed(name, last_words(ran), ran)
            if BY_SEED in ran.stderr.decode(errors="replace"):
                seeded.add(name)
        yield ModuleTrack(stage, plans, maker, calls, frozenset(seeded))
