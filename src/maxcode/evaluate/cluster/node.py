"""What runs on a benchmark node, whatever engine carries its orders: the contract that every engine keeps to.

    order (bytes) -> BenchNode.answer -> answer (bytes)

A node is one slot: it holds whole cores, carries out one order at a time, and measures with the evaluator of this
machine, the same that a run without a cluster has.  Original and candidate are always measured side by side here.  An
engine must (1) bring an order to the node it is for, (2) bring its answer back, or say that the node is lost, and
(3) cancel ``answer`` when nobody wants it any more.  Whatever a program under test does is in the answer; a node that
died with its process is lost, and no engine can tell whether a program killed it.

A node trusts its driver with which problem is measured, and with nothing else: programs, artefacts, generators and
checkers run in the sandbox of this machine, and a machine without one refuses.
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
    AnyAnswer,
    AnyOrder,
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
    read_order,
)
from maxcode.sandbox.lanes import accounted, on_cores

Measure = Callable[[], Awaitable[Interval]]


@final
class BenchNode:
    """Carries out orders, one at a time.  Its event loop's thread must be bound to ``cores`` (``node_thread.py``
    sees to that).  ``measure`` runs the calibration kernel."""

    def __init__(
        self, cores: Cores | None = None, calibration: Calibration | None = None, measure: Measure | None = None
    ) -> None:
        self._cores = cores or Cores(usable())
        self._calibration = calibration or Calibration()
        self._workshop = NodeEvaluators()
        self._measure = measure or self._workshop.calibrated
        self._one = anyio.Lock()
        self._retired = ""

    @property
    def name(self) -> str:
        """The host, and the cores held."""
        return f"{platform.node()}:{shown(self._cores.cores)}"

    def close(self) -> None:
        """Remove the files of the problems it was given."""
        self._workshop.close()

    async def answer(self, raw: bytes) -> bytes:
        """Carry an order out.  Never raises for what it comes to; cancelled, it leaves nothing running."""
        try:
            async with self._one:
                return encode(await self._answer(read_order(raw)))
        except InputError as error:
            return encode(TaskFailed(kind="input", message=str(error)))
        except UnsafeError as error:
            return encode(TaskFailed(kind="unsafe", message=str(error)))
        except (MaxcodeError, OSError) as error:
            return encode(TaskFailed(kind="machine", message=str(error)))

    async def _answer(self, order: AnyOrder) -> AnyAnswer:
        if isinstance(order, Build):
            return await self._workshop.build(order)
        if self._retired:
            return TaskRefused(why=self._retired, retires=True)
        desk = None if isinstance(order, Admit) else self._workshop.desks.get(order.key)
        if desk is None and not isinstance(order, Admit):
            return UnknownProblem()
        problem = order.parcel.problem if isinstance(order, Admit) else desk.problem if desk is not None else None
        assert problem is not None
        shared = order.shared or problem.spec.shared_cores
        with on_cores(self._lane(problem, shared)), accounted() as ledger:
            found = await self._measured(order, desk, shared)
        if not isinstance(found, MeasuredResult):
            return found
        return msgspec.structs.replace(found, build_s=ledger.build_s, time_s=ledger.time_s, wait_s=ledger.wait_s)

    def _lane(self, problem: Problem, shared: bool) -> frozenset[int] | None:
        """The cores that nobody else may time on meanwhile; None = all, for a GPU is one."""
        if problem.spec.on_gpu:
            return None
        return self._cores.cores if shared else self._cores.physical

    async def _measured(self, order: Admit | Evaluate | Settle, desk: ProblemSession | None, shared: bool) -> AnyAnswer:
        """The order's answer between two looks at the cores; refused where either shows others on them.

        Who was on them since the last order may have gone, as the driver has that shares them with ``local:N``: so the
        first look may be a second, longer one.
        """
        machine = (await self._workshop.open())[2]
        if self._calibration.due and (why := await self._calibrate(shared)):
            return TaskRefused(why=why, retires=True)
        before = await self._cores.look()
        if not shared and self._cores.why_not(before):
            before = await self._cores.look(LOOK_AGAIN_S)
        if not shared and (why := self._cores.why_not(before)):
            return TaskRefused(why=why)
        known = desk.remembered() if desk is not None else {}
        try:
            found = await self._done(order, desk)
        finally:
            self._cores.leave()
        after = await self._cores.look()
        if not shared and (why := self._cores.why_not(after)):
            if desk is not None:
                desk.forget_since(known)
            elif isinstance(order, Admit):
                self._workshop.desks.pop(order.parcel.key, None)
            return TaskRefused(why=f"while it measured, {why}")
        self._calibration.job()
        return _stamped(found, self._stamp(machine, before, after))

    async def _done(
        self, order: Admit | Evaluate | Settle, desk: ProblemSession | None
    ) -> AdmitResult | EvaluateResult | SettleResult:
        if isinstance(order, Admit):
            return await self._workshop.admit(order)
        assert desk is not None
        if isinstance(order, Evaluate):
            toolchain = await self._workshop.toolchain(desk.problem)
            return EvaluateResult(evaluation=await desk.evaluate(order, toolchain))
        return SettleResult(evaluations=tuple((await desk.settle(order)).items()))

    async def _calibrate(self, shared: bool) -> str:
        """Run the kernel, twice where it has drifted; why the node retires, empty where it goes on.

        On shared cores the kernel's time is that of the others, too: it is in the stamp, and nothing follows from it.
        """
        drifted = self._calibration.add(await self._measure()) and not shared
        if drifted and self._calibration.add(await self._measure()):
            self._retired = self._calibration.told()
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


def _stamped(found: AdmitResult | EvaluateResult | SettleResult, stamp: Node) -> AnyAnswer:
    """The answer with where it was made."""
    match found:
        case AdmitResult():
            return msgspec.structs.replace(found, baseline=replace(found.baseline, node=stamp))
        case EvaluateResult():
            return msgspec.structs.replace(found, evaluation=_on(stamp, found.evaluation))
        case SettleResult():
            told = tuple((at, _on(stamp, evaluation)) for at, evaluation in found.evaluations)
            return msgspec.structs.replace(found, evaluations=told)


def _on(stamp: Node, evaluation: Evaluation) -> Evaluation:
    told = (f"measured on shared cores of {stamp.name}",) if stamp.shared and evaluation.timing is not None else ()
    return replace(evaluation, node=stamp, warnings=(*evaluation.warnings, *told))
