"""Does an answer depend on memory that the program never wrote?  Compiled programs run once more on filled memory.

The kernel gives zeros, so a program that reads what it never wrote is often right by accident.  There are two looks:

``depends``    the artefact itself, of every candidate that is right: the stack and what malloc gives hold a random
               byte, and blocks lie elsewhere (``Job.fill``).
``Variants``   two builds of a winner: local variables begin as a pattern or as zeros in every call
               (``-ftrivial-auto-var-init``), static arrays have other neighbours, whose bytes differ.

An answer counts against a program only if it is right without that and wrong with it, so a checker's tolerance and a
program whose answers vary are no reason.  A run that ends for want of time or memory says nothing.

Not seen: pages from mmap, which are zero by contract; the stacks of threads and an own allocator's memory in the first
look; a read that no result depends on (the sanitizers see many of these).  A statically linked program has no library
to preload: there malloc alone is filled in the first look.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import final

import anyio

from maxcode.code.languages import language
from maxcode.core.phases import during
from maxcode.core.types import Problem, Program
from maxcode.evaluate.ladder.build import Builder, Built
from maxcode.evaluate.ladder.indistinguishable import session_of
from maxcode.evaluate.ladder.original_runs import original_run
from maxcode.evaluate.ladder.prepare import Input, identity
from maxcode.evaluate.ladder.sanitize import why_unbuilt
from maxcode.evaluate.ladder.verify import is_accepted, job_for
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Job, Ran, Sandbox, Session

DEPENDS = "its answer depends on memory it never wrote"
BYTES = (*range(0x41, 0x7F), *range(0xC1, 0xFF))  # as floating-point numbers none of them is small
_SHORT_S = 0.1  # of the original's CPU time: longer inputs are left out, if there are shorter ones
_MORE_MB = 64  # the filled stack, and what malloc leaves untouched otherwise
_NEIGHBOUR = 1 << 16  # bytes


@final
@dataclass(frozen=True, slots=True)
class _Answer:
    """Whether an output is accepted, and the output; None if the program failed."""

    right: bool
    output: bytes | None

    def contradicts(self, other: _Answer) -> bool:
        """Whether the two, of builds that mean the same, cannot both be what the program says."""
        failed = None in (self.output, other.output)
        return not (self.right and other.right) and (failed or self.output != other.output)


@final
@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of one artefact on filled memory, in one session."""

    sandbox: Sandbox
    problem: Problem
    session: Session
    artefact: Blob

    async def is_right(self, given: Input, byte: int) -> bool | None:
        """Whether the answer is accepted with memory that holds ``byte`` (0: as the kernel gives it); None if the run
        says nothing."""
        answer = await self.answer(given, byte)
        return None if answer is None else answer.right

    async def answer(self, given: Input, byte: int) -> _Answer | None:
        """The answer with memory that holds ``byte``; None if the run says nothing."""
        job = _roomy(job_for(self.problem, self.artefact, given), byte)
        with original_run(given.name):
            ran = await self.session.run(job)
        if ran.ending in ("timeout", "output") or ran.out_of_memory or _is_killed(ran):
            return None
        right = ran.ok and await is_accepted(self.sandbox, self.problem, given, ran.stdout)
        return _Answer(right, ran.stdout if ran.ok else None)


def _roomy(job: Job, byte: int) -> Job:
    return replace(job, fill=byte, memory_mb=2 * job.memory_mb + _MORE_MB, cpu_s=2 * job.cpu_s, wall_s=2 * job.wall_s)


def _is_killed(ran: Ran) -> bool:
    return ran.ending == "signal" and ran.code == 9


def chosen(inputs: Sequence[Input]) -> list[Input]:
    """Up to three inputs with an answer: the shortest, the longest that is short, and one between them."""
    known = sorted((one for one in inputs if one.expected is not None), key=lambda one: one.seconds)
    short = [one for one in known if one.seconds <= _SHORT_S] or known[:1]
    places = {0, len(short) // 2, len(short) - 1} if short else set()
    return [short[place] for place in sorted(places)]


@during("filled memory")
async def depends(sandbox: Sandbox, problem: Problem, artefact: Blob, inputs: Sequence[Input]) -> Input | None:
    """The first of these inputs on which the answer of ``artefact`` is right, and wrong on filled memory; None if there
    is none, or if programs in this language cannot read what they never wrote."""
    if not language(problem.language).by_gcc or not inputs:
        return None
    async with AsyncExitStack() as own:
        copy = own.enter_context(artefact.copy())
        given = [replace(one, stdin=own.enter_context(one.stdin.copy())) for one in inputs]
        session = await own.enter_async_context(session_of(sandbox, problem, [copy, *(one.stdin for one in given)]))
        runs = _Runs(sandbox, problem, session, copy)
        for one, known in zip(given, inputs, strict=True):
            first, second = random.SystemRandom().sample(BYTES, 2)
            if await runs.is_right(one, first) is not False:
                continue
            if await runs.is_right(one, 0) and await runs.is_right(one, second) is False:
                return known
    return None


def refusal(given: Input) -> str:
    """The reason for a refusal; a held-out input is not named."""
    return f"{DEPENDS} (on {given.name})" if given.seen else DEPENDS


# ------------------------------------------------------------------------------------------------------- the variants


@final
@dataclass(frozen=True, slots=True)
class Found:
    """``given``: the input whose answer depends on memory never written, None if none does; ``not_run``: why the
    variants could not be built, empty if they could."""

    given: Input | None = None
    not_run: str = ""


@final
@dataclass(frozen=True, slots=True)
class Variants:
    """Builds programs in two ways that only memory never written can tell apart, and compares their answers."""

    sandbox: Sandbox
    builder: Builder
    originals: dict[str, Found] = field(default_factory=dict)

    async def of_original(self, problem: Problem, inputs: Sequence[Input]) -> Found:
        """The result for the original; looked for once per problem."""
        key = identity(problem)
        if key not in self.originals:
            self.originals[key] = await self.of(problem, problem.program, inputs)
        return self.originals[key]

    async def of(self, problem: Problem, program: Program, inputs: Sequence[Input]) -> Found:
        """An input on which the two builds contradict one another."""
        if not language(problem.language).by_gcc or not inputs:
            return Found()
        first, second = random.SystemRandom().sample(BYTES, 2)
        ways = {first: ("-ftrivial-auto-var-init=pattern",), second: _OTHER_ORDER}
        built: dict[int, Built] = {}

        async def build(byte: int) -> None:
            async with build_lane():
                built[byte] = await self._build(problem, program, byte, ways[byte])

        async with anyio.create_task_group() as group:
            for byte in ways:
                group.start_soon(build, byte)
        if failed := next((one for one in built.values() if one.artefact is None), None):
            return Found(not_run=f"its use of memory it never wrote was not looked at: {why_unbuilt(failed)}")
        async with build_lane():
            answers = [await self._answers(problem, built[byte].artefact, inputs, byte) for byte in ways]
        pairs = zip(inputs, *answers, strict=True)
        return Found(next((one for one, a, b in pairs if a and b and a.contradicts(b)), None))

    async def _build(self, problem: Problem, program: Program, byte: int, flags: tuple[str, ...]) -> Built:
        spec = problem.spec
        suffix = language(problem.language).suffixes[0]
        files = {**program.files, f"maxcode_neighbours{suffix}": _neighbours(byte)}
        changed = replace(problem, spec=replace(spec, flags=(*spec.flags, *flags)))
        return await self.builder.build(changed, Program(files), final=True)

    async def _answers(
        self, problem: Problem, artefact: Blob | None, inputs: Sequence[Input], byte: int
    ) -> list[_Answer | None]:
        assert artefact is not None
        async with session_of(self.sandbox, problem, [artefact, *(one.stdin for one in inputs)]) as session:
            runs = _Runs(self.sandbox, problem, session, artefact)
            return [await runs.answer(one, byte) for one in inputs]


_OTHER_ORDER = ("-ftrivial-auto-var-init=zero", "-fno-toplevel-reorder")


def _neighbours(byte: int) -> str:
    """A source whose static arrays hold ``byte``.  It is linked behind the program's own, so they lie behind its."""
    parts = "".join(
        f'__asm__(".pushsection {name}\\n.fill {_NEIGHBOUR}, 1, {byte}\\n.popsection");\n'
        for name in (".data", ".rodata")
    )
    return (
        f"{parts}static volatile unsigned char behind[{_NEIGHBOUR}];\n"
        "__attribute__((constructor)) static void maxcode_fill_behind(void) {\n"
        f"    for (unsigned long i = 0; i < sizeof behind; i++) behind[i] = {byte};\n}}\n"
    )
