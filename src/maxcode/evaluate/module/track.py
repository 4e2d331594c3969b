"""Runs the sides of a module problem in turn: fresh inputs for every call, every output checked.

A pair is one round by every side on the same fresh inputs, in random order, or the mean of two if a round is short.
Between rounds a process is stopped.  An output is right if it is as near to the reference's
output in double precision as the reference itself, or within the tolerance: ``max |got - exact| / (rms(exact) +
|exact|) <= max(tolerance, min(3 x the reference's own, 0.01))``, over all elements.  So the bound scales with the
output (ours: KernelBench's absolute bound accepts anything if outputs are small).  A whole number must be the same,
except where the reference itself gives another one in double precision.

Some untimed rounds have values beyond those drawn (``inside/values.py``): before the race, at random between its pairs,
and after it.  A call of these counts where the reference
has a steady answer, and is itself within the tolerance.
"""

from __future__ import annotations

import math
import random
import secrets
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import final

import anyio.to_thread

from maxcode.core.types import Clock
from maxcode.errors import InputError
from maxcode.evaluate.function.habits import FEW_FAR, HABITS, USUAL
from maxcode.evaluate.ladder.race import Pair, Side
from maxcode.evaluate.module.clocks import disagreement, early, is_usual, reported, without_copy
from maxcode.evaluate.module.contract import Plans, error_of, lost_in, unequal_in
from maxcode.evaluate.module.official import OfficialRule
from maxcode.evaluate.module.sides import BY_SEED, LETTERS, ModuleSide, SideStarter
from maxcode.evaluate.module.spread import allowed, too_many
from maxcode.evaluate.module.trivial import CallSeen
from maxcode.evaluate.rounds.round import (
    RoundFailed,
    RoundSeconds,
    answered,
    last_words,
    mean_of,
    pair_of,
    started,
)
from maxcode.sandbox.sandbox import Blob, Calls, Ran

NARROWER = "; where no such values can come, say so with `domain` in problem.toml"
BEYOND_SHARE = 0.125  # of the pairs have such a round before them


@final
@dataclass(frozen=True, slots=True)
class Round:
    """A round's inputs, one blob, and for each slot the exact outputs as doubles.

    ``letters``: for each slot the habit of its values (``function/habits.py``).
    """

    inputs: Blob
    exact: tuple[bytes, ...]
    letters: tuple[str, ...]


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
            name: stage.round_limits(name == "candidate") for name in ("original", "incumbent", "candidate", "control")
        }
        self._on_device = stage.on_device
        self._asked: tuple[str, ...] = ()  # the letters of the round that the maker works on
        self._ahead: Round | None = None  # made while the sides' answers to the last one were compared
        self.round_s: dict[Side, RoundSeconds] = {name: RoundSeconds() for name in sides}
        self.begun_s: dict[Side, float] = {}
        self.compared: list[str] = []
        self.skipped: list[str] = []
        self.shares: set[int] = set()  # outputs that are the memory of an input, and are not for the original
        self._lost = [0] * len(stage.contract.outputs)  # elements of the candidate's outputs, of so many calls
        self._calls = 0
        self._troubled: dict[Side, list[bool]] = {}  # of the timed rounds of each side but the original
        self._copy_s = math.inf  # the least so far: a value that is too small makes the ratio too small
        self.clock: Clock = stage.problem.goal
        self.official = OfficialRule(stage.contract.outputs)

    async def pair(self) -> Pair:
        """One round by every side, or the mean of two if they are short.

        A round on values beyond those drawn may come before it: no candidate can tell when the last of them is over.
        ``RoundFailed`` as in ``round``.
        """
        if self._order.random() < BEYOND_SHARE:
            await self.check_beyond()
        return mean_of([await self.round(timed=True) for _ in range(2 if self._plans.twice else 1)])

    async def rounds(self, letters: Sequence[Sequence[str]], then: Sequence[str] = ()) -> None:
        """Rounds that are not timed, each with its ``letters``; ``then``: those of the round after them."""
        for now, following in zip(letters, [*letters, then][1:], strict=True):
            await self.round(now, following)

    async def round(self, letters: Sequence[str] = (), then: Sequence[str] = (), timed: bool = False) -> Pair:
        """One round by every side, in random order.  ``RoundFailed`` names the side that failed.

        ``letters``: habits of the values of as many calls; the others are as drawn.
        ``then``: likewise of the next round, whose inputs are made while the answers to this one are compared.
        ``timed``: its seconds count, so its clocks must agree; beside builds and verifications they need not.
        """
        made = await self._make(letters)
        names = list(self._sides)
        self._order.shuffle(names)
        found = {name: await self._round(name, made) for name in names}
        async with self._making_ahead(then):
            found = await self._compared(made, found, timed, is_drawn=not letters)
        pair = pair_of(found, self.clock)
        for name in names if not letters else ():
            kind = self.round_s[name].timed if timed else self.round_s[name].untimed
            kind.append(pair.total(name))
        return pair

    async def _compared(self, made: Round, found: dict[Side, Ran], timed: bool, is_drawn: bool) -> dict[Side, Ran]:
        """The answers of a round, with the seconds that count.  ``RoundFailed`` for a side that is not right."""
        if self._on_device:
            found = self._by_clocks(found, timed)
        elif "candidate" in found:
            self._see_shared(found["original"].code, found["candidate"].code)
        if "candidate" in found and is_drawn:  # the rule is asked about draws of the problem itself
            await anyio.to_thread.run_sync(self.official.see, found["original"].stdout, found["candidate"].stdout)
        try:
            await self._check(made, found)
        except RoundFailed as failed:
            failed.official = await self._all_trials() if failed.side == "candidate" else None
            raise
        return found

    def _see_shared(self, original: int, candidate: int) -> None:
        """Outputs of a round that are the memory of an input; bits of arrays, the inputs first (``shim_held.h``)."""
        inputs = len(self._contract.tensors)
        self.shares |= {
            number for number in range(len(self._contract.outputs)) if candidate & ~original & 1 << number + inputs
        }

    def lost_shares(self) -> list[float]:
        """For each output the share of its elements, in all drawn calls, that the candidate has wrong by half of their
        own size and more, and the reference right: they are too small for the tolerance to see."""
        sizes = [self._calls * one.elements for one in self._contract.outputs]
        return [lost / size if size else 0.0 for lost, size in zip(self._lost, sizes, strict=True)]

    async def check_beyond(self) -> None:
        """One round on values beyond those drawn, whose seconds do not count; nothing where none of them ever has an
        answer.  ``RoundFailed`` as in ``round``."""
        if self.compared or not self.skipped:
            await self.round([self._order.choice((*HABITS, FEW_FAR)) for _ in range(self._plans.slots)])

    async def _all_trials(self) -> bool | None:
        """What KernelBench's rule says of a candidate that is wrong by ours; it is called again if that needs it."""
        while not self.official.is_decided:
            made = await self._make()
            sides: tuple[Side, Side] = ("original", "candidate")
            try:
                found = {name: await self._round(name, made) for name in sides}
                found = self._by_clocks(found, timed=False) if self._on_device else found
            except RoundFailed:
                return False
            await anyio.to_thread.run_sync(self.official.see, found["original"].stdout, found["candidate"].stdout)
        return self.official.accepts

    async def calls_seen(self, letters: Sequence[str] = (), then: Sequence[str] = ()) -> list[CallSeen]:
        """Calls of the reference alone that count, with what they took and gave; ``letters``, ``then``: as in
        ``round``."""
        made = await self._make(letters)
        output = (await self._round("original", made)).stdout
        async with self._making_ahead(then):
            errors = await anyio.to_thread.run_sync(self._errors, made, output)
        own, each = self._grouped(errors), self._contract.output_bytes
        inputs, taken = made.inputs.read(), self._contract.input_bytes
        return [
            CallSeen(inputs[n * taken : (n + 1) * taken], made.exact[n], output[n * each : (n + 1) * each], own[n])
            for n, letter in enumerate(made.letters)
            if letter == USUAL or self._counts(own[n])
        ]

    def start_s(self, name: Side) -> float:
        """Seconds for import and __init__, and of the first round beyond the least of the later ones."""
        return self.begun_s.get(name, 0.0) + self.round_s[name].first_s()

    async def _make(self, letters: Sequence[str] = ()) -> Round:
        """The inputs of a round: made ahead where they are those, else made now."""
        if self._asked:
            self._ahead = await self._made()
        if self._ahead is not None and self._ahead.letters == self._all_letters(letters):
            ahead, self._ahead = self._ahead, None
            return ahead
        self._ask(letters)
        return await self._made()

    @asynccontextmanager
    async def _making_ahead(self, letters: Sequence[str]) -> AsyncIterator[None]:
        """While the block works on a round, the maker works on the next one; at the end it is done, since beside timed
        calls it must not go on.  Nothing is made where there is one ahead."""
        if self._ahead is None and not self._asked:
            self._ask(letters)
        yield
        if self._asked:
            self._ahead = await self._made()

    def _all_letters(self, letters: Sequence[str]) -> tuple[str, ...]:
        return (*letters, *[USUAL] * self._plans.slots)[: self._plans.slots]

    def _ask(self, letters: Sequence[str]) -> None:
        self._asked = self._all_letters(letters)
        numbers = [LETTERS.index(letter) for letter in self._asked]
        seeds = b"".join(struct.pack("<2q", secrets.randbits(62), number) for number in numbers)
        with Blob.of(seeds) as blob:
            self._maker.ask(blob, *self._limits["original"])

    async def _made(self) -> Round:
        """What the maker was asked for.  InputError if it fails."""
        ran, asked = await self._maker.answer(self._limits["original"][1]), self._asked
        self._asked = ()
        if ran.ending != "answered":
            raise InputError(f"get_inputs of the reference failed: {last_words(ran)}")
        taken = self._contract.input_bytes
        each = taken + sum(8 * one.elements for one in self._contract.outputs)
        whole = memoryview(ran.stdout)  # slices of bytes would copy tens of megabytes several times a round
        slots = [whole[at : at + each] for at in range(0, len(whole), each)]
        inputs = Blob.joined([slot[:taken] for slot in slots])
        return Round(inputs, tuple(bytes(slot[taken:]) for slot in slots), asked)

    async def _round(self, name: Side, made: Round) -> Ran:
        return answered(name, await self._sides[name].round(made.inputs, *self._limits[name]))

    def _by_clocks(self, found: Mapping[Side, Ran], timed: bool) -> dict[Side, Ran]:
        """The rounds on a GPU with only their outputs, and their seconds without the copy (``clocks.py``).

        ``RoundFailed`` for a side whose clocks disagree in most of its timed rounds: in one of them the machine may
        have been busy.
        """
        apart = {name: reported(ran.stdout, self._plans.slots) for name, ran in found.items()}
        original = found["original"]
        self._copy_s = min(self._copy_s, max(apart["original"].copy_s, 0.0))
        for name in [one for one in found if timed and one != "original"]:
            ran, seen = found[name], self._troubled.setdefault(name, [])
            trouble = disagreement(ran.wall_s, apart[name].events_s) or early(ran.prepared_s, original.prepared_s)
            seen.append(bool(trouble))
            if trouble and is_usual(seen):
                raise RoundFailed(name, trouble, ran, cheats=True)
        return {
            name: replace(ran, stdout=apart[name].outputs, wall_s=without_copy(ran.wall_s, self._copy_s))
            for name, ran in found.items()
        }

    async def _check(self, made: Round, found: Mapping[Side, Ran]) -> None:
        own = self._grouped(await anyio.to_thread.run_sync(self._errors, made, found["original"].stdout))
        counting = [number for number, letter in enumerate(made.letters) if self._compares(letter, own[number])]
        drawn = [call for call, letter in enumerate(made.letters) if letter == USUAL]
        self._calls += len(drawn)
        for name, ran in found.items():
            if name == "original" or ran.stdout == found["original"].stdout:
                continue
            errors = self._grouped(await anyio.to_thread.run_sync(self._errors, made, ran.stdout))
            for call in counting:
                for number, both in enumerate(zip(errors[call], own[call], strict=True)):
                    where = (call, number, made.letters[call])
                    outputs = found["original"].stdout, ran.stdout
                    if why := await anyio.to_thread.run_sync(self._wrong, made, where, outputs, both):
                        raise RoundFailed(name, why)
            if name == "candidate":
                await anyio.to_thread.run_sync(self._see_lost, made, drawn, found["original"].stdout, ran.stdout)

    def _see_lost(self, made: Round, drawn: Sequence[int], reference: bytes, got: bytes) -> None:
        contract, each = self._contract, self._contract.output_bytes
        for call in drawn:
            right, have = (output[call * each : (call + 1) * each] for output in (reference, got))
            for number, wanted in enumerate(contract.outputs):
                at, exact = contract.output_at(number), made.exact[call][contract.exact_at(number)]
                self._lost[number] += lost_in(wanted, exact, right[at], have[at])

    def _wrong(
        self, made: Round, where: tuple[int, int, str], outputs: tuple[bytes, bytes], errors: tuple[float, float]
    ) -> str:
        """What is wrong with an output of a call; empty if nothing is.  Of ``outputs`` the reference's comes first, of
        the worst ``errors`` the candidate's."""
        contract, (call, number, letter), (error, own) = self._contract, where, errors
        if not error <= allowed(self._tolerance, own):
            return self._describe_error(where, error, own)
        each, at, wanted = contract.output_bytes, contract.output_at(number), contract.outputs[number]
        exact = made.exact[call][contract.exact_at(number)]
        right, have = (output[call * each : (call + 1) * each][at] for output in outputs)
        others = unequal_in(wanted, exact, right, have)
        why = f"{others} whole numbers differ" if others else ""
        if not why and error > self._tolerance:
            why = too_many(wanted, exact, (right, have), self._tolerance, own)
        return f"wrong output ({self._place(where)}): {why}{NARROWER if letter != USUAL else ''}" if why else ""

    def _grouped(self, errors: Sequence[float]) -> list[tuple[float, ...]]:
        """The errors by call."""
        each = len(self._contract.outputs)
        return [tuple(errors[at : at + each]) for at in range(0, len(errors), each)]

    def _counts(self, own: Sequence[float]) -> bool:
        """Whether a call beyond the drawn values is compared: the reference must be right there itself."""
        return all(error <= self._tolerance for error in own)

    def _compares(self, letter: str, own: Sequence[float]) -> bool:
        if letter != USUAL:
            (self.compared if self._counts(own) else self.skipped).append(letter)
            return self._counts(own)
        if not all(math.isfinite(error) for error in own):
            raise InputError(
                "the reference gives NaN or infinity on some of its inputs; no output can be compared with them"
            )
        return True

    def _describe_error(self, where: tuple[int, int, str], error: float, reference: float) -> str:
        return (
            f"wrong output ({self._place(where)}): an element is {error:.1e} off, at most {self._tolerance:g} of its "
            f"size (the reference itself: {reference:.1e})" + (NARROWER if where[2] != USUAL else "")
        )

    def _place(self, where: tuple[int, int, str]) -> str:
        call, number, letter = where
        place = f"call {call + 1} of a round" + (f", output {number + 1}" if len(self._contract.outputs) > 1 else "")
        return place + (f", on values beyond those drawn: {HABITS[letter]}" if letter != USUAL else "")

    def _errors(self, made: Round, output: bytes) -> list[float]:
        """The worst error of every output of every slot, in that order."""
        contract = self._contract
        each, numbers = contract.output_bytes, range(len(contract.outputs))
        return [
            error_of(contract.outputs[number], exact[contract.exact_at(number)], got[contract.output_at(number)])
            for slot, exact in enumerate(made.exact)
            for got in (output[slot * each : (slot + 1) * each],)
            for number in numbers
        ]


@asynccontextmanager
async def open_track(
    stage: SideStarter, plans: Plans, reference: ModuleSide, sides: Mapping[Side, ModuleSide]
) -> AsyncIterator[ModuleTrack]:
    """The maker and all sides, each in its own sandbox, started in parallel and ready.

    ``RoundFailed`` if a side does not get ready, InputError if the maker does not.
    """
    what = f"the reference {stage.problem.program.name}"
    calls = {name: stage.started(side, plans) for name, side in sides.items()}
    async with started(stage.maker(reference, plans), calls, stage.problem.goal, what) as begun:
        seeded = {name for name, ran in begun.ready.items() if BY_SEED in ran.stderr.decode(errors="replace")}
        track = ModuleTrack(stage, plans, begun.maker, begun.sides, frozenset(seeded))
        track.begun_s = dict(begun.begun_s)
        yield track
