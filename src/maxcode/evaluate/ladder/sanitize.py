"""Runs a build with AddressSanitizer and UndefinedBehaviorSanitizer in the sandbox; finds errors that tests miss.

A program that reads past an array may give every right output by accident.  The original runs the same way, because its
own errors do not count against a candidate.  This finds mistakes; it is no defence against a program that hides from it
(it may close its error output, or switch the checks off by attributes).  Checks that could not run are reported, never
counted as passed.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from maxcode.code.languages import language
from maxcode.core.phases import in_stage
from maxcode.core.types import Problem, Program
from maxcode.evaluate.ladder.build import Builder, Built
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.verify import is_accepted, job_for
from maxcode.sandbox.jobs import STDERR_KEPT
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox

SLOWDOWN, GRACE_S = 30.0, 5.0  # -O1 with checks is 2 to 10 times slower than -O3; the runtime needs time to start
MEMORY_TIMES, MEMORY_MORE_MB = 3, 512  # for red zones and quarantined memory
DEFECTS_KEPT = 50
FINDING = "a sanitizer found"  # the beginning of every sentence about a defect
PERMITTED = "no error on this processor"  # the beginning of every sentence about alignment, where that is so
OVERFLOW = "signed integer overflow"  # a class of findings
Place = tuple[str, str, int]  # a class of findings, file and line
_STATUS = 99
_OPTIONS = f"detect_leaks=0:exitcode={_STATUS}:allocator_may_return_null=1:external_symbolizer_path=:color=never"
_REMOVED = re.compile(r"-O.*|-g[0-3]?|-s|-static|-fopenmp-simd")
_ADDRESS = re.compile(r"^==\d+==ERROR: AddressSanitizer:? (\S+)", re.MULTILINE)
_ACCESS = re.compile(r"^(?:READ|WRITE) of size \d+", re.MULTILINE)
_FRAME = re.compile(r"^ +#\d+ .* /src/([^:\n]{1,1000}):([0-9]{1,9})", re.MULTILINE)
_UNDEFINED = re.compile(r"^/src/([^:\n]+):([0-9]{1,9}):[0-9]+: runtime error: (.*)$", re.MULTILINE)
_VALUES = re.compile(r"\b(?:of|for) type.*|\b(?:for \d+-bit|in) type.*|'[^']*'|0x[0-9a-f]+|-?\b\d[\d.e+-]*")
_SHOWN = 200


@final
@dataclass(frozen=True, slots=True)
class Defect:
    """A finding of a sanitizer: its class, file and line (0: unknown), the input, and the sanitizer's message.

    ``in_original``: the original has a finding of this class too, at any place.
    """

    kind: str
    file: str
    line: int
    input: str
    words: str
    in_original: bool = False

    @property
    def is_permitted(self) -> bool:
        """True if the processor permits it: words at any address on x86-64, where fast readers count on that."""
        return "misaligned address" in self.kind and platform.machine() == "x86_64"

    @property
    def place(self) -> Place:
        """Its class and where it is."""
        return self.kind, self.file, self.line

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else "at an unknown line"
        return f"{self.kind}, {place} (on {self.input}): {self.words}"


@final
@dataclass(frozen=True, slots=True)
class Sanitized:
    """The result of the sanitizers.  No defect in something that was not run means nothing.

    ``checks``: the sanitizers that ran.
    ``inputs``: the inputs on which the program ran to its end or to a finding.
    ``not_run``: what was not checked, and why.
    """

    checks: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    defects: tuple[Defect, ...] = ()
    not_run: tuple[str, ...] = ()

    @property
    def is_unbuilt(self) -> bool:
        """Whether the program cannot be built with the sanitizers."""
        return any(NO_BUILD in why for why in self.not_run)


async def sanitized(
    sandbox: Sandbox, builder: Builder, problem: Problem, program: Program, inputs: Sequence[Input]
) -> Sanitized:
    """Both sanitizers on ``program`` and on the original, on ``inputs``.  Never raises for a bad program.

    Without a control group in the sandbox, only the check that needs no shadow memory runs.
    """
    bench = bench_for(sandbox, builder, problem, inputs)
    if isinstance(bench, Sanitized):
        return bench
    return compared(bench, await bench.look(program), await bench.look(problem.program))


def bench_for(sandbox: Sandbox, builder: Builder, problem: Problem, inputs: Sequence[Input]) -> Sanitizers | Sanitized:
    """The sanitizers for ``inputs``; if they cannot run, what was not run and why."""
    tongue = language(problem.language)
    if not tongue.by_gcc:
        return Sanitized(not_run=(f"sanitizers: they are for C and C++, and the program is in {tongue.name}",))
    if not inputs:
        return Sanitized(not_run=("sanitizers: the policy may see no test, and no test is generated",))
    checks = ("undefined",) if sandbox.hierarchy is None else ("address", "undefined")
    return Sanitizers(sandbox, builder, problem, checks, tuple(inputs))


def clean_in(found: Sanitized, harmless: frozenset[Place] = frozenset()) -> frozenset[str]:
    """The inputs on which a program ended without a finding but at ``harmless`` places."""
    return frozenset(found.inputs) - {one.input for one in found.defects if one.place not in harmless}


def compared(bench: Sanitizers, found: Sanitized, original: Sanitized) -> Sanitized:
    """What was found in a program, marked with whether the original has it too."""
    missing = () if "address" in bench.checks else (_NO_SHADOW,)
    if not original.inputs:
        why = "; ".join(original.not_run)
        words = f"{', '.join(bench.checks)}: the original does not run with them here: {why}"
        return Sanitized(not_run=(*missing, words))
    kinds = {defect.kind for defect in original.defects}
    defects = tuple(replace(one, in_original=one.kind in kinds) for one in found.defects)
    return replace(found, defects=defects, not_run=(*missing, *found.not_run))


NO_BUILD = "no build: "
_NO_SHADOW = "address: its shadow memory needs a sandbox with a control group"


def why_unbuilt(built: Built) -> str:
    """Why there is no build; it begins with ``NO_BUILD`` where another try fails too."""
    return f"{NO_BUILD if built.is_lasting else 'its build was stopped: '}{built.reason}"


@final
@dataclass(frozen=True, slots=True)
class Sanitizers:
    """Builds and runs programs with sanitizers."""

    sandbox: Sandbox
    builder: Builder
    problem: Problem
    checks: tuple[str, ...]
    inputs: tuple[Input, ...]

    async def look(self, program: Program) -> Sanitized:
        """The findings in ``program``, each kind once per line."""
        found = await self._all(program)
        return replace(found, defects=tuple(_once(found.defects))[:DEFECTS_KEPT])

    async def clean(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The inputs on which the original ends well without a finding; and what was not run."""
        found = await self.of_original()
        return clean_in(found), found.not_run

    @in_stage("sanitizers")
    async def of_original(self) -> Sanitized:
        """All findings in the original, also the same one on several inputs."""
        return await self._all(self.problem.program)

    async def overflows(self) -> frozenset[Place]:
        """Where whole numbers of the original overflow though this build, which wraps them, gives the same answers;
        nowhere if it finds anything else on these inputs."""
        found = await self.of_original()
        is_all = not found.not_run and all(one.kind == OVERFLOW and one.line for one in found.defects)
        return frozenset(one.place for one in found.defects) if is_all else frozenset()

    async def _all(self, program: Program) -> Sanitized:
        is_original = program.digest == self.problem.program.digest
        checked, files = self._checked(), self._with_options(program)
        built = await self.builder.build(checked, files, final=True, is_original=is_original)
        if built.artefact is None:
            return Sanitized(not_run=(f"{', '.join(self.checks)}: {why_unbuilt(built)}",))
        ended, not_run, defects = [], [], list[Defect]()
        blobs = [built.artefact, *(given.stdin for given in self.inputs)]
        async with self.sandbox.session(blobs, Mounts(data=self.problem.spec.data)) as session:
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
        """The problem with the flags of a sanitizer build."""
        spec = self.problem.spec
        kept = tuple(flag for flag in spec.flags if not _REMOVED.fullmatch(flag))
        flags = (*kept, "-O1", "-g", "-fno-omit-frame-pointer", f"-fsanitize={','.join(self.checks)}")
        return replace(self.problem, spec=replace(spec, flags=flags))

    def _with_options(self, program: Program) -> Program:
        """The program with the sanitizer's options compiled in: every run has the same environment."""
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
    """Why a run says nothing, or not everything; empty if it ended well or with a finding."""
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
    """The class of a runtime error: its text up to the values, which differ from run to run."""
    return " ".join(_VALUES.sub("", words.partition(":")[0]).replace(" ,", ",").split()) or "undefined behaviour"


def _without_addresses(words: str) -> str:
    return words.partition(" on address")[0].partition(" (pc")[0][:_SHOWN]


def _once(defects: Iterable[Defect]) -> Iterable[Defect]:
    """The first finding of each kind and place."""
    found: dict[Place, Defect] = {}
    for one in defects:
        found.setdefault(one.place, one)
    return found.values()
