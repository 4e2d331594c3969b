"""The second look at a function's outputs (``elementwise.py``), for which the original is asked again."""

from __future__ import annotations

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
from maxcode.sandbox.sandbox import Blob, Sandbox


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
        shape = shape_of(given)
        with ExitStack() as own:
            plans = [nudged(shape, given.stdin.read()) for _ in range(NUDGED)]
            blobs = [own.enter_context(Blob.of(plan)) for plan in plans]
            async with sandbox.session([self.original, *blobs], bare=True) as session:
                runs = [await session.run(job_for(problem, self.original, replace(given, stdin=one))) for one in blobs]
        return [ran.stdout for ran in runs if ran.ok and len(ran.stdout) == len(given.expected or ran.stdout)]


def shape_of(given: Input) -> Shape:
    """The calls that an input of a function consists of."""
    assert isinstance(given.workload, Shape)
    return given.workload
