"""What the driver of a run and its nodes exchange: tasks, results, and problem bundles.

    driver ── task (bytes) ──► node ── result (bytes) ──► driver

Tasks and results are JSON of typed values, so an engine pickles no object of maxcode, and both sides depend on this
file only.  A failed task has a result too; only the loss of a node is reported by the engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, final

import msgspec

from maxcode.core.files import TEST, read_file
from maxcode.core.types import (
    Case,
    Evaluation,
    Facts,
    Machine,
    MachineCode,
    Problem,
    Program,
    Remark,
    State,
    StateId,
)
from maxcode.errors import InputError, MachineError, MaxcodeError, UnsafeError
from maxcode.evaluate.harness_protocol import MeasureOptions

FOLDER = "folder"  # folder in a bundle for the files that commands of the problem name


class ProblemBundle(msgspec.Struct, frozen=True, kw_only=True):
    """A problem with its files, independent of the driver's machine.

    ``problem``: the problem; its paths name entries of ``files``.
    ``files``: content by path.
    ``seed``: seed of the fresh inputs, the same for all nodes of a run.
    """

    problem: Problem
    files: dict[str, bytes]
    seed: int

    @property
    def key(self) -> str:
        """The bundle's identifier: SHA-256 over the whole bundle, hexadecimal."""
        return hashlib.sha256(encode(self)).hexdigest()


@final
@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """A build for the node that times it.

    ``sha256``: over ``data``.
    ``toolchain``: identifies the builder's compiler, flags and instruction sets.

    A node uses the artefact only if the hash is right and its own toolchain is the same; otherwise it builds the
    program itself.  This catches accidents, not malice: a builder is trusted as much as a node that times (TLS keeps
    others out), every build runs in the sandbox, and a winner is confirmed with a build made on the node that times it.
    """

    data: bytes
    sha256: str
    toolchain: str
    diagnostics: str = ""
    remarks: tuple[Remark, ...] = ()
    machine_code: MachineCode | None = None


@final
@dataclass(frozen=True, slots=True)
class Challenger:
    """What a referee needs to know of a state."""

    at: StateId
    program: Program
    evaluation: Evaluation


# ------------------------------------------------------------------------------------------------------------- tasks


class Task(msgspec.Struct, frozen=True, kw_only=True, tag_field="task", tag=str.lower):
    """A request to a node.  ``shared``: measure although others use its cores."""

    shared: bool = False


class Admit(Task, frozen=True):
    """Admit a problem: build, verify and profile its original.

    ``timed``: names of the inputs to time, as the first node chose them; empty: choose them.
    """

    bundle: ProblemBundle
    timed: tuple[str, ...] = ()


class Build(Task, frozen=True):
    """Build a program and return the build.  Needs no admission and no slot."""

    problem: Problem
    program: Program


class Evaluate(Task, frozen=True):
    """Evaluate a program of the problem ``key``."""

    key: str
    permitted: frozenset[str] | None
    program: Program
    incumbent: Program | None = None
    options: MeasureOptions = MeasureOptions()
    artefact: BuiltProgram | None = None


class Settle(Task, frozen=True):
    """Decide which challenger of the problem ``key`` becomes the incumbent."""

    key: str
    permitted: frozenset[str] | None
    challengers: tuple[Challenger, ...]
    incumbent: Challenger | None = None


# ------------------------------------------------------------------------------------------------------------ results


class TaskResult(msgspec.Struct, frozen=True, kw_only=True, tag_field="result", tag=str.lower):
    """The result of a task."""


class MeasuredResult(TaskResult, frozen=True):
    """A result that took the slot.  Seconds: ``build_s`` to build and verify, ``time_s`` to time, ``wait_s`` waiting
    for the timing lanes of the node."""

    build_s: float = 0.0
    time_s: float = 0.0
    wait_s: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Test:
    """A test of an admitted problem, without its content.  ``seconds``: CPU seconds of the original."""

    name: str
    origin: str
    seconds: float
    timed: bool


class AdmitResult(MeasuredResult, frozen=True, kw_only=True):
    """A problem was admitted.  ``machine``: the machine of the node."""

    machine: Machine
    tests: tuple[Test, ...]
    removed: tuple[str, ...]
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    statement: str
    baseline: Evaluation
    peak_gflops: float = 0.0
    facts: Facts = Facts()


class BuildResult(TaskResult, frozen=True):
    """A program was built, or not (``unbuilt``).  ``seconds``: duration of the build."""

    seconds: float
    artefact: BuiltProgram | None = None
    unbuilt: Evaluation | None = None


class EvaluateResult(MeasuredResult, frozen=True, kw_only=True):
    """A candidate was evaluated."""

    evaluation: Evaluation


class SettleResult(MeasuredResult, frozen=True, kw_only=True):
    """The evaluations that a referee made."""

    evaluations: tuple[tuple[StateId, Evaluation], ...]


class UnknownProblem(TaskResult, frozen=True):
    """The node has not admitted this problem, for example because it was restarted."""


class TaskRefused(TaskResult, frozen=True):
    """The node does not measure now.  With ``retires`` it never measures again."""

    why: str
    retires: bool = False


class TaskFailed(TaskResult, frozen=True):
    """The task failed with an error of maxcode: bad input, an unsafe machine, or a broken machine."""

    kind: Literal["input", "unsafe", "machine"]
    message: str

    def error(self, where: str) -> MaxcodeError:
        """The error that a local evaluator would have raised; ``where`` is the node."""
        if self.kind == "input":
            return InputError(self.message)
        kinds: dict[str, type[MaxcodeError]] = {"unsafe": UnsafeError, "machine": MachineError}
        return kinds[self.kind](f"node {where}: {self.message}")


AnyTask = Admit | Build | Evaluate | Settle
AnyResult = AdmitResult | BuildResult | EvaluateResult | SettleResult | UnknownProblem | TaskRefused | TaskFailed

_encode = msgspec.json.Encoder().encode
_task_decoder = msgspec.json.Decoder(AnyTask)
_result_decoder = msgspec.json.Decoder(AnyResult)


def encode(value: msgspec.Struct) -> bytes:
    """A task or a result as bytes."""
    return _encode(value)


def read_task(raw: bytes) -> AnyTask:
    """The task in these bytes.  MachineError if they hold none (another version of maxcode sent them)."""
    try:
        task: AnyTask = _task_decoder.decode(raw)
        return task
    except msgspec.MsgspecError as error:
        raise MachineError(f"a task cannot be read: {error}; {_SAME}") from error


def read_result(raw: bytes) -> AnyResult:
    """The result in these bytes.  MachineError if they hold none."""
    try:
        result: AnyResult = _result_decoder.decode(raw)
        return result
    except msgspec.MsgspecError as error:
        raise MachineError(f"the result of a node cannot be read: {error}; {_SAME}") from error


_SAME = "the driver and its nodes must have the same version of maxcode"


# ------------------------------------------------------------------------------------------------------------ bundles


def pack(problem: Problem, seed: int) -> ProblemBundle:
    """A problem with the files that it names.  InputError if a file cannot be read."""
    files: dict[str, bytes] = {}

    def packed(cases: Sequence[Case], kind: str) -> tuple[Case, ...]:
        found = []
        for number, case in enumerate(cases):
            given, wanted = f"{kind}/{number}.in", f"{kind}/{number}.out"
            files[given] = _read(Path(case.stdin))
            if case.expected is not None:
                files[wanted] = _read(Path(case.expected))
            found.append(replace(case, stdin=given, expected=None if case.expected is None else wanted))
        return tuple(found)

    spec = problem.spec
    seen, held_out = packed(spec.seen, "seen"), packed(spec.held_out, "held_out")
    for word in (*spec.generator, *spec.checker.command):
        if spec.folder and (path := Path(spec.folder, word)).is_file() and not Path(word).is_absolute():
            files[f"{FOLDER}/{word}"] = _read(path)
    spec = replace(spec, seen=seen, held_out=held_out, folder=FOLDER if spec.folder else "")
    return ProblemBundle(problem=replace(problem, spec=spec, permitted=None), files=files, seed=seed)


def unpack(bundle: ProblemBundle, folder: Path) -> Problem:
    """The problem, with its files written below ``folder``, which is private to the node.

    InputError for a path outside ``folder``.
    """
    for name, data in bundle.files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"a file of the problem is called {name}, which is not a path below its folder")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(data)

    def placed(cases: Sequence[Case]) -> tuple[Case, ...]:
        return tuple(
            replace(
                case,
                stdin=str(folder / case.stdin),
                expected=None if case.expected is None else str(folder / case.expected),
            )
            for case in cases
        )

    spec = bundle.problem.spec
    root = str(folder / FOLDER) if spec.folder else ""
    return replace(
        bundle.problem, spec=replace(spec, seen=placed(spec.seen), held_out=placed(spec.held_out), folder=root)
    )


def _read(path: Path) -> bytes:
    return read_file(path, TEST)


def challenger(state: State) -> Challenger:
    """What a referee needs to know of an evaluated state."""
    assert state.step is not None
    return Challenger(state.id, state.program, state.step.evaluation)
