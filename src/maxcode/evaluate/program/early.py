"""What is done for a single candidate before it is asked for, beside what nothing may overlap with.

While its problem is being admitted it is verified on the inputs whose answers the original has given by then: a wrong
one is told then, and one that is right does not run on these inputs again.  While a winner is examined it is raced on
fresh inputs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import final

import anyio

from maxcode.core.phases import in_stage
from maxcode.core.turns import Once, Turns
from maxcode.core.types import Evaluation, Outcome, Problem, Program
from maxcode.evaluate.harness_protocol import FreshRace
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.judge import ladder_of, unbuilt
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity, unadmitted
from maxcode.evaluate.ladder.reject import not_permitted
from maxcode.evaluate.ladder.verify import Verified, verify
from maxcode.evaluate.program.admission import Admissions
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox


@final
class EarlyLooks:
    """Candidates that were right on the first inputs of an admission."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._looking = Turns()
        self._asked: set[str] = set()
        self._right: dict[str, tuple[frozenset[_Key], Verified]] = {}

    async def refused(
        self, admissions: Admissions, problem: Problem, program: Program, built: Built
    ) -> tuple[Admitted, Evaluation] | None:
        """The role ``RefusesEarly`` for a candidate that was ``built``; waits for the first answers of the original."""
        if built.artefact is None:
            return (unadmitted(problem), unbuilt(built)) if built.is_lasting else None
        if (refused := not_permitted(problem, program)) is not None:
            return unadmitted(problem), refused
        begun = await admissions.begun(problem)
        if (wrong := await self._wrong(begun, built)) is not None:
            return begun, wrong
        await begun.source.ahead([given for given in begun.inputs if given.workload.is_timed])
        return None

    @in_stage("evaluation")
    async def _wrong(self, begun: Admitted, built: Built) -> Evaluation | None:
        """The evaluation of a candidate that is not right on the inputs known by now; None where it is, where it ran
        out of time, and where it is verified on all inputs meanwhile."""
        assert built.artefact is not None
        key = _name(begun.problem, built.artefact)
        self._asked.add(key)
        async with build_lane(), self._looking.of(key):
            if key not in self._asked:
                return None
            verified = await verify(self._sandbox, begun.problem, built.artefact, begun.inputs)
            found = ladder_of(built, verified)
            if found.outcome is Outcome.TIMEOUT:  # the machine may be too busy: ``evaluate`` decides
                return None
            if found.outcome is not Outcome.CORRECT:
                return found
            self._right[key] = frozenset(map(_key, begun.inputs)), verified
        return None

    async def verified(self, problem: Problem, artefact: Blob, inputs: Sequence[Input]) -> Verified:
        """What ``verify`` gives on these inputs; the caller holds a place to build."""
        key = _name(problem, artefact)
        self._asked.discard(key)
        async with self._looking.of(key):
            known, before = self._right.pop(key, (frozenset(), Verified((), {})))
        names = {given.name for given in inputs if _key(given) in known}
        rest = [given for given in inputs if given.name not in names]
        if not names or not rest:
            return before if names else await verify(self._sandbox, problem, artefact, rest)
        found = await verify(self._sandbox, problem, artefact, rest)
        results = {one.name: one for one in (*before.results, *found.results)}
        outputs = {**before.outputs, **found.outputs}
        return Verified(tuple(results[given.name] for given in inputs if given.name in results), outputs)


@final
class FreshAhead:
    """The race of one candidate on fresh inputs: run once, and before it is asked for where nothing else is timed.

    ``is_raced``: the candidate is being timed; ``is_faster``: its gain is confirmed.
    """

    def __init__(self, program: Program, pairs: int, race: Callable[[Program, int], Awaitable[FreshRace]]) -> None:
        self._digest, self._pairs = program.digest, pairs
        self.race = Once(partial(race, program, pairs))
        self.is_raced, self.is_faster = anyio.Event(), anyio.Event()

    def is_of(self, program: Program, pairs: int) -> bool:
        """Whether it is this race."""
        return (program.digest, pairs) == (self._digest, self._pairs)

    def told(self, found: Evaluation) -> None:
        """The candidate was confirmed to be faster, or was not."""
        if found.timing is not None and found.timing.significant:
            self.is_faster.set()

    async def work(self) -> None:
        """Runs it as soon as the candidate is faster."""
        await self.is_faster.wait()
        await self.race.get()


_Key = tuple[str, str, bytes | None]


def _key(given: Input) -> _Key:
    return given.name, given.stdin.sha256, given.expected


def _name(problem: Problem, artefact: Blob) -> str:
    return f"{identity(problem)} {artefact.sha256}"
