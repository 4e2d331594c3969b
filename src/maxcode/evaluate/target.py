"""Where candidates are measured: on this machine, or on a cluster.  The one place that knows the difference.

Both give a harness and an admission; what searches and what trains never asks which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, final

from maxcode.core.types import Machine, Problem
from maxcode.evaluate.cluster import Cluster, ClusterRequest, Report, opened
from maxcode.evaluate.harness import Harness, open_harness
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import describe


class Target(Protocol):
    """A machine, or what stands for one."""

    async def prepare(self, problem: Problem) -> tuple[Harness, Admitted, Machine]:
        """The evaluator for the problem, which it has admitted, and where the numbers will come from."""
        ...

    def used(self) -> Report | None:
        """What the slots of a cluster did; None on this machine."""
        ...


@final
class LocalMachine:
    """This machine."""

    async def prepare(self, problem: Problem) -> tuple[Harness, Admitted, Machine]:
        evaluator = await open_harness(problem)
        found = await evaluator.admit(problem)
        return evaluator, found, describe(evaluator.sandbox)

    def used(self) -> Report | None:
        return None


@final
class ClusterMachine:
    """A cluster that is open."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def prepare(self, problem: Problem) -> tuple[Harness, Admitted, Machine]:
        evaluator = self._cluster.evaluator()
        found = await evaluator.admit(problem)
        return evaluator, found, self._cluster.machine

    def used(self) -> Report | None:
        return self._cluster.report()


@contextmanager
def where(
    asked: ClusterRequest | None, folder: Path | None = None, say: Callable[[str], None] = lambda words: None
) -> Iterator[Target]:
    """Here, or the cluster that was asked for, open for as long as the block; ``folder`` is the run's."""
    if asked is None:
        yield LocalMachine()
        return
    with opened(asked, folder, say) as cluster:
        yield ClusterMachine(cluster)
