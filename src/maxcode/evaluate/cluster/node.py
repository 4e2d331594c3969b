"""What runs on a benchmark node, for every engine.

    task (bytes) -> BenchNode.answer -> result (bytes)

A node is one slot: it holds whole cores, runs one task at a time, and measures with the same evaluator as a run without
a cluster.  Original and candidate always run side by side here.  An engine must (1) bring a task to its node, (2)
return the result, or report that the node is lost, and (3) cancel ``answer`` when nobody waits for the result.  The
result contains whatever a program under test does.  A node that died with its process is lost, and no engine can tell
whether a program killed it.

A node trusts its driver only with the choice of the problem.  Programs, artefacts, generators and checkers run in the
sandbox of this machine, and a machine without a sandbox refuses.
"""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import final

import anyio
import msgspec

from maxcode.core.types import Evaluation, Interval, Machine, Node, Problem
from maxcode.errors import InputError, MaxcodeError, UnsafeError
from maxcode.evaluate.cluster.cores import shown, usable
from maxcode.evaluate.cluster.node_evaluators import NodeEvaluators, ProblemSession
from maxcode.evaluate.cluster.quiet_cores import LOOK_AGAIN_S, Calibration, Cores, Look
from maxcode.evaluate.cluster.wire import (
    Admit,
    AdmitResult,
    AnyResult,
    AnyTask,
    Build,
    Evaluate,
    EvaluateResult,
    MeasuredResult,
    Settle,
    SettleResult,
    TaskFailed,
    TaskRefused,
    UnknownProblem,
    encode,
    read_task,
)
from maxcode.sandbox.lanes import accounted, on_cores

Measure = Callable[[], Awaitable[Interval]]


@final
class BenchNode:
    """Runs tasks, one at a time.  ``measure`` runs the calibration kernel.

    The thread of its event loop must be bound to ``cores``; ``node_thread.py`` does that.
    """

    def __init__(
        self, cores: Cores | None = None, calibration: Calibration | None = None, measure: Measure | None = None
    ) -> None:
        self._cores = cores or Cores(usable())
        self._calibration = calibration or Calibration()
        self._evaluators = NodeEvaluators()
        self._measure = measure or self._evaluators.calibrated
        self._one = anyio.Lock()
        self._retired = ""

    @property
    def name(self) -> str:
        """The host and its cores."""
        return f"{platform.node()}:{shown(self._cores.cores)}"

    def close(self) -> None:
        """Remove the files of the admitted problems."""
        self._evaluators.close()

    async def answer(self, raw: bytes) -> bytes:
        """Run a task and return its result.  Failures are results; a cancelled task leaves nothing running."""
        try:
            async with self._one:
                return encode(await self._answer(read_task(raw)))
        except InputError as error:
            return encode(TaskFailed(kind="input", message=str(error)))
        except UnsafeError as error:
            return encode(TaskFailed(kind="unsafe", message=str(error)))
        except (MaxcodeError, OSError) as error:
            return encode(TaskFailed(kind="machine", message=str(error)))

    async def _answer(self, task: AnyTask) -> AnyResult:
        if isinstance(task, Build):
            return await self._evaluators.build(task)
        if self._retired:
            return TaskRefused(why=self._retired, retires=True)
        session = None if isinstance(task, Admit) else self._evaluators.problems.get(task.key)
        if session is None and not isinstance(task, Admit):
            return UnknownProblem()
        problem = task.bundle.problem if isinstance(task, Admit) else session.problem if session is not None else None
        assert problem is not None
        shared = task.shared or problem.spec.shared_cores
        with on_cores(self._lane(problem, shared)), accounted() as ledger:
            found = await self._measured(task, session, shared)
        if not isinstance(found, MeasuredResult):
            return found
        return msgspec.structs.replace(found, build_s=ledger.build_s, time_s=ledger.time_s, wait_s=ledger.wait_s)

    def _lane(self, problem: Problem, shared: bool) -> frozenset[int] | None:
        """The cores on which nobody else may time meanwhile; None means all cores, because a GPU is shared by all."""
        if problem.spec.on_gpu:
            return None
        return self._cores.cores if shared else self._cores.physical

    async def _measured(
        self, task: Admit | Evaluate | Settle, session: ProblemSession | None, shared: bool
    ) -> AnyResult:
        """Run the task between two looks at the cores; refuse it if either look shows that others use them.

        Whoever used the cores since the last task may have finished, for example the driver that shares them with
        ``local:N``. So the first look may be followed by a second, longer one.
        """
        machine = (await self._evaluators.open())[2]
        if self._calibration.due and (why := await self._calibrate(shared)):
            return TaskRefused(why=why, retires=True)
        before = await self._cores.look()
        if not shared and self._cores.why_not(before):
            before = await self._cores.look(LOOK_AGAIN_S)
        if not shared and (why := self._cores.why_not(before)):
            return TaskRefused(why=why)
        known = session.remembered() if session is not None else {}
        try:
            found = await self._done(task, session)
        finally:
            self._cores.leave()
        after = await self._cores.look()
        if not shared and (why := self._cores.why_not(after)):
            if session is not None:
                session.forget_since(known)
            elif isinstance(task, Admit):
                self._evaluators.problems.pop(task.bundle.key, None)
            return TaskRefused(why=f"while it measured, {why}")
        self._calibration.job()
        return _stamped(found, self._stamp(machine, before, after))

    async def _done(
        self, task: Admit | Evaluate | Settle, session: ProblemSession | None
    ) -> AdmitResult | EvaluateResult | SettleResult:
        if isinstance(task, Admit):
            return await self._evaluators.admit(task)
        assert session is not None
        if isinstance(task, Evaluate):
            toolchain = await self._evaluators.toolchain(session.problem)
            return EvaluateResult(evaluation=await session.evaluate(task, toolchain))
        return SettleResult(evaluations=tuple((await session.settle(task)).items()))

    async def _calibrate(self, shared: bool) -> str:
        """Run the kernel, twice if it has drifted; returns why the node retires, empty if it does not.

        On shared cores other programs change the kernel's time; the stamp reports it, and the node does not retire.
        """
        drifted = self._calibration.add(await self._measure()) and not shared
        if drifted and self._calibration.add(await self._measure()):
            self._retired = self._calibration.drift_text()
        self._cores.leave()
        return self._retired

    def _stamp(self, machine: Machine, before: Look, after: Look) -> Node:
        return Node(
            name=self.name,
            cpu=machine.cpu,
            compiler=machine.compilers.get("c", ""),
            cores=tuple(sorted(self._cores.cores)),
            calibration=self._calibration.latest,
            busy=(before.busy, after.busy),
            load=(before.load, after.load),
            pressure=(before.pressure, after.pressure),
            shared=bool(self._cores.why_not(before) or self._cores.why_not(after)),
        )


def _stamped(found: AdmitResult | EvaluateResult | SettleResult, stamp: Node) -> AnyResult:
    """The result with the node, its calibration and its load."""
    match found:
        case AdmitResult():
            return msgspec.structs.replace(found, baseline=replace(found.baseline, node=stamp))
        case EvaluateResult():
            return msgspec.structs.replace(found, evaluation=_on(stamp, found.evaluation))
        case SettleResult():
            evaluations = tuple((at, _on(stamp, evaluation)) for at, evaluation in found.evaluations)
            return msgspec.structs.replace(found, evaluations=evaluations)


def _on(stamp: Node, evaluation: Evaluation) -> Evaluation:
    warning = (f"measured on shared cores of {stamp.name}",) if stamp.shared and evaluation.timing is not None else ()
    return replace(evaluation, node=stamp, warnings=(*evaluation.warnings, *warning))
