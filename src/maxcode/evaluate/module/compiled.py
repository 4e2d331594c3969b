"""A CUDA candidate on a machine without a GPU: compiled if nvcc is installed, never run, never correct.

A build sandbox loads the candidate's file, and ``inside/compiling.py`` compiles what it asks for.  A candidate that
does not compile is UNBUILT with the compiler's output, as anywhere else.  Every other candidate is UNVERIFIED: no
kernel ran, so its outputs and its speed are unknown, and no speed-up is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import final

import msgspec

from maxcode.core.types import Action, Evaluation, Feedback, Outcome, Problem
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.ladder.prepare import Admitted, unadmitted
from maxcode.evaluate.ladder.reject import reject
from maxcode.evaluate.module.contract import UNKNOWN, ModuleArgument
from maxcode.evaluate.module.gpu import CURE, NO_GPU, arch_of, find_toolkit
from maxcode.evaluate.module.module_constants import replaced
from maxcode.evaluate.module.resources import resources
from maxcode.evaluate.module.sides import CANDIDATE, OUT, REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.rounds.round import last_words
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Ran, Sandbox

_ABSENT = (
    "c10/cuda/",
    "ATen/cuda/",
    "cublas",
    "cusparse",
    "cusolver",
    "cufft",
    "curand",
    "cudnn",
    "nccl",
    "cccl",
    "cub/",
)
_NO_HEADER = "No such file or directory"
_WORDS = 16_000


@final
class _Unit(msgspec.Struct, frozen=True):
    """One compiled unit; ``kind``: nvcc, g++ or triton."""

    kind: str
    words: str
    good: bool


@final
class _Said(msgspec.Struct, frozen=True):
    """Output of the driver's role ``compile``; ``ended``: why the file or its class stopped, or empty."""

    units: list[_Unit]
    ended: str


@final
class _Shapes(msgspec.Struct, frozen=True):
    init: list[ModuleArgument]
    inputs: list[ModuleArgument]


async def compiled_only(sandbox: Sandbox, problem: Problem, action: Action, why: str) -> tuple[Admitted, Evaluation]:
    """The candidate as far as nvcc or Triton can judge it; ``why``: why there is no GPU.

    InputError if nothing here compiles CUDA, MachineError if something that torch's headers need is missing.
    """
    toolkit = find_toolkit()
    if toolkit is None:
        raise InputError(
            f"{why}, and there is no nvcc to compile a CUDA candidate; install the CUDA toolkit, or {CURE}"
        )
    note = f"{why}: a candidate is compiled here but not run, so its outputs and its speed are unknown"
    admitted = unadmitted(problem, (note,))
    if (refused := reject(problem, action)) is not None:
        return admitted, refused
    assert action.program is not None
    runtime = find_runtime()
    runtime = replace(runtime, binds=(*runtime.binds, *toolkit.binds))
    arch = arch_of(None)
    stage = SideStarter(sandbox, runtime, problem, 1, 0, environment=toolkit.environment(arch))
    async with build_lane():
        stage = await _with_shapes(stage)
        ran = await _compile(stage, ModuleSide(action.program.text, CANDIDATE))
    return admitted, judged(ran, action.program.text, arch)


async def _with_shapes(stage: SideStarter) -> SideStarter:
    """The stage with the reference's arguments, found without storage: its shapes may need too much memory here."""
    constants = dict(stage.problem.spec.module_spec.constants)
    ran = await stage.once("shapes", ModuleSide(replaced(stage.problem.program.text, constants), REFERENCE))
    try:
        found = msgspec.json.decode(ran.stdout.rstrip().rpartition(b"\n")[2], type=_Shapes)
    except msgspec.MsgspecError as error:
        raise InputError(f"the reference {stage.problem.program.name} does not run: {last_words(ran)}") from error
    known = msgspec.structs.replace(UNKNOWN, init=found.init, inputs=found.inputs)
    return replace(stage, contract=known)


async def _compile(stage: SideStarter, side: ModuleSide) -> Ran:
    job = stage.job("compile", collect=(OUT,), compiler=True)
    async with stage.sandbox.session([], stage.mounts(side)) as session:
        return await session.run(job)


def judged(ran: Ran, text: str, arch: str) -> Evaluation:
    """The evaluation of the candidate ``text`` from a run of the role ``compile``; see the head of this file."""
    if not ran.ok or OUT not in ran.files:
        return _unbuilt(f"it does not compile: {last_words(ran)}", ran.stderr.decode(errors="replace"))
    try:
        said = msgspec.json.decode(ran.files[OUT], type=_Said)
    except (msgspec.MsgspecError, RecursionError):
        return _unbuilt("it spoiled its own build", ran.stderr.decode(errors="replace"))
    words = "\n".join(unit.words for unit in said.units)
    remarks = resources(words, text)
    failed = [unit for unit in said.units if not unit.good]
    if failed:
        return replace(_failed(failed), remarks=remarks)
    if said.ended and not said.units and not said.ended.startswith(NO_GPU):
        return _loading_failed(said.ended)
    return Evaluation(Outcome.UNVERIFIED, Feedback(_reasons(said, arch)), remarks=remarks)


def _failed(failed: Sequence[_Unit]) -> Evaluation:
    words = "\n".join(unit.words for unit in failed)
    first = next((line for line in words.splitlines() if "error" in line), "the compiler failed without a message")
    if _NO_HEADER in words and any(header in words for header in _ABSENT):
        raise MachineError(
            f"it cannot be compiled here: {first.strip()[:300]}; that header comes with the CUDA toolkit or with torch "
            "for CUDA: install both completely"
        )
    return _unbuilt(f"{failed[0].kind}: {first.strip()[:300]}", words)


def _loading_failed(ended: str) -> Evaluation:
    last = ended.strip().splitlines()[-1]
    if "No module named 'triton'" in last:
        raise InputError(
            f"the candidate needs Triton, which is not installed with torch here: pip install triton, or {CURE}"
        )
    return _unbuilt(f"it cannot be loaded: {last[:300]}", ended)


def _unbuilt(why: str, words: str) -> Evaluation:
    return Evaluation(Outcome.UNBUILT, Feedback((why,), words[-_WORDS:]))


def _reasons(said: _Said, arch: str) -> tuple[str, ...]:
    """What was done and what was not."""
    kinds: dict[str, int] = {}
    for unit in said.units:
        kinds[unit.kind] = kinds.get(unit.kind, 0) + 1
    counted = ", ".join(f"{count} by {kind}" for kind, count in kinds.items())
    done = f"compiled for {arch} ({counted})" if kinds else "not compiled: it holds nothing that compiles without a GPU"
    reasons = [f"{done}, not verified: there is no GPU here, so it was neither run nor compared nor timed"]
    if said.ended:
        reasons.append(f"the rest of the file was not looked at: {said.ended.strip().splitlines()[-1][:300]}")
    return tuple(reasons)
