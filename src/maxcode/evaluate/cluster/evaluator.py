"""The client of a cluster: packs problems, sends tasks to nodes, and turns results into evaluations.

A candidate ends in one of three ways.  A node evaluates it: its ``Evaluation``.  The node was lost, refused, or failed:
the task goes to another node.  The engine, or every node, failed: ``MachineError``.  Only an evaluation counts for a
search or a policy.  A program on which two nodes in a row were lost is not run a third time: it is QUARANTINED, in this
run and when the run is resumed (``quarantine.py``).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.types import Action, Evaluation, Machine, Problem, Program, State, StateId
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.cluster.dispatch import Dispatcher, Slot, TaskPlacement
from maxcode.evaluate.cluster.engine import NodeLost
from maxcode.evaluate.cluster.quarantine import Quarantine
from maxcode.evaluate.cluster.utilisation import Doing
from maxcode.evaluate.cluster.wire import (
    Admit,
    AdmitResult,
    AnyResult,
    Build,
    BuildResult,
    BuiltProgram,
    Evaluate,
    EvaluateResult,
    ProblemBundle,
    Settle,
    SettleResult,
    TaskFailed,
    TaskRefused,
    UnknownProblem,
    challenger,
    encode,
    pack,
    read_result,
)
from maxcode.evaluate.harness_protocol import MeasureOptions
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity, without
from maxcode.evaluate.ladder.reject import not_permitted, reject
from maxcode.sandbox.jobs import Blob
from maxcode.sandbox.lanes import Ledger

ATTEMPTS = 5  # of a task that nodes failed, without being lost
SETTLE_ATTEMPTS = 3  # of one batch, when nodes are lost meanwhile
_SEED_BITS = 62


@final
@dataclass(slots=True)
class AdmittedProblem:
    """A problem, its bundle, and the admission by the first node; other nodes must agree with it."""

    problem: Problem
    bundle: ProblemBundle
    key: str
    admit_result: AdmitResult | None = None
    admitted: Admitted | None = None

    def admit_task(self, shared: bool) -> bytes:
        """The task that admits it on a node."""
        timed = () if self.admitted is None else tuple(one.name for one in self.admitted.timed)
        return encode(Admit(bundle=self.bundle, timed=timed, shared=shared))


@final
@dataclass(slots=True)
class Attempt:
    """A task in progress: its placement, how often nodes failed it, and since when nodes have refused it."""

    placement: TaskPlacement
    failures: int = 0
    refused_since: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Job:
    """A ``task`` to carry.  ``fits``: whether a result is one of such a task.  ``suspects``: programs against which the
    loss of its node counts."""

    task: bytes
    doing: Doing
    fits: Callable[[AnyResult], bool]
    suspects: tuple[Program, ...] = ()


@final
class ClusterClient:
    """What the evaluators of a cluster do, in the cluster's event loop.

    ``name``: name of the cluster in results.
    ``shared``: measure although others use the cores.
    """

    def __init__(
        self, dispatcher: Dispatcher, quarantine: Quarantine, name: str, shared: bool = False, patience_s: float = 60.0
    ) -> None:
        self._dispatcher = dispatcher
        self._quarantine = quarantine
        self._name = name
        self._shared = shared
        self._patience_s = patience_s
        self._known: dict[str, AdmittedProblem] = {}
        self._seed = secrets.randbits(_SEED_BITS)
        self.machine: Machine | None = None

    # ------------------------------------------------------------------------------------------------- admission

    async def admit(self, problem: Problem) -> Admitted:
        """Admit a problem on one node; other nodes admit it with their first candidate.

        InputError as without a cluster.
        """
        known = self._of(problem)
        attempt = Attempt(TaskPlacement(known.key))
        while known.admitted is None:
            async with self._dispatcher.slot(attempt.placement) as slot:
                await self._ready(slot, known, attempt)
        return known.admitted

    def _of(self, problem: Problem) -> AdmittedProblem:
        mark = identity(problem)
        if mark not in self._known:
            bundle = pack(problem, self._seed)
            self._known[mark] = AdmittedProblem(problem, bundle, bundle.key)
        return self._known[mark]

    async def _ready(self, slot: Slot, known: AdmittedProblem, attempt: Attempt) -> bool:
        """True if the slot has the problem; admits it there if needed."""
        if known.key in slot.admitted:
            return True
        try:
            raw = await self._dispatcher.carry(slot, known.admit_task(self._shared), "admitting")
            result = _understood(raw, lambda found: isinstance(found, AdmitResult))
        except NodeLost:
            self._quarantine.record_loss(known.problem.program, slot.name)
            if self._quarantine.verdict(known.problem.program) is not None:
                raise MachineError(
                    f"two nodes were lost while they admitted {known.problem.id}; see their logs"
                ) from None
            return False
        if isinstance(result, AdmitResult):
            self._dispatcher.waited(slot, result.wait_s)
            return self._is_same(slot, known, result)
        if isinstance(result, TaskFailed) and result.kind == "input":
            if known.admit_result is None:
                raise InputError(result.message)
            self._dispatcher.retire(slot, f"it rejects a problem that another node admitted: {result.message}")
            return False
        self._not_measured(slot, result, attempt)
        return False

    def _is_same(self, slot: Slot, known: AdmittedProblem, admit_result: AdmitResult) -> bool:
        """True if a node's admission agrees with the first one; otherwise the node retires."""
        if self.machine is not None and (why := _differs(self.machine, admit_result.machine)):
            self._dispatcher.retire(slot, f"another kind of node than the first: {why}")
            return False
        if known.admit_result is not None and known.admit_result.removed != admit_result.removed:
            self._dispatcher.retire(slot, f"the original fails different tests there: {admit_result.dropped}")
            return False
        slot.admitted.add(known.key)
        slot.failures = 0
        self._quarantine.clear(known.problem.program)
        if known.admit_result is None:
            known.admit_result = admit_result
            self.machine = self.machine or replace(admit_result.machine, node=self._name)
            known.admitted = _admitted(known.problem, admit_result)
            self._known[identity(known.admitted.problem)] = known
        return True

    # ------------------------------------------------------------------------------------------------- evaluator

    async def evaluate(
        self, problem: Problem, action: Action, incumbent: Action | None, options: MeasureOptions, group: str
    ) -> tuple[Evaluation, Ledger]:
        """The evaluation of a candidate, and the time that it took in the timing lanes of the nodes."""
        if (refused := reject(problem, action)) is not None:
            return refused, Ledger()
        program = action.program
        assert program is not None
        await self.admit(problem)
        known = self._of(problem)
        artefact, unbuilt = await self._built(known, problem, program)
        if unbuilt is not None:
            return unbuilt, Ledger()
        task = Evaluate(
            shared=self._shared,
            key=known.key,
            permitted=problem.permitted,
            program=program,
            incumbent=incumbent.program if incumbent is not None else None,
            options=options,
            artefact=artefact,
        )
        placement = TaskPlacement(known.key, group)
        while (verdict := self._quarantine.verdict(program)) is None:
            job = Job(encode(task), "evaluating", lambda found: isinstance(found, EvaluateResult), (program,))
            result = await self._submit(known, placement, job)
            if isinstance(result, EvaluateResult):
                self._quarantine.clear(program)
                return result.evaluation, Ledger(result.build_s, result.time_s, result.wait_s)
        return verdict, Ledger()

    async def _built(
        self, known: AdmittedProblem, problem: Problem, program: Program
    ) -> tuple[BuiltProgram | None, Evaluation | None]:
        """A build by a worker with cores for builds, or why it failed; neither if the slot must build."""
        if not problem.traits.is_built_apart:
            return None, None
        plain = replace(known.bundle.problem, permitted=None)
        raw = await self._dispatcher.build(encode(Build(problem=plain, program=program)))
        result = read_result(raw) if raw is not None else None
        if not isinstance(result, BuildResult):
            return None, None  # the slot builds it and reports the error
        if result.artefact is None:
            return None, result.unbuilt
        return result.artefact, not_permitted(problem, program)

    # --------------------------------------------------------------------------------------------------- referee

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> tuple[dict[StateId, Evaluation], Ledger]:
        """Decide which challenger becomes the incumbent, on one node, with its own builds.

        If a node is lost with several challengers, none of them is to blame: each is then tried alone.  The incumbent,
        measured before, is never to blame.  MachineError if nodes are lost nevertheless.
        """
        await self.admit(problem)
        known = self._of(problem)
        for _ in range(SETTLE_ATTEMPTS):
            verdicts = ((one.id, self._quarantine.verdict(one.program)) for one in challengers)
            quarantined = {at: verdict for at, verdict in verdicts if verdict is not None}
            remaining = [one for one in challengers if one.id not in quarantined]
            if not remaining:
                return quarantined, Ledger()
            result = await self._settle_once(known, problem, remaining, incumbent)
            if result is not None:
                found = Ledger(result.build_s, result.time_s, result.wait_s)
                return {**quarantined, **dict(result.evaluations)}, found
            if len(remaining) > 1:
                for one in remaining:
                    await self._confirm_alone(known, problem, one)
        raise MachineError(
            f"nodes were lost {SETTLE_ATTEMPTS} times while they confirmed challengers of {problem.id}, none with one "
            "challenger alone; see their logs"
        )

    async def _settle_once(
        self, known: AdmittedProblem, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> SettleResult | None:
        """One attempt to settle; None if the node was lost, which counts against a single challenger."""
        task = Settle(
            shared=self._shared,
            key=known.key,
            permitted=problem.permitted,
            challengers=tuple(map(challenger, challengers)),
            incumbent=challenger(incumbent) if incumbent is not None else None,
        )
        programs = [one.program for one in challengers]
        suspects = tuple(programs) if len(programs) == 1 else ()
        asked = {one.id for one in (*challengers, *([incumbent] if incumbent is not None else ()))}
        job = Job(encode(task), "settling", lambda found: _is_about(found, asked), suspects)
        result = await self._submit(known, TaskPlacement(known.key), job)
        if not isinstance(result, SettleResult):
            return None
        for program in programs:
            self._quarantine.clear(program)
        return result

    async def _confirm_alone(self, known: AdmittedProblem, problem: Problem, one: State) -> None:
        """Confirm a challenger alone, until a node completes it or it is quarantined."""
        while self._quarantine.verdict(one.program) is None:
            if await self._settle_once(known, problem, [one], None) is not None:
                return

    # ---------------------------------------------------------------------------------------------------- tasks

    async def _submit(
        self, known: AdmittedProblem, placement: TaskPlacement, job: Job
    ) -> EvaluateResult | SettleResult | None:
        """Run a task on a node; None if the node was lost, which counts against its suspects."""
        attempt = Attempt(placement)
        while True:
            async with self._dispatcher.slot(attempt.placement) as slot:
                if not await self._ready(slot, known, attempt):
                    continue
                try:
                    result = _understood(await self._dispatcher.carry(slot, job.task, job.doing), job.fits)
                except NodeLost:
                    for program in job.suspects:
                        self._quarantine.record_loss(program, slot.name)
                    return None
                if isinstance(result, EvaluateResult | SettleResult):
                    slot.failures = 0
                    self._dispatcher.waited(slot, result.wait_s)
                    return result
                self._not_measured(slot, result, attempt)

    def _not_measured(self, slot: Slot, result: AnyResult, attempt: Attempt) -> None:
        """React to a result without a measurement; raises if no other node would do better."""
        match result:
            case UnknownProblem():
                slot.admitted.clear()
            case TaskRefused(retires=True):
                self._dispatcher.retire(slot, result.why)
            case TaskRefused():
                self._dispatcher.rest(slot, result.why)
                attempt.refused_since = attempt.refused_since or time.monotonic()
                if time.monotonic() - attempt.refused_since > self._patience_s / 2:
                    attempt.placement = replace(attempt.placement, avoided=attempt.placement.avoided | {slot.name})
                if time.monotonic() - attempt.refused_since > self._patience_s:
                    raise MachineError(f"no node measured for {self._patience_s:.0f} s; {slot.name}: {result.why}")
            case TaskFailed(kind="input"):
                raise result.error(slot.name)
            case TaskFailed(kind="unsafe"):
                self._dispatcher.retire(slot, result.message)
                if self._dispatcher.has_no_slot:
                    raise result.error(slot.name)
            case TaskFailed():
                self._failed(slot, result, attempt)
            case _:  # the other measured results do not get here (``_understood``)
                raise MachineError(f"node {slot.name}: {_UNFIT}")

    def _failed(self, slot: Slot, result: TaskFailed, attempt: Attempt) -> None:
        self._dispatcher.failed(slot, result.message)
        attempt.failures += 1
        attempt.placement = replace(attempt.placement, avoided=attempt.placement.avoided | {slot.name})
        if attempt.failures >= ATTEMPTS or self._dispatcher.has_no_slot:
            raise result.error(slot.name)


_UNFIT = "it returned a result that does not fit its task"


def _understood(raw: bytes, fits: Callable[[AnyResult], bool]) -> AnyResult:
    """The result in these bytes; a failure of the node where they hold none, or the result of another task."""
    try:
        result = read_result(raw)
    except MachineError as error:
        return TaskFailed(kind="machine", message=str(error))
    if isinstance(result, AdmitResult | BuildResult | EvaluateResult | SettleResult) and not fits(result):
        return TaskFailed(kind="machine", message=_UNFIT)
    return result


def _is_about(result: AnyResult, asked: Collection[StateId]) -> bool:
    """Whether a result settles states that were asked for, and no other."""
    return isinstance(result, SettleResult) and all(at in asked for at, _ in result.evaluations)


def _differs(first: Machine, other: Machine) -> str:
    """What distinguishes another node from the first one; empty if they are of the same kind."""
    for what, one, two in (
        ("processor", first.cpu, other.cpu),
        ("instruction sets", first.isa, other.isa),
        ("compilers", first.compilers, other.compilers),
        ("sandbox", first.sandbox, other.sandbox),
        ("number of cores", first.cores, other.cores),
    ):
        if one != two:
            return f"its {what}: {two} and not {one}"
    return ""


def _admitted(problem: Problem, admit_result: AdmitResult) -> Admitted:
    """An admission for the driver: without the inputs themselves, which stay on the nodes."""
    nothing = Blob.of(b"")
    inputs = tuple(Input(one.name, nothing, None, one.origin, one.seconds) for one in admit_result.tests)
    timed = {one.name for one in admit_result.tests if one.timed}
    slimmer = replace(without(problem, frozenset(admit_result.removed)), statement=admit_result.statement)
    return Admitted(
        problem=slimmer,
        inputs=inputs,
        timed=tuple(sorted((one for one in inputs if one.name in timed), key=lambda one: -one.seconds)),
        original=Built(None),
        baseline=admit_result.baseline,
        dropped=admit_result.dropped,
        notes=admit_result.notes,
        peak_gflops=admit_result.peak_gflops,
        facts=admit_result.facts,
    )
