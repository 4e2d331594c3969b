"""An open cluster: an engine in a thread, and evaluators on it that any event loop may use."""

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

from maxcode.core.files import write_whole
from maxcode.core.types import Action, Evaluation, Machine, Problem, Program, State, StateId
from maxcode.errors import MachineError
from maxcode.evaluate.cluster.dispatch import Dispatcher
from maxcode.evaluate.cluster.engine import Engine
from maxcode.evaluate.cluster.evaluator import ClusterClient
from maxcode.evaluate.cluster.node_thread import portal
from maxcode.evaluate.cluster.quarantine import Quarantine
from maxcode.evaluate.cluster.utilisation import Report, Utilisation
from maxcode.evaluate.harness_protocol import FreshRace, MeasureOptions
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.sandbox.lanes import charge

FILE = "cluster.json"
T = TypeVar("T")

_group: ContextVar[str] = ContextVar("maxcode group", default="")


@contextmanager
def together(group: str) -> Iterator[None]:
    """Evaluations inside form one group: they are compared, so one node measures all of them."""
    token = _group.set(group)
    try:
        yield
    finally:
        _group.reset(token)


@final
@dataclass(frozen=True, slots=True)
class Terms:
    """What a run asks of a cluster.

    ``name``: name of the cluster in results.
    ``shared``: measure although others use the cores.
    ``patience_s``: seconds to wait while there is no node.
    ``folder``: run folder for what must outlive the driver; None keeps nothing.
    """

    name: str
    shared: bool = False
    patience_s: float = 60.0
    folder: Path | None = None


@final
class Cluster:
    """A cluster to be opened by ``with``; closing it ends what it started.

    ``opened`` makes the engine, in the event loop of the cluster.
    """

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
        self._client: ClusterClient | None = None

    def __enter__(self) -> Self:
        try:
            self._engine = self._portal.call(self._opened)
            dispatcher = Dispatcher(self._engine, self._use, self._terms.patience_s, self._say)
            self._watching = self._portal.start_task_soon(dispatcher.watch)
            terms = self._terms
            self._client = ClusterClient(dispatcher, self._quarantine, terms.name, terms.shared, terms.patience_s)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._client is not None:
            self._watching.cancel()
            self._write(self.report())
        if self._engine is not None:
            self._portal.call(self._engine.close)
        self._portal.call(self._portal.stop, True)

    def evaluator(self, options: MeasureOptions = MeasureOptions()) -> ClusterEvaluator:  # noqa: B008
        """An evaluator that measures with these options."""
        assert self._client is not None
        return ClusterEvaluator(self, self._client, options)

    @property
    def machine(self) -> Machine:
        """The machine that all nodes of the run agree on; known once a problem is admitted."""
        assert self._client is not None
        if self._client.machine is None:
            raise MachineError("no node has admitted a problem yet, so the machine is not known")
        return self._client.machine

    @property
    def engine(self) -> Engine:
        """The engine; use it only in the cluster's event loop (see ``here``)."""
        assert self._engine is not None
        return self._engine

    def report(self) -> Report:
        """What the slots did so far."""
        return self._portal.call(self._use.report)

    def _write(self, report: Report) -> None:
        if self._terms.folder is not None and self._terms.folder.is_dir():
            write_whole(self._terms.folder / FILE, (json.dumps(report.as_table()) + "\n").encode())

    async def here(self, work: Callable[..., Awaitable[T]], *args: Any) -> T:
        """Run ``work`` in the cluster's event loop and wait for it in the caller's; a cancellation reaches both."""
        started: Future[T] = self._portal.start_task_soon(work, *args)
        return await asyncio.wrap_future(started)


@final
class ClusterEvaluator:
    """An evaluator and referee that measures on a cluster; usable from any event loop."""

    def __init__(self, cluster: Cluster, client: ClusterClient, options: MeasureOptions) -> None:
        self._cluster = cluster
        self._client = client
        self._options = options

    def measuring(self, options: MeasureOptions) -> ClusterEvaluator:
        """Another evaluator on the same cluster that measures with these options."""
        return self._cluster.evaluator(options)

    @property
    def sandbox(self) -> str:
        """The sandbox tier of the nodes, as text."""
        return self._cluster.machine.sandbox

    async def admit(self, problem: Problem) -> Admitted:
        """Admit a problem on a node; its inputs stay on the nodes.  InputError if it cannot be admitted."""
        return await self._cluster.here(self._client.admit, problem)

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        """Evaluate a candidate on a node."""
        work = self._client.evaluate
        found, lanes = await self._cluster.here(work, problem, action, incumbent, self._options, _group.get())
        charge(lanes)
        return found

    async def race_fresh(self, problem: Problem, winner: Program, pairs: int) -> FreshRace:
        """No race: nodes have no task for it."""
        return FreshRace(why="a cluster measured it, and nodes time the problem's own inputs only")

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        """Decide and confirm on one node which challenger becomes the incumbent."""
        found, lanes = await self._cluster.here(self._client.settle, problem, challengers, incumbent)
        charge(lanes)
        return found
