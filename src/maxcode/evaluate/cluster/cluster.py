"""A cluster that is open: an engine in a thread of its own, and evaluators on it that any event loop may use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, final

from maxcode.core.types import Action, Evaluation, Machine, Problem, State, StateId
from maxcode.errors import MachineError
from maxcode.evaluate.cluster.dispatch import Dispatcher
from maxcode.evaluate.cluster.engine import Engine
from maxcode.evaluate.cluster.evaluator import ClusterClient
from maxcode.evaluate.cluster.node_thread import portal
from maxcode.evaluate.cluster.quarantine import Quarantine
from maxcode.evaluate.cluster.utilisation import Report, Utilisation
from maxcode.evaluate.harness_protocol import MeasureOptions
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.sandbox.lanes import charge

FILE = "cluster.json"
T = TypeVar("T")

_group: ContextVar[str] = ContextVar("maxcode group", default="")


@contextmanager
def together(group: str) -> Iterator[None]:
    """What is evaluated inside is of one group: its members are compared, so they are measured on one node."""
    token = _group.set(group)
    try:
        yield
    finally:
        _group.reset(token)


@final
@dataclass(frozen=True, slots=True)
class Terms:
    """What a run asks of a cluster.  ``name`` stands for it in results; ``shared``: measure although others use the
    cores; ``patience_s``: how long to wait where there is no node; ``folder`` keeps what must outlive the driver."""

    name: str
    shared: bool = False
    patience_s: float = 60.0
    folder: Path | None = None


@final
class Cluster:
    """Opened by ``with``; closing it ends what it started.  ``opened`` makes the engine, in the cluster's own loop."""

    def __init__(
        self,
        opened: Callable[[], Awaitable[Engine]],
        terms: Terms,
        say: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._opened = opened
        self._terms = terms
        self._say = say
        self._portal = portal()
        self._use = Utilisation()
        self._quarantine = Quarantine(terms.folder)
        self._engine: Engine | None = None
        self._crew: ClusterClient | None = None

    def __enter__(self) -> Self:
        try:
            self._engine = self._portal.call(self._opened)
            dispatcher = Dispatcher(self._engine, self._use, self._terms.patience_s, self._say)
            self._watching = self._portal.start_task_soon(dispatcher.watch)
            terms = self._terms
            self._crew = ClusterClient(dispatcher, self._quarantine, terms.name, terms.shared, terms.patience_s)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._crew is not None:
            self._watching.cancel()
            self._write(self.report())
        if self._engine is not None:
            self._portal.call(self._engine.close)
        self._portal.call(self._portal.stop, True)

    def evaluator(self, manner: MeasureOptions = MeasureOptions()) -> ClusterEvaluator:  # noqa: B008
        """An evaluator that measures in this manner."""
        assert self._crew is not None
        return ClusterEvaluator(self, self._crew, manner)

    @property
    def machine(self) -> Machine:
        """What all nodes of the run are like; only once a problem was admitted."""
        assert self._crew is not None
        if self._crew.machine is None:
            raise MachineError("no node has admitted a problem yet, so the machine is not known")
        return self._crew.machine

    @property
    def engine(self) -> Engine:
        """What carries the orders; to be used in the cluster's own loop (``here``)."""
        assert self._engine is not None
        return self._engine

    def report(self) -> Report:
        """What the slots did so far."""
        return self._portal.call(self._use.report)

    def _write(self, report: Report) -> None:
        if self._terms.folder is not None and self._terms.folder.is_dir():
            (self._terms.folder / FILE).write_text(json.dumps(report.as_table()) + "\n")

    async def here(self, work: Callable[..., Awaitable[T]], *args: Any) -> T:
        """Do this in the cluster's loop, and wait for it in one's own; cancelled here, it is cancelled there."""
        started: Future[T] = self._portal.start_task_soon(work, *args)
        return await asyncio.wrap_future(started)


@final
class ClusterEvaluator:
    """An evaluator and referee whose machine is a cluster; used from any event loop."""

    def __init__(self, cluster: Cluster, crew: ClusterClient, manner: MeasureOptions) -> None:
        self._cluster = cluster
        self._crew = crew
        self._manner = manner

    def measuring(self, options: MeasureOptions) -> ClusterEvaluator:
        """Another one on the same cluster that measures in this manner."""
        return self._cluster.evaluator(options)

    @property
    def sandbox(self) -> str:
        """The sandbox's tier on the nodes, in words."""
        return self._cluster.machine.sandbox

    async def admit(self, problem: Problem) -> Admitted:
        """Make the problem ready to be worked on; InputError when it cannot be.  Its inputs stay on the nodes."""
        return await self._cluster.here(self._crew.admit, problem)

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        """The ladder, on a node."""
        work = self._crew.evaluate
        found, lanes = await self._cluster.here(work, problem, action, incumbent, self._manner, _group.get())
        charge(lanes)
        return found

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        """Who leads, decided and confirmed on one node."""
        found, lanes = await self._cluster.here(self._crew.settle, problem, challengers, incumbent)
        charge(lanes)
        return found
