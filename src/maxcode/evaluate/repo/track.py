"""Pairs of a repository: in a pass every side runs the benchmark once, in random order, in a session of its own."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import final

from maxcode.core.types import Clock
from maxcode.errors import MachineError
from maxcode.evaluate.ladder.race import Pair, Side, WrongOutput, mean_s
from maxcode.evaluate.repo.admission import BENCHMARK, Base
from maxcode.evaluate.repo.commands import SEED, said
from maxcode.evaluate.repo.layers import BuildError, Layers
from maxcode.sandbox.sandbox import Ran

_ORACLES: tuple[Side, ...] = ("original", "incumbent")
SHORT_S = 0.06  # a shorter run is made twice in a pair


@final
class RepoTrack:
    """Runs the sides of a race in turn.  The caller holds the timing lane."""

    def __init__(self, base: Base, sides: Mapping[Side, Layers]) -> None:
        self._base = base
        self._sides = sides
        self._order = random.SystemRandom()
        self._given = base.admitted.timed[0]

    @property
    def clock(self) -> Clock:
        """The clock that decides."""
        return self._base.problem.goal

    async def pair(self) -> Pair:
        """One pass by every side, the mean of two if short.  WrongOutput if a run fails or prints something else."""
        passes = [await self._pass() for _ in range(2 if self._given.seconds < SHORT_S else 1)]
        name = "wall_s" if self.clock == "wall" else "cpu_s"
        return Pair(
            {side: {BENCHMARK: mean_s(getattr(one[side], name) for one in passes)} for side in self._sides},
            {side: mean_s(one[side].wall_s for one in passes) for side in self._sides},
        )

    async def _pass(self) -> dict[Side, Ran]:
        sides = list(self._sides)
        self._order.shuffle(sides)
        seed = str(1 + secrets.randbelow(1 << 30))
        found = {side: await self._run(side, seed) for side in sides}
        self._check({side: ran.stdout for side, ran in found.items()})
        return found

    async def _run(self, side: Side, seed: str) -> Ran:
        base = self._base
        command = base.problem.spec.repo_spec.benchmark.replace(SEED, seed)
        try:
            ran = await base.place.run(self._sides[side], command, base.run_s, measured=True)
        except BuildError as error:
            raise WrongOutput(side, self._given, str(error)) from error
        if not ran.ok:
            raise WrongOutput(side, self._given, said(ran), ran.ending == "timeout")
        if min(ran.cpu_s, ran.wall_s) <= 0:
            raise MachineError(f"the clocks read {ran.cpu_s} and {ran.wall_s} s; this machine cannot time programs")
        return ran

    def _check(self, outputs: Mapping[Side, bytes]) -> None:
        expected = self._base.expected
        if SEED in self._base.problem.spec.repo_spec.benchmark:
            right = next(side for side in (*_ORACLES, *outputs) if side in outputs)
            if right != "original" and (why := expected.too_long(outputs[right])):
                raise WrongOutput(right, replace(self._given, origin="seen"), why)
            expected = expected.of_other_input(outputs[right])
        for side, output in outputs.items():
            if why := expected.difference(output):
                raise WrongOutput(side, replace(self._given, origin="seen"), why)
