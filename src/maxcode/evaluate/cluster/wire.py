"""What travels between the driver of a run and its benchmark nodes: orders, answers, and a problem with its files.

    driver ── order (bytes) ──► node ── answer (bytes) ──► driver

Both are JSON of typed values, so no engine has to pickle anything of ours, and the two sides agree on this file alone.
An order that could not be carried out is an answer too: only the loss of the node itself is left to the engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, final

import msgspec

from maxcode.core.types import Case, Evaluation, Machine, Problem, Program, Remark, State, StateId
from maxcode.errors import InputError, MachineError, MaxcodeError, UnsafeError
from maxcode.evaluate.harness_protocol import MeasureOptions

FOLDER = "folder"  # of a parcel's files: those that commands of the problem name


class ProblemBundle(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that needs no file of the driver's machine: the paths in it name ``files``.  ``seed`` is that of the
    inputs which nobody is shown, one for all nodes of a run."""

    problem: Problem
    files: dict[str, bytes]
    seed: int

    @property
    def key(self) -> str:
        """What it is known by: SHA-256 over all of it, hexadecimal."""
        return hashlib.sha256(encode(self)).hexdigest()


@final
@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """A build on its way to the node that times it.

    ``sha256`` is over ``data``, and ``toolchain`` names compiler, flags and instruction sets of the builder: a node
    takes an artefact only where both are right and its own toolchain is the same, and builds anew where they are not.
    That catches accidents, not malice: whoever may build is trusted as much as whoever may time (TLS keeps out the
    rest), what is built is run in the sandbox like anything else, and a winner is confirmed with a build made on the
    node that times it.
    """

    data: bytes
    sha256: str
    toolchain: str
    diagnostics: str = ""
    remarks: tuple[Remark, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Challenger:
    """What a referee must know of a state."""

    at: StateId
    program: Program
    evaluation: Evaluation


# ------------------------------------------------------------------------------------------------------------- orders


class Task(msgspec.Struct, frozen=True, kw_only=True, tag_field="order", tag=str.lower):
    """What a node is asked to do.  ``shared``: also where others use its cores."""

    shared: bool = False


class Admit(Task, frozen=True):
    """Take up a problem: build, verify and profile its original.  ``timed`` names the inputs that are timed, as the
    first node chose them; empty: choose."""

    parcel: ProblemBundle
    timed: tuple[str, ...] = ()


class Build(Task, frozen=True):
    """Build a program and send it back; needs no admission, and no slot."""

    problem: Problem
    program: Program


class Evaluate(Task, frozen=True):
    """Evaluate a program of the problem ``key``."""

    key: str
    permitted: frozenset[str] | None
    program: Program
    incumbent: Program | None = None
    manner: MeasureOptions = MeasureOptions()
    artefact: BuiltProgram | None = None


class Settle(Task, frozen=True):
    """Decide who leads among programs of the problem ``key``."""

    key: str
    permitted: frozenset[str] | None
    challengers: tuple[Challenger, ...]
    incumbent: Challenger | None = None


# ------------------------------------------------------------------------------------------------------------ answers


class TaskResult(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag=str.lower):
    """What came of an order."""


class MeasuredResult(TaskResult, frozen=True):
    """An answer that took the bench: the seconds it took to build and verify, to time, and to wait for the lanes of
    the node."""

    build_s: float = 0.0
    time_s: float = 0.0
    wait_s: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Test:
    """A test of an admitted problem, without its content; ``seconds`` of CPU are the original's."""

    name: str
    origin: str
    seconds: float
    timed: bool


class AdmitResult(MeasuredResult, frozen=True, kw_only=True):
    """A problem was admitted.  ``machine`` is the node's."""

    machine: Machine
    tests: tuple[Test, ...]
    removed: tuple[str, ...]
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    statement: str
    baseline: Evaluation
    peak_gflops: float = 0.0


class BuildResult(TaskResult, frozen=True):
    """A program was built, or not (``unbuilt``); ``seconds`` it took."""

    seconds: float
    artefact: BuiltProgram | None = None
    unbuilt: Evaluation | None = None


class EvaluateResult(MeasuredResult, frozen=True, kw_only=True):
    """An evaluation."""

    evaluation: Evaluation


class SettleResult(MeasuredResult, frozen=True, kw_only=True):
    """The evaluations that a referee made anew."""

    evaluations: tuple[tuple[StateId, Evaluation], ...]


class UnknownProblem(TaskResult, frozen=True):
    """The node has not admitted this problem (it was started anew)."""


class TaskRefused(TaskResult, frozen=True):
    """The node does not measure now; with ``retires`` it will not do so again."""

    why: str
    retires: bool = False


class TaskFailed(TaskResult, frozen=True):
    """The order failed with an error of maxcode: bad input, an unsafe machine, or a broken one."""

    kind: Literal["input", "unsafe", "machine"]
    message: str

    def error(self, where: str) -> MaxcodeError:
        """It as what a local evaluator would have raised; ``where`` is the node."""
        if self.kind == "input":
            return InputError(self.message)
        kinds: dict[str, type[MaxcodeError]] = {"unsafe": UnsafeError, "machine": MachineError}
        return kinds[self.kind](f"node {where}: {self.message}")


AnyOrder = Admit | Build | Evaluate | Settle
AnyAnswer = AdmitResult | BuildResult | EvaluateResult | SettleResult | UnknownProblem | TaskRefused | TaskFailed

_encode = msgspec.json.Encoder().encode
_order = msgspec.json.Decoder(AnyOrder)
_answer = msgspec.json.Decoder(AnyAnswer)


def encode(value: msgspec.Struct) -> bytes:
    """An order or an answer as bytes."""
    return _encode(value)


def read_order(raw: bytes) -> AnyOrder:
    """The order in these bytes; MachineError where they hold none (another version of maxcode sent them)."""
    try:
        found: AnyOrder = _order.decode(raw)
        return found
    except msgspec.MsgspecError as error:
        raise MachineError(f"an order cannot be read: {error}; {_SAME}") from error


def read_answer(raw: bytes) -> AnyAnswer:
    """The answer in these bytes; MachineError likewise."""
    try:
        found: AnyAnswer = _answer.decode(raw)
        return found
    except msgspec.MsgspecError as error:
        raise MachineError(f"a node's answer cannot be read: {error}; {_SAME}") from error


_SAME = "the driver and its nodes must have the same version of maxcode"


# ------------------------------------------------------------------------------------------------------------ parcels


def pack(problem: Problem, seed: int) -> ProblemBundle:
    """A problem with the files it names; InputError where one cannot be read."""
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


def unpack(parcel: ProblemBundle, folder: Path) -> Problem:
    """The problem, its files written below ``folder``, which is private to the node.  InputError for a path that
    leaves it."""
    for name, data in parcel.files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"a file of the problem is called {name}, which is no path below its folder")
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

    spec = parcel.problem.spec
    root = str(folder / FOLDER) if spec.folder else ""
    return replace(
        parcel.problem, spec=replace(spec, seen=placed(spec.seen), held_out=placed(spec.held_out), folder=root)
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the test file {path}: {error.strerror}") from error


def challenger(state: State) -> Challenger:
    """What a referee must know of a state that was evaluated."""
    assert state.step is not None
    return Challenger(state.id, state.program, state.step.evaluation)
