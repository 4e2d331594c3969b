"""Admission of a repository: base is set up, built, tested and run before anything is proposed.

What fails here is the user's to correct, and is said in one sentence before anything is paid: a build, a test or a
benchmark that fails on base in the sandbox, a benchmark that is too short, too long or too noisy to time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import anyio.to_thread

from maxcode.code.definitions import functions_named, short_name
from maxcode.core.types import (
    BaseSeconds,
    Evaluation,
    Facts,
    HotFunction,
    Outcome,
    Problem,
    Program,
    TimedInput,
    Trust,
)
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity
from maxcode.evaluate.ladder.workload import WHOLE_RUN
from maxcode.evaluate.repo.allowed import commands_of, is_script_of_base, why_protected, words_of_commands
from maxcode.evaluate.repo.base_tree import base_tree
from maxcode.evaluate.repo.benchmark_source import source_of
from maxcode.evaluate.repo.canary import places, with_failing_test
from maxcode.evaluate.repo.commands import COMMAND_S, SEED, Place, now, said
from maxcode.evaluate.repo.first_runs import FirstRuns, parts
from maxcode.evaluate.repo.git import Tracked, contents, tracked
from maxcode.evaluate.repo.layers import Contents, Edited, Layers, contents_of, made_by
from maxcode.evaluate.repo.outputs import Expected, expected_of
from maxcode.evaluate.repo.profile import RepoProfile, profiled
from maxcode.evaluate.repo.shadows import READ, WHY_STARTED, Taken, is_started, taken_of
from maxcode.evaluate.repo.started import ends_started, modules_named, searched_by, started_lines
from maxcode.evaluate.repo.summaries import counted, told
from maxcode.evaluate.repo.told_names import with_told_names
from maxcode.evaluate.repo.tools_used import tools_used
from maxcode.evaluate.repo.word_rules import SUFFIXES_OF_C
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Ran, Sandbox

BENCHMARK = "benchmark"
LONGEST_S = 120.0
_COUNTED_S = 2.0  # of a benchmark that callgrind may follow
NOISY = 2.0  # the slowest of base's first runs over the fastest
FIRST_RUNS = 3
_FLOOR_S = WHOLE_RUN.floor_s
_TRIED = 3  # test files that are tried for the test that must fail
_TEXT_AT_MOST, _READ_AT_MOST = 200_000, 4_000_000
_BOXED = "; in the sandbox there is no network and no .git, and of this machine it sees /usr and the folders of `show`"


@final
@dataclass(frozen=True, slots=True)
class Base:
    """An admitted repository.

    ``side``: base with its build.  ``contents``: its files; ``made``: those that its build made.
    ``counts``: the summary of its tests.  ``expected``: what its benchmark prints.
    ``files``: of the revision.  ``texts``: of the files that must stay as they are.  ``taken``: names for no new file.
    ``canary``: the test file that takes the test that must fail; empty if there is none.
    ``test_s``, ``build_s``, ``benchmark_s``: wall seconds; the last of the slowest first run of the benchmark.
    """

    place: Place
    admitted: Admitted
    side: Layers
    contents: Contents
    made: frozenset[str]
    counts: Mapping[str, int]
    expected: Expected
    files: Mapping[str, Tracked]
    texts: Mapping[str, str]
    test_s: float
    build_s: float
    benchmark_s: float
    second: int
    canary: str = ""
    modes: Mapping[str, int] = field(default_factory=dict)
    taken: Taken = field(default_factory=Taken)

    @property
    def problem(self) -> Problem:
        return self.admitted.problem

    @property
    def run_s(self) -> float:
        """Wall seconds that one run of a candidate's benchmark may take."""
        return 10 * self.benchmark_s + 10

    @property
    def trust(self) -> Trust:
        """Who judges that a candidate is right."""
        tests = f"the repository's tests pass as in base ({told(self.counts)})" if self.counts else "its tests pass"
        tests = tests if self.problem.spec.repo_spec.tests else "it has no tests"
        seeded = SEED in self.problem.spec.repo_spec.benchmark
        if self.expected.has_results or (seeded and self.expected.numbers):
            fresh = ", with another seed in every pair," if seeded else ""
            fixed = (
                "" if seeded else "; its input is the same in every run, so a patch that stores its answer would pass"
            )
            compared = f"maxcode compared what the benchmark prints{fresh} with base in every run"
            return Trust("outside", f"{compared}; {tests}{fixed}")
        why = (
            "what the benchmark prints is no result" if self.expected.numbers else "the benchmark prints nothing steady"
        )
        return Trust("own tests only", f"{tests}; {why}, so a patch that deceives the tests would not be noticed")

    def edited(self, program: Program, second: int) -> Edited:
        """What a candidate changes, as files of this second."""
        own = self.problem.program.files
        return Edited({path: text for path, text in program.files.items() if own.get(path) != text}, self.modes, second)


async def admitted(
    sandbox: Sandbox, problem: Problem, kept: KeptAdmissions, keeps: bool = True, prompts: bool = True
) -> Base:
    """Sets up, builds, tests and runs base, or takes what is kept of that.  InputError with the cure for what cannot be
    used.  ``prompts``: finds out what prompts tell, too."""
    place, began = Place(sandbox, problem), time.monotonic()
    tree = await anyio.to_thread.run_sync(base_tree, problem, keeps)
    rests_on = await anyio.to_thread.run_sync(kept.rests_on, sandbox, parts(place, tree))
    known, why = await anyio.to_thread.run_sync(kept.find, identity(problem), rests_on, FirstRuns)
    notes = (f"base was {'not ' if known else ''}built, tested and run again: {why}",) if why else ()
    if known is not None:
        return await _base(place, tree, known, notes)
    first = await _first_runs(place, Layers(tree), prompts)
    base = await _with_canary(await _base(place, tree, first, notes))
    first = replace(first, canary=base.canary, all_s=time.monotonic() - began)
    if kept.takes(len(first.built) + sum(map(len, first.outputs))):
        await anyio.to_thread.run_sync(kept.keep, identity(problem), rests_on, first)
    return base


async def _first_runs(place: Place, tree: Layers, prompts: bool) -> FirstRuns:
    """Builds, tests and runs base, all but the test that must fail."""
    problem = place.problem
    async with build_lane():
        began = time.monotonic()
        printed, built = await _built(place, tree)
        side = Layers(Blob.of(built)) if built else tree
        build_s = time.monotonic() - began
        tests_s, counts = await _tested(place, side)
        runs = [await _benchmark(place, side) for _ in range(FIRST_RUNS)]
    _refuse_unsteady(problem, runs)
    seconds, wall_s = tuple(_seconds(problem, ran) for ran in runs), max(ran.wall_s for ran in runs)
    hot, tools = await _seen(place, side, min(seconds), printed) if prompts else (RepoProfile(), ())
    return FirstRuns(
        built, build_s, tests_s, wall_s, counts, tuple(ran.stdout for ran in runs), seconds, hot.functions, now(),
        outside=hot.outside, tools=tools,
    )  # fmt: skip


async def _base(place: Place, tree: Blob, first: FirstRuns, notes: tuple[str, ...]) -> Base:
    """Base as its first runs and its revision show it."""
    problem, spec = place.problem, place.problem.spec.repo_spec
    files, seconds = tracked(Path(spec.folder), spec.commit), min(first.seconds)
    before, after = await anyio.to_thread.run_sync(_contents, tree, first.built)
    given = Input(BENCHMARK, Blob.of(spec.benchmark.encode()), _stable(first, spec.same_output), "generated", seconds)
    baseline = Evaluation(Outcome.CORRECT, measures={BENCHMARK: seconds})
    benchmark = await anyio.to_thread.run_sync(source_of, spec, files)
    texts, taken = await anyio.to_thread.run_sync(_staying, problem, files)
    hot = await anyio.to_thread.run_sync(told_functions, first.hot, problem, files, texts, problem.program)
    facts = Facts(
        timed=(TimedInput(seconds),), hot=hot, benchmark=benchmark, outside=first.outside, tools=first.tools,
        base=BaseSeconds(first.build_s if first.built else 0.0, first.test_s, first.benchmark_s),
    )  # fmt: skip
    notes = (*_notes(first.counts, problem), *notes)
    if stay := [path for path in problem.program.files if is_started(path, spec, taken)]:
        notes = (*notes, f"{', '.join(stay[:3])} must stay as in base: {WHY_STARTED}")
    found = Admitted(problem, (given,), (given,), Built(None), baseline, notes=notes, facts=facts, saved_s=first.all_s)
    expected = expected_of(first.outputs, spec.same_output)
    base = Base(
        place, found, Layers(Blob.of(first.built) if first.built else tree), after, made_by(before, after),
        first.counts, expected, files, texts, first.test_s, first.build_s, first.benchmark_s, first.second,
        first.canary, modes={path: 0o755 if one.mode.endswith("755") else 0o644 for path, one in files.items()},
        taken=taken,
    )  # fmt: skip
    return replace(base, admitted=replace(found, baseline=replace(baseline, trust=base.trust)))


def _contents(tree: Blob, built: bytes) -> tuple[Contents, Contents]:
    """The files of base before its build and after it; none if it has no build."""
    return (contents_of(tree.read()), contents_of(built)) if built else ({}, {})


async def _built(place: Place, tree: Layers) -> tuple[bytes, bytes]:
    """What base's build prints, and its files after it as an archive; both empty if it has none."""
    build = place.problem.spec.repo_spec.build
    if not build:
        return b"", b""
    ran, packed = await place.built(tree, COMMAND_S)
    if not ran.ok:
        raise InputError(
            f"build {build!r} fails on base: {said(ran)}; make it work{_BOXED}; fetch what it needs in `setup`"
        )
    return ran.stdout + b"\n" + ran.stderr, packed


async def _seen(place: Place, side: Layers, seconds: float, printed: bytes) -> tuple[RepoProfile, tuple[str, ...]]:
    """Where base's benchmark spends its time, if a profiler follows it, and with what base is built and run."""
    spec = place.problem.spec.repo_spec
    files = tracked(Path(spec.folder), spec.commit)
    async with build_lane():
        hot = await profiled(place, side, place.problem.program, files, is_long=seconds > _COUNTED_S)
        tools = await tools_used(place, side, files, printed)
    return hot, (*([f"interpreter: {hot.run_by}"] if hot.run_by else []), *tools)


async def profile_of(base: Base, side: Layers, program: Program, seconds: float) -> RepoProfile:
    """Where the benchmark of a candidate spends its time, by the profiler that base had; ``seconds``: of one run."""
    async with build_lane():
        found = await profiled(base.place, side, program, base.files, is_long=seconds > _COUNTED_S)
    functions = await anyio.to_thread.run_sync(
        told_functions, found.functions, base.problem, base.files, base.texts, program
    )
    return replace(found, functions=functions)


def told_functions(
    functions: Sequence[HotFunction],
    problem: Problem,
    files: Mapping[str, Tracked],
    texts: Mapping[str, str],
    program: Program,
) -> tuple[HotFunction, ...]:
    """The functions with names that prompts can show, and the tests that name them.  ``files``, ``texts``: as in
    ``Base``; ``program``: the editable files."""
    known, holding = {**texts, **program.files}, {one.file for one in functions}
    others = [path for path, one in files.items() if path in holding and path not in known and one.is_file]
    found = contents(Path(problem.spec.repo_spec.folder), [files[path].blob for path in others]) if others else []
    known |= {path: data.decode(errors="replace") for path, data in zip(others, found, strict=True)}
    owning = {path: known[path] for path in (*program.files, *others)}
    return tuple(_tested_by(one, texts, owning) for one in with_told_names(functions, known))


def _tested_by(function: HotFunction, texts: Mapping[str, str], owning: Mapping[str, str]) -> HotFunction:
    """The function with the test files that name it, if none of the files ``owning`` has another of its name."""
    short = short_name(function.name)
    if not re.fullmatch(r"(?!__)\w+", short) or len(functions_named(owning, short)) > 1:
        return replace(function, tests=None)
    word = re.compile(rf"\b{re.escape(short)}\b")
    naming = [path for path, text in texts.items() if "test" in path.lower() and word.search(text)]
    return replace(function, tests=tuple(naming[:3]))


async def _tested(place: Place, side: Layers) -> tuple[float, dict[str, int]]:
    tests = place.problem.spec.repo_spec.tests
    if not tests:
        return 0.0, {}
    ran = await place.run(side, tests, COMMAND_S)
    if not ran.ok:
        raise InputError(
            f"tests {tests!r} fail on base: {said(ran)}; name tests that pass{_BOXED}; fetch what they need in `setup`"
        )
    return ran.wall_s, counted(ran.stdout + b"\n" + ran.stderr)


async def _benchmark(place: Place, side: Layers) -> Ran:
    spec = place.problem.spec.repo_spec
    ran = await place.run(side, spec.benchmark.replace(SEED, "1"), LONGEST_S + 60, measured=True)
    if ran.ending == "timeout" or ran.wall_s > LONGEST_S:
        raise InputError(
            f"benchmark {spec.benchmark!r} takes {ran.wall_s:.0f} s, and a verdict needs dozens of runs of at most "
            f"{LONGEST_S:.0f} s; give it less work"
        )
    if not ran.ok:
        raise InputError(
            f"benchmark {spec.benchmark!r} fails on base: {said(ran)}; it must work without network or server{_BOXED}"
        )
    return ran


def _refuse_unsteady(problem: Problem, runs: list[Ran]) -> None:
    spec, seconds = problem.spec.repo_spec, [_seconds(problem, ran) for ran in runs]
    if spec.same_output and len({ran.stdout for ran in runs}) > 1:
        raise InputError(
            f"same_output is set, but benchmark {spec.benchmark!r} prints something else each time on base; leave out "
            "same_output, and numbers of time are not compared"
        )
    if min(seconds) < _FLOOR_S:
        raise InputError(
            f"benchmark {spec.benchmark!r} takes {1e3 * min(seconds):.1f} ms of {problem.goal} time, and only runs of "
            f"{1e3 * _FLOOR_S:.0f} ms or more can be timed; repeat its work inside, so that it takes 0.1 to 10 s"
        )
    if max(seconds) > NOISY * min(seconds):
        raise InputError(
            f"benchmark {spec.benchmark!r} is too noisy: {FIRST_RUNS} runs of base take {min(seconds):.3g} to "
            f"{max(seconds):.3g} s of {problem.goal} time; give it a fixed amount of work, or a quieter machine"
        )


def _stable(first: FirstRuns, same: bool) -> bytes:
    """What of the benchmark's output is compared, in a form for certificates."""
    found = expected_of(first.outputs, same)
    return found.raw if found.raw is not None else "\n".join(found.parts or ()).encode()


def _seconds(problem: Problem, ran: Ran) -> float:
    return ran.wall_s if problem.goal == "wall" else ran.cpu_s


def _notes(counts: Mapping[str, int], problem: Problem) -> tuple[str, ...]:
    if not problem.spec.repo_spec.tests:
        return ("no tests are given: a candidate is only checked by what the benchmark prints",)
    if not counts:
        return ("the number of tests cannot be read from what `tests` prints: tests that do not run are not noticed",)
    return ()


def _staying(problem: Problem, files: Mapping[str, Tracked]) -> tuple[dict[str, str], Taken]:
    """The texts of the tests, benchmarks and headers that must stay as in base, and what they and base ask for."""
    spec = problem.spec.repo_spec
    paths = [path for path, one in files.items() if one.is_file and why_protected(path, spec)]
    scripts = {path for path in paths if is_script_of_base(path, spec)}
    kept = [path for path in paths if path.endswith((*_CODE, *READ)) or path in scripts]
    found = dict(zip(kept, contents(Path(spec.folder), [files[path].blob for path in kept]), strict=True))
    read = {path: data[:_READ_AT_MOST].decode(errors="replace") for path, data in found.items()}
    commands, values = commands_of(problem), [value for _, value in problem.spec.env]
    lines = started_lines({path: read[path] for path in scripts}, words_of_commands(problem))
    named, searched = modules_named(commands, problem.spec.env), searched_by((*commands, *lines), values)
    taken = taken_of(read, problem.program.files, files.keys(), named, searched)
    taken = replace(taken, started=ends_started(lines, values))
    return {
        path: read[path] for path, data in found.items() if path.endswith(_CODE) and len(data) <= _TEXT_AT_MOST
    }, taken


_CODE = (*SUFFIXES_OF_C, ".py", ".go", ".rs", ".java", ".js", ".ts", ".mjs", ".cjs")


async def _with_canary(base: Base) -> Base:
    """Base with the test file in which a failing test is noticed on base."""
    tests = base.problem.spec.repo_spec.tests
    for path in places(base.texts)[:_TRIED] if tests else ():
        async with build_lane():
            if await fails_with_canary(base, base.side, path):
                return replace(base, canary=path)
    return base


async def fails_with_canary(base: Base, side: Layers, path: str) -> bool:
    """Whether the tests of a side fail when one of them must."""
    text = with_failing_test(path, base.texts[path])
    layer = Edited({path: text}, base.modes, now()).archive()
    with Blob.of(layer) as extra:
        ran = await base.place.run_over(side, extra, base.problem.spec.repo_spec.tests, 10 * base.test_s + 60)
    return not ran.ok
