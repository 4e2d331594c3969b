"""An evaluator whose machine is a cluster: it packs problems, gives orders, and turns answers into evaluations.

Three things can happen to a candidate, and only the first is worth anything to a search or a policy.  The node judged
it: its ``Evaluation``.  The node was lost, refused, or broke: the order goes to another one.  The engine, or every
node, failed: ``MachineError``.  A program that two nodes in a row were lost with is not run a third time: its
evaluation is QUARANTINED, in this run and when it is resumed (``quarantine.py``).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
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
    AnyAnswer,
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
    read_answer,
)
from maxcode.evaluate.harness_protocol import MeasureOptions
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity, without
from maxcode.evaluate.ladder.reject import not_permitted, reject
from maxcode.sandbox.jobs import Blob
from maxcode.sandbox.lanes import Ledger

ATTEMPTS = 5  # of an order that nodes failed to carry out, without being lost
SETTLINGS = 3  # of one batch, when nodes are lost meanwhile
_SEED_BITS = 62


@final
@dataclass(slots=True)
class AdmittedProblem:
    """A problem, its parcel, and what the first node that admitted it said; the others must say the same."""

    problem: Problem
    parcel: ProblemBundle
    key: str
    taken: AdmitResult | None = None
    admitted: Admitted | None = None

    def order(self, shared: bool) -> bytes:
        """What takes it up."""
        timed = () if self.admitted is None else tuple(one.name for one in self.admitted.timed)
        return encode(Admit(parcel=self.parcel, timed=timed, shared=shared))


@final
@dataclass(slots=True)
class Attempt:
    """An order under way: how often nodes failed it, and since when they have refused it."""

    wish: TaskPlacement
    failures: int = 0
    refused_since: float | None = None


@final
class ClusterClient:
    """All that an evaluator of a cluster does, in the event loop of the cluster.  ``shared``: measure although others
    use the cores.  ``name`` stands for the machine in results."""

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
        """Take a problem up on one node; the others do as they get candidates of it.  InputError as on one machine."""
        known = self._of(problem)
        trying = Attempt(TaskPlacement(known.key))
        while known.admitted is None:
            async with self._dispatcher.slot(trying.wish) as slot:
                await self._ready(slot, known, trying)
        return known.admitted

    def _of(self, problem: Problem) -> AdmittedProblem:
        mark = identity(problem)
        if mark not in self._known:
            parcel = pack(problem, self._seed)
            self._known[mark] = AdmittedProblem(problem, parcel, parcel.key)
        return self._known[mark]

    async def _ready(self, slot: Slot, known: AdmittedProblem, trying: Attempt) -> bool:
        """Whether the slot has the problem; it takes it up if need be."""
        if known.key in slot.admitted:
            return True
        try:
            answer = read_answer(await self._dispatcher.carry(slot, known.order(self._shared), "admitting"))
        except NodeLost:
            self._quarantine.blame(known.problem.program, slot.name)
            if self._quarantine.verdict(known.problem.program) is not None:
                raise MachineError(
                    f"two nodes were lost while they admitted {known.problem.id}; see their logs"
                ) from None
            return False
        if isinstance(answer, AdmitResult):
            self._dispatcher.waited(slot, answer.wait_s)
            return self._agrees(slot, known, answer)
        if isinstance(answer, TaskFailed) and answer.kind == "input":
            if known.taken is None:
                raise InputError(answer.message)
            self._dispatcher.retire(slot, f"it does not admit what another node admits: {answer.message}")
            return False
        self._unanswered(slot, answer, trying)
        return False

    def _agrees(self, slot: Slot, known: AdmittedProblem, taken: AdmitResult) -> bool:
        """Whether what a node says of the problem is what the first one said; else it retires."""
        if self.machine is not None and (why := _differs(self.machine, taken.machine)):
            self._dispatcher.retire(slot, f"another kind of node than the first: {why}")
            return False
        if known.taken is not None and known.taken.removed != taken.removed:
            self._dispatcher.retire(slot, f"the original fails other tests there: {taken.dropped}")
            return False
        slot.admitted.add(known.key)
        slot.strikes = 0
        self._quarantine.absolve(known.problem.program)
        if known.taken is None:
            known.taken = taken
            self.machine = self.machine or replace(taken.machine, node=self._name)
            known.admitted = _admitted(known.problem, taken)
            self._known[identity(known.admitted.problem)] = known
        return True

    # ------------------------------------------------------------------------------------------------- evaluator

    async def evaluate(
        self, problem: Problem, action: Action, incumbent: Action | None, manner: MeasureOptions, group: str
    ) -> tuple[Evaluation, Ledger]:
        """What a candidate is worth finding out, and what finding it out took in the lanes of the nodes."""
        if (refused := reject(problem, action)) is not None:
            return refused, Ledger()
        program = action.program
        assert program is not None
        await self.admit(problem)
        known = self._of(problem)
        artefact, unbuilt = await self._built(known, problem, program)
        if unbuilt is not None:
            return unbuilt, Ledger()
        order = Evaluate(
            shared=self._shared,
            key=known.key,
            permitted=problem.permitted,
            program=program,
            incumbent=incumbent.program if incumbent is not None else None,
            manner=manner,
            artefact=artefact,
        )
        wish = TaskPlacement(known.key, group)
        while (verdict := self._quarantine.verdict(program)) is None:
            answer = await self._carried(known, wish, encode(order), "evaluating", [program])
            if isinstance(answer, EvaluateResult):
                self._quarantine.absolve(program)
                return answer.evaluation, Ledger(answer.build_s, answer.time_s, answer.wait_s)
        return verdict, Ledger()

    async def _built(
        self, known: AdmittedProblem, problem: Problem, program: Program
    ) -> tuple[BuiltProgram | None, Evaluation | None]:
        """A build by a worker that has cores for it, or why there is none; neither where the slot is to build."""
        if not problem.traits.is_built_apart:
            return None, None
        plain = replace(known.parcel.problem, permitted=None)
        raw = await self._dispatcher.build(encode(Build(problem=plain, program=program)))
        answer = read_answer(raw) if raw is not None else None
        if not isinstance(answer, BuildResult):
            return None, None  # the slot will find out, and say
        if answer.artefact is None:
            return None, answer.unbuilt
        return answer.artefact, not_permitted(problem, program)

    # --------------------------------------------------------------------------------------------------- referee

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> tuple[dict[StateId, Evaluation], Ledger]:
        """Who leads: all of it on one node, with builds of its own.

        A node that is lost with several programs on it blames none of them: each challenger is then tried alone.  The
        incumbent, which has come through before, is never blamed; MachineError where nodes are lost all the same.
        """
        await self.admit(problem)
        known = self._of(problem)
        for _ in range(SETTLINGS):
            fallen = {one.id: why for one in challengers if (why := self._quarantine.verdict(one.program)) is not None}
            standing = [one for one in challengers if one.id not in fallen]
            if not standing:
                return fallen, Ledger()
            answer = await self._settled(known, problem, standing, incumbent)
            if answer is not None:
                found = Ledger(answer.build_s, answer.time_s, answer.wait_s)
                return {**fallen, **dict(answer.evaluations)}, found
            if len(standing) > 1:
                for one in standing:
                    await self._comes_through(known, problem, one)
        raise MachineError(
            f"nodes were lost {SETTLINGS} times while they settled who leads {problem.id}, and none with one "
            "challenger alone; see their logs"
        )

    async def _settled(
        self, known: AdmittedProblem, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> SettleResult | None:
        """A node's word on who leads; None where it was lost, for which a single challenger is blamed."""
        order = Settle(
            shared=self._shared,
            key=known.key,
            permitted=problem.permitted,
            challengers=tuple(map(challenger, challengers)),
            incumbent=challenger(incumbent) if incumbent is not None else None,
        )
        programs = [one.program for one in challengers]
        blamed = programs if len(programs) == 1 else []
        answer = await self._carried(known, TaskPlacement(known.key), encode(order), "settling", blamed)
        if not isinstance(answer, SettleResult):
            return None
        for program in programs:
            self._quarantine.absolve(program)
        return answer

    async def _comes_through(self, known: AdmittedProblem, problem: Problem, one: State) -> None:
        """Confirm a challenger alone, until it comes through or is quarantined."""
        while self._quarantine.verdict(one.program) is None:
            if await self._settled(known, problem, [one], None) is not None:
                return

    # ---------------------------------------------------------------------------------------------------- orders

    async def _carried(
        self, known: AdmittedProblem, wish: TaskPlacement, order: bytes, doing: Doing, programs: Sequence[Program]
    ) -> EvaluateResult | SettleResult | None:
        """A node's answer to an order; None where a node was lost with it, for which ``programs`` are blamed."""
        trying = Attempt(wish)
        while True:
            async with self._dispatcher.slot(trying.wish) as slot:
                if not await self._ready(slot, known, trying):
                    continue
                try:
                    answer = read_answer(await self._dispatcher.carry(slot, order, doing))
                except NodeLost:
                    for program in programs:
                        self._quarantine.blame(program, slot.name)
                    return None
                if isinstance(answer, EvaluateResult | SettleResult):
                    slot.strikes = 0
                    self._dispatcher.waited(slot, answer.wait_s)
                    return answer
                self._unanswered(slot, answer, trying)

    def _unanswered(self, slot: Slot, answer: AnyAnswer, trying: Attempt) -> None:
        """What follows from an answer that is none; raises where no other node would do better."""
        match answer:
            case UnknownProblem():
                slot.admitted.clear()
            case TaskRefused(retires=True):
                self._dispatcher.retire(slot, answer.why)
            case TaskRefused():
                self._dispatcher.rest(slot, answer.why)
                trying.refused_since = trying.refused_since or time.monotonic()
                if time.monotonic() - trying.refused_since > self._patience_s / 2:
                    trying.wish = replace(trying.wish, avoided=trying.wish.avoided | {slot.name})
                if time.monotonic() - trying.refused_since > self._patience_s:
                    raise MachineError(f"no node would measure for {self._patience_s:.0f} s; {slot.name}: {answer.why}")
            case TaskFailed(kind="input"):
                raise answer.error(slot.name)
            case TaskFailed(kind="unsafe"):
                self._dispatcher.retire(slot, answer.message)
                if self._dispatcher.is_deserted:
                    raise answer.error(slot.name)
            case TaskFailed():
                self._failed(slot, answer, trying)
            case _:
                raise MachineError(f"node {slot.name} answered something else than it was asked")

    def _failed(self, slot: Slot, answer: TaskFailed, trying: Attempt) -> None:
        self._dispatcher.strike(slot, answer.message)
        trying.failures += 1
        trying.wish = replace(trying.wish, avoided=trying.wish.avoided | {slot.name})
        if trying.failures >= ATTEMPTS or self._dispatcher.is_deserted:
            raise answer.error(slot.name)


def _differs(first: Machine, other: Machine) -> str:
    """How another node is not of the first one's kind; empty where it is."""
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


def _admitted(problem: Problem, taken: AdmitResult) -> Admitted:
    """An admission as the driver has it: without the inputs themselves, which stay on the nodes."""
    nothing = Blob.of(b"")
    inputs = tuple(Input(one.name, nothing, None, one.origin, one.seconds) for one in taken.tests)
    timed = {one.name for one in taken.tests if one.timed}
    slimmer = replace(without(problem, frozenset(taken.removed)), statement=taken.statement)
    return Admitted(
        problem=slimmer,
        inputs=inputs,
        timed=tuple(sorted((one for one in inputs if one.name in timed), key=lambda one: -one.seconds)),
        original=Built(None),
        baseline=taken.baseline,
        dropped=taken.dropped,
        notes=taken.notes,
        peak_gflops=taken.peak_gflops,
    )
