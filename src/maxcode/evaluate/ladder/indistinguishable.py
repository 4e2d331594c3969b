"""Keeps verification and timing alike: verification runs in sessions that look like a timed pass from inside.

What a program sees of a run has the same kind and distribution in both: arguments, environment, limits, descriptors,
affinity, mask, folder, and (if there is a /proc, for Python) its own freshly made file.  What a session counts (process
numbers, the processor time of process 1 and its children) starts at a random number of processes (``shim.c``); then the
session makes a few runs in random order.

These differences remain.  A run knows the number of processes of its session to within 64, and the time.  A profile is
traced and sees the host's files; a sanitizer build or an instruction count is another program on a different
"processor"; the one-core speed-up of the goal ``wall`` has one core.  No verdict on correctness or seconds comes from
these, and outputs are checked in all but the profile.  A run on filled memory has another environment; it can only
refuse a candidate.  Outputs of *timed* runs are checked too, so a program that
detects timing can be wrong only once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self, final

from maxcode.core.types import Problem
from maxcode.evaluate.ladder.interpreter import binds_of, tongue_of
from maxcode.evaluate.ladder.prepare import Input
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox, Session

RUNS_A_SESSION = 8  # a timed pass has two to fifteen runs


def in_parts(inputs: Sequence[Input]) -> list[tuple[int, Input]]:
    """The inputs in random order, each with the number of the session that runs it.

    Inputs that the policy may see come first, in separate sessions, because feedback about them is more detailed.
    """
    found: list[tuple[int, Input]] = []
    for seen in (True, False):
        group = [given for given in inputs if given.seen is seen]
        random.SystemRandom().shuffle(group)
        first = found[-1][0] + 1 if found else 0
        found += [(first + at // RUNS_A_SESSION, given) for at, given in enumerate(group)]
    return found


def session_of(sandbox: Sandbox, problem: Problem, blobs: Sequence[Blob]) -> AbstractAsyncContextManager[Session]:
    """A session for runs of a problem's programs, with its data files beside them: the same one for every purpose."""
    tongue, binds = tongue_of(problem), binds_of(problem)
    return sandbox.session(blobs, Mounts(binds=binds, data=problem.spec.data), bare=tongue.bare, runtime=tongue.runtime)


@final
class Sessions:
    """Sequential sessions for runs of one artefact; each session has new copies of the artefact and its inputs.

    A process that has a file open can learn who else has it open, and programs that run at the same time could exchange
    answers.
    """

    def __init__(self, sandbox: Sandbox, problem: Problem, artefact: Blob, parts: Sequence[tuple[int, Input]]) -> None:
        self._sandbox = sandbox
        self._artefact = artefact
        self._parts = parts
        self._problem = problem
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
        """Run ``job`` in the session of ``part``, with copies of its artefact and its input."""
        if self._now is None or part != self._part:
            await self._stack.aclose()
            copy = self._stack.enter_context(self._artefact.copy())
            inputs = {one.name: self._stack.enter_context(one.stdin.copy()) for at, one in self._parts if at == part}
            blobs = [copy, *inputs.values()]
            session = session_of(self._sandbox, self._problem, blobs)
            self._part, self._now = part, (await self._stack.enter_async_context(session), copy, inputs)
        session_now, copy, inputs = self._now
        return await session_now.run(replace(job, artefact=copy, stdin=inputs[given.name]))
