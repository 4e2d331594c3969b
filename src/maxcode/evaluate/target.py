"""Where candidates are measured: on this machine, or on a cluster.  Only this file decides it.

Runs, benches and trainings receive a target and never ask which one it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, final

from maxcode.core.types import Machine, Problem
from maxcode.errors import InputError
from maxcode.evaluate.harness import HARNESSES, open_harness
from maxcode.evaluate.harness_protocol import HarnessTerms, SearchHarness
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import describe

if TYPE_CHECKING:
    from maxcode.evaluate.cluster import Cluster, ClusterRequest, Report


class Target(Protocol):
    """A place to measure: this machine or a cluster."""

    async def open(self, problems: Sequence[Problem]) -> SearchHarness:
        """One harness for all these problems, none of which is admitted yet.  InputError if they need several."""
        ...

    def machine(self, harness: SearchHarness) -> Machine:
        """The machine that measures; call it after a problem was admitted."""
        ...

    async def prepare(self, problem: Problem) -> tuple[SearchHarness, Admitted, Machine]:
        """The harness for a problem, its admission, and the machine that measures."""
        ...

    def used(self) -> Report | None:
        """What the slots of a cluster did; None on this machine."""
        ...


@final
class LocalMachine:
    """This machine.  ``single``: one candidate is evaluated, and no prompt is written; ``goes_on``: as in
    ``HarnessTerms``."""

    def __init__(self, single: bool = False, goes_on: bool = False) -> None:
        self._terms = HarnessTerms(single=single, goes_on=goes_on)

    async def open(self, problems: Sequence[Problem]) -> SearchHarness:
        if len({HARNESSES[problem.kind] for problem in problems}) > 1:
            kinds = ", ".join(sorted({problem.kind for problem in problems}))
            raise InputError(f"problems of the kinds {kinds} cannot be measured together; give problems of one kind")
        return await open_harness(problems[0], self._terms)

    def machine(self, harness: SearchHarness) -> Machine:
        return describe(harness.sandbox)

    async def prepare(self, problem: Problem) -> tuple[SearchHarness, Admitted, Machine]:
        return await _prepared(self, problem)

    def used(self) -> Report | None:
        return None


@final
class ClusterMachine:
    """An open cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def open(self, problems: Sequence[Problem]) -> SearchHarness:
        return self._cluster.evaluator()

    def machine(self, harness: SearchHarness) -> Machine:
        return self._cluster.machine

    async def prepare(self, problem: Problem) -> tuple[SearchHarness, Admitted, Machine]:
        return await _prepared(self, problem)

    def used(self) -> Report | None:
        return self._cluster.report()


async def _prepared(target: Target, problem: Problem) -> tuple[SearchHarness, Admitted, Machine]:
    harness = await target.open([problem])
    found = await harness.admit(problem)
    return harness, found, target.machine(harness)


@contextmanager
def where(
    asked: ClusterRequest | None,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda words: None,
    single: bool = False,
    goes_on: bool = False,
) -> Iterator[Target]:
    """This machine, or the requested cluster, which stays open during the block; ``folder`` is the run folder.

    ``single``: one candidate is evaluated, and no prompt is written.  ``goes_on``: the run in ``folder`` goes on.
    """
    if asked is None:
        yield LocalMachine(single, goes_on)
        return
    from maxcode.evaluate.cluster import opened  # few commands have a cluster

    with opened(asked, folder, say) as cluster:
        yield ClusterMachine(cluster)
