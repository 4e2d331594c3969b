"""The second look at a function's outputs (``elementwise.py``), for which the original is asked again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import anyio.to_thread

from maxcode.core.types import Problem
from maxcode.evaluate.function.elementwise import NUDGED, nudged, odd
from maxcode.evaluate.function.function import Shape, advised
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.verify import job_for
from maxcode.sandbox.sandbox import Blob, Sandbox, Session


@final
@dataclass(frozen=True, slots=True)
class OriginalNearby:
    """Asks ``original``, whose answers are the expected ones, what single elements may be off by
    (``prepare.SecondLook``)."""

    original: Blob

    async def difference(self, sandbox: Sandbox, problem: Problem, given: Input, output: bytes) -> str | None:
        """An element that is off, where the array as a whole is not; the original is asked where one seems to be."""
        shape = shape_of(given)
        assert given.expected is not None
        look = partial(odd, shape, given.expected, output)
        if await anyio.to_thread.run_sync(look, ()) is None:
            return None
        return advised(shape, await anyio.to_thread.run_sync(look, await self.answers(sandbox, problem, given)))

    async def answers(self, sandbox: Sandbox, problem: Problem, given: Input) -> list[bytes]:
        """What the original answers when the real numbers among its inputs change a little; only what ends well."""
        return (await self.all_answers(sandbox, problem, [given]))[0]

    async def all_answers(self, sandbox: Sandbox, problem: Problem, inputs: Sequence[Input]) -> list[list[bytes]]:
        """The same on each of these inputs, in one session: to start one may take longer than the runs."""
        with ExitStack() as own:
            asked: list[list[Input]] = []
            for given in inputs:
                plans = await anyio.to_thread.run_sync(_nudged_plans, given)
                asked.append([replace(given, stdin=own.enter_context(Blob.of(plan))) for plan in plans])
            blobs = [self.original, *(one.stdin for each in asked for one in each)]
            async with sandbox.session(blobs, bare=True) as session:
                return [await self._answers(session, problem, each) for each in asked]

    async def _answers(self, session: Session, problem: Problem, asked: Sequence[Input]) -> list[bytes]:
        runs = [(one, await session.run(job_for(problem, self.original, one))) for one in asked]
        return [ran.stdout for one, ran in runs if ran.ok and len(ran.stdout) == len(one.expected or ran.stdout)]


def _nudged_plans(given: Input) -> list[bytes]:
    plan = given.stdin.read()
    return [nudged(shape_of(given), plan) for _ in range(NUDGED)]


def shape_of(given: Input) -> Shape:
    """The calls that an input of a function consists of."""
    assert isinstance(given.workload, Shape)
    return given.workload
