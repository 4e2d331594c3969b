"""A build with AddressSanitizer and UndefinedBehaviorSanitizer, run in the sandbox: what tests cannot see.

A program that reads past an array may give every right answer by accident.  The original is run the same way, because
what it does itself is no step back.  No defence against a program that hides from it (it may close its error output,
or switch the checks off by attributes): it finds mistakes.  What could not be run is said, never counted as passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from maxcode.code.languages import language
from maxcode.core.types import Problem, Program
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.verify import is_accepted, job_for
from maxcode.sandbox.jobs import STDERR_KEPT
from maxcode.sandbox.sandbox import Blob, Job, Ran, Sandbox

SLOWDOWN, GRACE_S = 30.0, 5.0  # -O1 with checks against -O3 without: 2 to 10 times, and the start of the runtime
MEMORY_TIMES, MEMORY_MORE_MB = 3, 512  # red zones, and what was freed and is kept back
DEFECTS_KEPT = 50
_STATUS = 99
_OPTIONS = f"detect_leaks=0:exitcode={_STATUS}:allocator_may_return_null=1:external_symbolizer_path=:color=never"
_REMOVED = re.compile(r"-O.*|-g[0-3]?|-s|-static|-fopenmp-simd")
_ADDRESS = re.compile(r"^==\d+==ERROR: AddressSanitizer:? (\S+)", re.MULTILINE)
_ACCESS = re.compile(r"^(?:READ|WRITE) of size \d+", re.MULTILINE)
_FRAME = re.compile(r"^ +#\d+ .* /src/([^:\n]+):([0-9]{1,9})", re.MULTILINE)
_UNDEFINED = re.compile(r"^/src/([^:\n]+):([0-9]{1,9}):[0-9]+: runtime error: (.*)$", re.MULTILINE)
_VALUES = re.compile(r"\b(?:of|for) type.*|\b(?:for \d+-bit|in) type.*|'[^']*'|0x[0-9a-f]+|-?\b\d[\d.e+-]*")
_SHOWN = 200


@final
@dataclass(frozen=True, slots=True)
class Defect:
    """What a sanitizer found: its class, the file and line (0 = unknown), on which input, in its own words.

    ``in_original``: the original has a finding of this class too, wherever.
    """

    kind: str
    file: str
    line: int
    input: str
    words: str
    in_original: bool = False

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else "at an unknown line"
        return f"{self.kind}, {place} (on {self.input}): {self.words}"


@final
@dataclass(frozen=True, slots=True)
class Sanitized:
    """``checks``: the sanitizers that ran; ``inputs``: on which inputs, to the end or to a finding; ``not_run``: what
    was not looked at, and why.  No defect in something that was not run means nothing."""

    checks: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    defects: tuple[Defect, ...] = ()
    not_run: tuple[str, ...] = ()


async def sanitized(
    sandbox: Sandbox, builder: Builder, problem: Problem, program: Program, inputs: Sequence[Input]
) -> Sanitized:
    """Both sanitizers on ``program``, the original beside it, on ``inputs``; only what needs no shadow memory where
    the sandbox has no control group.  Never raises for a bad program."""
    bench = bench_for(sandbox, builder, problem, inputs)
    return bench if isinstance(bench, Sanitized) else await compared(bench, program, await bench.look(problem.program))


def bench_for(sandbox: Sandbox, builder: Builder, problem: Problem, inputs: Sequence[Input]) -> Sanitizers | Sanitized:
    """Where ``inputs`` can be run with sanitizers; what was not run, and why, where they cannot."""
    tongue = language(problem.language)
    if "{out}" not in tongue.build:
        return Sanitized(not_run=(f"sanitizers: programs in {tongue.name} are not compiled",))
    if not inputs:
        return Sanitized(not_run=("sanitizers: no test may be seen and none is generated",))
    checks = ("undefined",) if sandbox.hierarchy is None else ("address", "undefined")
    return Sanitizers(sandbox, builder, problem, checks, tuple(inputs))


async def compared(bench: Sanitizers, program: Program, original: Sanitized) -> Sanitized:
    """What is found in ``program`` beside what was found in the original on the same bench."""
    missing = () if "address" in bench.checks else (_NO_SHADOW,)
    if not original.inputs:
        why = "; ".join(original.not_run)
        words = f"{', '.join(bench.checks)}: the original does not run with them here: {why}"
        return Sanitized(not_run=(*missing, words))
    found = await bench.look(program)
    kinds = {defect.kind for defect in original.defects}
    defects = tuple(replace(one, in_original=one.kind in kinds) for one in found.defects)
    return replace(found, defects=defects, not_run=(*missing, *found.not_run))


_NO_SHADOW = "address: its shadow memory needs a sandbox with a control group"


@final
@dataclass(frozen=True, slots=True)
class Sanitizers:
    """Where programs are built and run with sanitizers."""

    sandbox: Sandbox
    builder: Builder
    problem: Problem
    checks: tuple[str, ...]
    inputs: tuple[Input, ...]

    async def look(self, program: Program) -> Sanitized:
        """What is found in ``program``, each kind once a line."""
        found = await self._all(program)
        return replace(found, defects=tuple(_once(found.defects))[:DEFECTS_KEPT])

    async def clean(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The names of the inputs on which the original ends well and nothing is found; and what was not run."""
        found = await self._all(self.problem.program)
        return frozenset(found.inputs) - {defect.input for defect in found.defects}, found.not_run

    async def _all(self, program: Program) -> Sanitized:
        built = await self.builder.build(self._checked(), self._with_options(program), final=True)
        if built.artefact is None:
            return Sanitized(not_run=(f"{', '.join(self.checks)}: no build: {built.reason}",))
        ended, not_run, defects = [], [], list[Defect]()
        async with self.sandbox.session([built.artefact, *(given.stdin for given in self.inputs)]) as session:
            for given in self.inputs:
                ran = await session.run(self._job(built.artefact, given))
                found = list(_defects(ran, given))
                defects += found
                if trouble := _trouble(ran, found):
                    not_run.append(f"{given.name}: {trouble}")
                else:
                    ended.append(given.name)
                    defects += await self._other_answer(given, ran)
        return Sanitized(self.checks if ended else (), tuple(ended), tuple(defects), tuple(not_run))

    def _checked(self) -> Problem:
        """The problem with the flags of a sanitizer's build."""
        spec = self.problem.spec
        kept = tuple(flag for flag in spec.flags if not _REMOVED.fullmatch(flag))
        flags = (*kept, "-O1", "-g", "-fno-omit-frame-pointer", f"-fsanitize={','.join(self.checks)}")
        return replace(self.problem, spec=replace(spec, flags=flags))

    def _with_options(self, program: Program) -> Program:
        """Options are compiled in: the sandbox gives every run the same environment."""
        suffix = language(self.problem.language).suffixes[0]
        linkage = "" if suffix == ".c" else 'extern "C" '
        text = "".join(
            f"{linkage}const char *__{one}_default_options(void);\n"
            f'{linkage}const char *__{one}_default_options(void) {{ return "{_OPTIONS}"; }}\n'
            for one in ("asan", "ubsan")
        )
        return Program({**program.files, f"maxcode_sanitizer_options{suffix}": text})

    def _job(self, artefact: Blob, given: Input) -> Job:
        job = job_for(self.problem, artefact, given)
        cpu_s = SLOWDOWN * given.seconds + GRACE_S
        memory_mb = MEMORY_TIMES * job.memory_mb + MEMORY_MORE_MB
        shadow = "address" in self.checks
        return replace(job, cpu_s=cpu_s, wall_s=3 * cpu_s + 2, memory_mb=memory_mb, shadow=shadow)

    async def _other_answer(self, given: Input, ran: Ran) -> list[Defect]:
        if not ran.ok or given.expected is None or await is_accepted(self.sandbox, self.problem, given, ran.stdout):
            return []
        return [
            Defect("other answer", "", 0, given.name, "built with the checks it gives an answer that is not accepted")
        ]


def _trouble(ran: Ran, found: Sequence[Defect]) -> str:
    """Why a run says nothing, or not all; empty where it ended well or with a finding."""
    if len(ran.stderr) >= STDERR_KEPT:
        return "it wrote so much to its error output that a finding may be missing"
    if ran.ok or (found and ran.ending == "exit" and ran.code == _STATUS):
        return ""
    lines = ran.stderr.decode(errors="replace").strip().splitlines()
    return f"ended by {ran.ending} {ran.code}{f': {lines[-1][:_SHOWN]}' if lines else ''}"


def _defects(ran: Ran, given: Input) -> Iterator[Defect]:
    said = "".join(one if one.isprintable() or one == "\n" else "?" for one in ran.stderr.decode(errors="replace"))
    for match in _UNDEFINED.finditer(said):
        words = match[3].strip()
        yield Defect(_kind(words), match[1], int(match[2]), given.name, words[:_SHOWN])
    if (error := _ADDRESS.search(said)) is not None and ran.code == _STATUS:
        frame = _FRAME.search(said, error.end())
        where = (frame[1], int(frame[2])) if frame is not None else ("", 0)
        words = said[error.start(1) :].partition("\n")[0]
        access = _ACCESS.search(said, error.end())
        yield Defect(error[1], *where, given.name, access[0].lower() if access else _without_addresses(words))


def _kind(words: str) -> str:
    """The class of a runtime error: its words up to the values, which differ from run to run."""
    return " ".join(_VALUES.sub("", words.partition(":")[0]).replace(" ,", ",").split()) or "undefined behaviour"


def _without_addresses(words: str) -> str:
    return words.partition(" on address")[0].partition(" (pc")[0][:_SHOWN]


def _once(defects: Iterable[Defect]) -> Iterable[Defect]:
    """The first of each kind and place."""
    found: dict[tuple[str, str, int], Defect] = {}
    for one in defects:
        found.setdefault((one.kind, one.file, one.line), one)
    return found.values()
