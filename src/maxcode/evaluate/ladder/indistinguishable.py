"""The same world in every run: verification in sessions that look like a timed pass from inside.

What a program can see of a run is the same in kind and in distribution whether it is verified or timed: arguments,
environment, limits, descriptors, affinity, mask, folder, and (where there is a /proc, for Python) a file of its own
that was made a moment ago.  What a session counts (process numbers, the processor time of process 1 and its children)
begins at a random number of processes (``shim.c``) and then sees a handful of runs, in random order.

What remains, and what is done about it.  A run knows how many processes its session has had, give or take 64, and what
time it is.  A profile is traced and made where the host's files are seen, a sanitizer or a count of instructions is
another program on another processor, so to say, and the one-core figure of the goal ``wall`` has one core: no verdict
on correctness or on seconds is taken from these, and outputs are checked in all but the profile.  Outputs of *timed*
runs are checked too, so a program that knows that it is timed can be wrong only once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self, final

from maxcode.evaluate.ladder.prepare import Input
from maxcode.sandbox.sandbox import Blob, Job, Ran, Sandbox, Session

RUNS_A_SESSION = 8  # a timed pass has two to fifteen


def in_parts(inputs: Sequence[Input]) -> list[tuple[int, Input]]:
    """The inputs in random order with the number of the session that each is run in.

    Those that the policy may see come first, in sessions of their own: feedback about them says more.
    """
    found: list[tuple[int, Input]] = []
    for seen in (True, False):
        group = [given for given in inputs if given.seen is seen]
        random.SystemRandom().shuffle(group)
        first = found[-1][0] + 1 if found else 0
        found += [(first + at // RUNS_A_SESSION, given) for at, given in enumerate(group)]
    return found


@final
class Sessions:
    """One session after the other for runs of the same artefact, each with copies of it and of its inputs made then:
    who has a file open can learn who else has, and programs that run at the same time could tell one another answers.
    """

    def __init__(self, sandbox: Sandbox, artefact: Blob, parts: Sequence[tuple[int, Input]], bare: bool) -> None:
        self._sandbox = sandbox
        self._artefact = artefact
        self._parts = parts
        self._bare = bare
        self._stack = AsyncExitStack()
        self._part = -1
        self._now: tuple[Session, Blob, dict[str, Blob]] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def run(self, part: int, given: Input, job: Job) -> Ran:
        """Run ``job`` with the copies in place of its artefact and of its input, in the session of ``part``."""
        if self._now is None or part != self._part:
            await self._stack.aclose()
            copy = self._stack.enter_context(self._artefact.copy())
            inputs = {one.name: self._stack.enter_context(one.stdin.copy()) for at, one in self._parts if at == part}
            session = self._sandbox.session([copy, *inputs.values()], bare=self._bare)
            self._part, self._now = part, (await self._stack.enter_async_context(session), copy, inputs)
        session_now, copy, inputs = self._now
        return await session_now.run(replace(job, artefact=copy, stdin=inputs[given.name]))
