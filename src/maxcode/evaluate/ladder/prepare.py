"""Prepares a problem for the ladder: inputs as sealed memory, the built original, the inputs to time.

``program/admission.py`` runs the original on them first.  The original is the oracle of generated inputs, which exist
only if the problem has a generator.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, final

from maxcode.code.languages import language
from maxcode.core.files import TEST, read_file
from maxcode.core.phases import during
from maxcode.core.types import Case, Evaluation, Facts, Outcome, Problem
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Builder, Built
from maxcode.evaluate.ladder.cures import cure_of_build
from maxcode.evaluate.ladder.workload import WHOLE_RUN, Workload
from maxcode.evaluate.machine.roofline import Bandwidth
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Sandbox

TIMED_AT_MOST = 5
TIMED_FLOOR_S = WHOLE_RUN.floor_s
PASS_AT_MOST_S = 0.2  # a pass gets more inputs only while it is shorter
_START_NOISE = 0.25  # share of a process's start: work below it is not told from the noise of starts
RACE_PASS_AT_MOST_S = 0.1  # the same for races of the search, which only select what to confirm
_UNAVAILABLE = re.compile(
    r"\b(?:popen|system|pipe2?|socket(?:pair)?|shm_open|memfd_create)(?=\s*\()"
    r"|MAP_SHARED\s*\|\s*MAP_ANON(?:YMOUS)?\b|MAP_ANON(?:YMOUS)?\s*\|\s*MAP_SHARED\b"
    r"|/proc/[\w/]+|/dev/(?:stdin|stdout|stderr|fd|zero)\b"
)


@final
@dataclass(frozen=True, slots=True)
class Input:
    """One test in memory.

    ``expected``: None for a generated input until the original has run.
    ``origin``: "seen" if the policy may see it; else "held_out", "generated" or "made" (a fresh input).
    ``seconds``: CPU seconds of the original.
    """

    name: str
    stdin: Blob
    expected: bytes | None = field(repr=False)
    origin: str  # "seen", "held_out", "generated" or "made"
    seconds: float = 0.0
    workload: Workload = WHOLE_RUN
    second_look: SecondLook | None = None  # at outputs that the workload finds no difference in

    @property
    def seen(self) -> bool:
        return self.origin == "seen"


class SecondLook(Protocol):
    """Looks at an output in which the workload finds no difference; it may run the original once more."""

    async def difference(self, sandbox: Sandbox, problem: Problem, given: Input, output: bytes) -> str | None:
        """How an output differs from the expected one all the same, in words; None where it is accepted."""
        ...


class InputSource(Protocol):
    """The source of the inputs of a timed pass.

    ``renews``: every pass has new inputs; then the original must take part, because only it gives the expected outputs.
    """

    @property
    def renews(self) -> bool: ...

    async def ahead(self, timed: Sequence[Input]) -> None:
        """Makes what the first passes over these inputs need, so that nothing of it is made in the timing lane."""
        ...

    async def for_pass(self, given: Input, own: ExitStack) -> Input:
        """The input of one pass; ``own`` ends with the pass.  ``expected`` is None if the input is new."""
        ...

    async def further(self, problem: Problem, times: int) -> list[Input]:
        """Fresh inputs: ``times`` as many as usual, which nobody has seen."""
        ...

    def looked_at_twice(self, given: Input, original: Blob) -> Input:
        """The input with a second look at its outputs, where there is one; ``original`` gave its expected output."""
        ...

    async def beyond(self, builder: Builder, problem: Problem, original: Blob, origin: str) -> tuple[Input, ...]:
        """Inputs that leave the habits of all others, for which the original has an answer, with that answer."""
        ...

    async def at_jumps(self, builder: Builder, problem: Problem, original: Blob, origin: str) -> tuple[Input, ...]:
        """Inputs where the original's answer may jump, with that answer; no verdict may depend on them."""
        ...

    def one_by_one(self, given: Input) -> Input | None:
        """As many calls, each of which must be over before the program sees the next; None where it always is so."""
        ...

    async def ready_s(self, given: Input) -> float | None:
        """CPU seconds that a program which does nothing needs before its clock starts; more is charged to it.  None
        where the clock starts with the process."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Copies:
    """The same inputs in every pass, each as a copy that no other process has open."""

    renews: bool = False

    async def ahead(self, timed: Sequence[Input]) -> None:
        return None

    async def for_pass(self, given: Input, own: ExitStack) -> Input:
        return replace(given, stdin=own.enter_context(given.stdin.copy()))

    async def further(self, problem: Problem, times: int) -> list[Input]:
        return []

    def looked_at_twice(self, given: Input, original: Blob) -> Input:
        return given

    async def beyond(self, builder: Builder, problem: Problem, original: Blob, origin: str) -> tuple[Input, ...]:
        return ()

    async def at_jumps(self, builder: Builder, problem: Problem, original: Blob, origin: str) -> tuple[Input, ...]:
        return ()

    def one_by_one(self, given: Input) -> Input | None:
        return None

    async def ready_s(self, given: Input) -> float | None:
        return None


COPIES = Copies()


@final
@dataclass(frozen=True, slots=True)
class Admitted:
    """An admitted problem.  ``problem`` has its dropped tests removed; ``notes`` are for the user.

    ``timed``, slowest first, is what a confirmation runs; races of the search run as many of them as fit in a short
    pass.
    """

    problem: Problem
    inputs: tuple[Input, ...]
    timed: tuple[Input, ...]
    original: Built
    baseline: Evaluation
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    source: InputSource = COPIES
    peak_gflops: float = 0.0  # of one core; 0 if the problem does not say how much work a call is
    memory: Bandwidth | None = None  # None if the problem does not say how many bytes a call moves
    facts: Facts = field(default_factory=Facts)  # for prompts
    reads_unwritten: bool = False  # the original's own answer depends on memory it never wrote
    saved_s: float = 0.0  # wall seconds of an earlier admission that was not repeated

    @property
    def raced(self) -> tuple[Input, ...]:
        """The timed inputs of a race in the search: at least one, and more while a pass stays short."""
        return _within(self.timed, RACE_PASS_AT_MOST_S)

    @property
    def degenerate(self) -> tuple[str, ...]:
        """Why a candidate could pass without doing the work: at each timed size all calls that were made give the
        same."""
        sizes = {one.workload.size for one in self.timed}
        return ("every drawn input gives the same result",) if sizes and all(map(self._is_same, sizes)) else ()

    def _is_same(self, size: str) -> bool:
        alike = (one for one in self.inputs if one.workload.size == size and one.expected is not None)
        answers = (answer for one in alike for answer in one.workload.answers(one.expected or b""))
        first, second = next(answers, None), next(answers, None)
        return second is not None and first == second and all(answer == first for answer in answers)

    def count(self, origin: str) -> int:
        return sum(1 for one in self.inputs if one.origin == origin)


def unadmitted(problem: Problem, notes: tuple[str, ...] = ()) -> Admitted:
    """What a result tells of a problem of which nothing was run."""
    return Admitted(problem, (), (), Built(None), Evaluation(Outcome.UNVERIFIED), notes=notes)


def identity(problem: Problem) -> str:
    """A hash of what an admission depends on, but for the contents of the files that the problem names: tests, and what
    its commands need.  The permitted techniques and the id change no admission."""
    parts = problem.program.digest, problem.language, problem.spec, problem.goal
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def read_inputs(problem: Problem) -> list[Input]:
    """The problem's tests, read once; each input becomes a sealed memory file."""
    spec = problem.spec
    return [
        Input(case.name, Blob.of(_read(case.stdin)), _read(case.expected) if case.expected else None, origin)
        for origin, cases in (("seen", spec.seen), ("held_out", spec.held_out))
        for case in cases
    ]


def _read(path: str) -> bytes:
    return read_file(Path(path), TEST)


@during("generator")
async def generate(
    sandbox: Sandbox, problem: Problem, seeds: Sequence[int], size: int | None = None
) -> list[tuple[str, Blob]]:
    """Inputs printed by the user's generator in the sandbox, one per seed; ``size`` replaces the problem's size."""
    spec = problem.spec
    if not spec.generator or not seeds:
        return []
    files = command_files(spec.folder, spec.generator)
    found = []
    async with sandbox.session([], Mounts(files)) as session:
        for seed in seeds:
            values = {"{seed}": str(seed), "{size}": str(spec.size if size is None else size)}
            argv = tuple(f"/src/{w}" if w in files else _filled(w, values) for w in spec.generator)
            ran = await session.run(Job(argv=argv, cpu_s=60, wall_s=182, memory_mb=2048, output_mb=256, processes=8))
            if not ran.ok or not ran.stdout:
                words = ran.stderr.decode(errors="replace").strip().splitlines()
                raise InputError(
                    f"the input generator `{' '.join(argv)}` failed ({ran.ending} {ran.code}): "
                    f"{words[-1] if words else 'no output'}; it must print one input to standard output"
                )
            found.append((f"generated-{seed}", Blob.of(ran.stdout)))
    return found


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def command_files(folder: str, command: tuple[str, ...]) -> dict[str, bytes]:
    """The files of ``folder`` that a user's command names; the sandbox shows them to it."""
    return {word: _read(str(Path(folder, word))) for word in command if Path(folder, word).is_file()}


def choose_timed(
    inputs: tuple[Input, ...], counted: bool = False, start_s: float = 0.0
) -> tuple[tuple[Input, ...], str]:
    """The inputs to time: up to five of the slowest of at least 20 ms, while a pass is short.  Instructions are
    ``counted`` on runs of any length, because a count has no noise that a longer run would hide.  ``start_s``: CPU
    seconds of a process that does nothing, which no larger input lengthens.

    Inputs that the policy may see are used only if there are no others.  Returns the inputs with a warning (empty:
    none). No inputs means "not measurable", and the warning says why.
    """
    fitting = (one for one in inputs if counted or one.seconds >= one.workload.floor_s)
    long_enough = sorted(fitting, key=lambda one: -one.seconds)
    if not long_enough:
        slowest = max(inputs, key=lambda one: one.seconds)
        return (), (
            f"not measurable: the original's slowest test, {slowest.name}, takes {slowest.seconds * 1e3:.2f} ms of "
            f"CPU, and only runs of {slowest.workload.floor_s * 1e3:.0f} ms or more can be timed; give "
            f"{slowest.workload.longer}{_how_much(slowest, start_s)}"
        )
    unseen = [one for one in long_enough if not one.seen]
    pool, warning = (unseen, "") if unseen else (long_enough, _SEEN_ONLY)
    return _within(tuple(pool[:TIMED_AT_MOST]), PASS_AT_MOST_S), warning


def _how_much(slowest: Input, start_s: float) -> str:
    """How long a run should be, with room to spare; the start of the process does not grow with the work."""
    wanted = 2 * slowest.workload.floor_s
    work_s = slowest.seconds - start_s
    if work_s <= _START_NOISE * start_s:
        alone = f"; {slowest.name} takes hardly longer than a process that does nothing" if start_s else ""
        return f" (of about {1e3 * wanted:.0f} ms{alone})"
    factor = (wanted - start_s) / work_s
    more = f", so at least {factor:.0f} times the work of {slowest.name}" if 2 <= factor < 100_000 else ""
    return f" (of about {1e3 * wanted:.0f} ms{more})"


def choose_compared(made: Sequence[Input], timed: Sequence[Input]) -> tuple[Input, ...]:
    """The fresh inputs that test whether a speed-up on ``timed`` inputs holds elsewhere.

    They are long enough to time, slowest first, while a pass is short; if possible they take about as long as
    ``timed``.
    """
    long_enough = sorted((one for one in made if one.seconds >= one.workload.floor_s), key=lambda one: -one.seconds)
    least = min((one.seconds for one in timed), default=0.0)
    alike = [one for one in long_enough if one.seconds >= least / 2]
    return _within(tuple((alike or long_enough)[:TIMED_AT_MOST]), RACE_PASS_AT_MOST_S)


def _within(inputs: tuple[Input, ...], seconds: float) -> tuple[Input, ...]:
    """The first input, and further ones while their sum stays within ``seconds``."""
    chosen: list[Input] = []
    for one in inputs:
        if not chosen or sum(c.seconds for c in chosen) + one.seconds <= seconds:
            chosen.append(one)
    return tuple(chosen)


_SEEN_ONLY = "timed on inputs that the policy may see: no held-out or generated test is long enough"


def without(problem: Problem, dropped: frozenset[str]) -> Problem:
    """The problem without the tests named in ``dropped``."""

    def kept(cases: tuple[Case, ...]) -> tuple[Case, ...]:
        return tuple(case for case in cases if case.name not in dropped)

    spec = replace(problem.spec, seen=kept(problem.spec.seen), held_out=kept(problem.spec.held_out))
    return replace(problem, spec=spec)


async def build_original(builder: Builder, problem: Problem) -> Built:
    """The original's artefact, built as the user would.  InputError with the compiler's message if it fails."""
    built = await builder.build(problem, problem.program, final=True, is_original=True)
    if built.artefact is None:
        cure = cure_of_build(built.diagnostics)
        raise InputError(
            f"the original {problem.program.name} does not build with `{' '.join(problem.spec.flags)}`: "
            f"{built.reason}{f'; {cure}' if cure else ''}\n{built.diagnostics}".rstrip()
        )
    return built


def why_unavailable(problem: Problem) -> str:
    """Why an original may fail here that works elsewhere, and what to do; empty if its text shows no reason."""
    if not language(problem.language).by_gcc:
        return ""
    found = next((match for text in problem.program.files.values() if (match := _UNAVAILABLE.search(text))), None)
    if found is None:
        return ""
    return (
        f"; it uses `{found[0]}`, and a compiled program gets no pipe, socket, shell, /proc or shared memory here: "
        "read standard input, write standard output, and share the work among threads, or children that are waited for"
    )
