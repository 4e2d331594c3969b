"""One job from files to files: load, admit, search, write.  What the command line calls, and scripts may.

The run folder holds the record (``run.toml``, ``events.jsonl``), ``original/``, ``best/``, ``best.diff``,
``report.html`` and ``result.json``.  Repeating the command resumes it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import anyio
import msgspec

from maxcode import methods
from maxcode.config import USUAL
from maxcode.config import policy as policy_named
from maxcode.critique import diagnose
from maxcode.errors import InputError
from maxcode.evaluate.build import Builder
from maxcode.evaluate.machine import describe, pressure
from maxcode.evaluate.prepare import Admitted
from maxcode.evaluate.program import ProgramEvaluator, open_evaluator
from maxcode.evaluate.sandbox import Sandbox
from maxcode.languages import language_of
from maxcode.optimize import Run, optimize
from maxcode.policy.rewriter import reachable
from maxcode.problems import digest, load
from maxcode.record import EVENTS, Line, Record, check_header, read_events
from maxcode.report import write_report
from maxcode.source import unified_diff
from maxcode.types import Action, Clock, Evaluation, Machine, Problem, Program, ProgramSpec, Result, State, Step

BUSY_PRESSURE = 10.0  # per cent of the last 10 s


@final
@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for.  ``policy`` and ``method`` empty = those for this kind of problem; ``overrides``
    replace keys of problem.toml."""

    source: Path
    tests: Path | None = None
    policy: str = ""
    method: str = ""
    budget: int = 24
    seed: int = 0
    out: Path | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Speedup:
    """The speed-up as scripts read it; see ``types.Timing``."""

    value: float
    low: float
    high: float
    confidence: float
    significant: bool
    clock: Clock
    pairs: int


@final
@dataclass(frozen=True, slots=True)
class Rate:
    """1e9 floating-point operations a second, with the interval, and as a share (0..1) of what the machine can do."""

    value: float
    low: float
    high: float
    roofline: float
    share: float


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """The JSON contract of ``optimize`` and ``evaluate``; ``gflops`` is there for functions, the last five fields for
    ``optimize``."""

    outcome: str
    reasons: list[str]
    speedup: Speedup | None
    why: str | None
    confirmed: bool
    tests: dict[str, int]
    inputs_timed: int
    sandbox: str
    machine: Machine
    notes: list[str]
    gflops: Rate | None = None
    candidates: int | None = None
    outcomes: dict[str, int] | None = None
    best: str | None = None
    record: str | None = None
    report: str | None = None

    def as_json(self) -> str:
        """One object; the fields that belong to ``optimize`` alone are left out for ``evaluate``."""
        known = {key: value for key, value in dataclasses.asdict(self).items() if value is not None or key in _NULLABLE}
        return msgspec.json.encode(known).decode()


_NULLABLE = frozenset({"speedup", "why"})


def optimize_source(
    request: Request,
    watch: Callable[[Line], None] = lambda line: None,
    admitted: Callable[[Admitted], None] = lambda found: None,
) -> Verdict:
    """Search for a faster version of ``request.source`` and write what was found to the run folder.

    ``watch`` sees every recorded part, ``admitted`` the admission.  Raises InputError before anything is written where
    the input is bad.
    """
    loaded = load(request.source, request.tests, request.overrides)
    usual = USUAL[loaded.problem.kind]
    request = dataclasses.replace(request, policy=request.policy or usual.policy, method=request.method or usual.method)
    if request.budget < 1:
        raise InputError(f"--budget is {request.budget}; give at least 1 candidate")
    policy = policy_named(request.policy)
    if request.method not in methods.names():
        methods.method(request.method, policy, 1, methods.Scene(Machine("", "", 0, "", {}, "")))
    out = request.out or Path("runs") / f"{loaded.problem.id}-{request.method}-{request.seed}"
    evaluator, found = anyio.run(_prepare, loaded.problem)
    admitted(found)
    machine = describe(evaluator.sandbox)
    notes = [*loaded.notes, *found.notes, *_busy()]
    check_header(out, _header(request, found, machine, notes), frozenset({"budget", "notes", "tests"}))
    _write_tree(out / "original", found.problem.program)
    scene = methods.Scene(machine, "\n".join(diagnose(found.problem.program, found.baseline)))
    method = methods.method(request.method, policy, request.budget, scene)
    if (out / EVENTS).exists():
        for line in read_events(out):  # who watches a resumed run sees what it resumes
            watch(line)
    with Record(out) as record:
        run = Run(request.budget, request.seed, machine=machine, record=record, watch=watch)
        result = optimize(found.problem, method, evaluator, run, referee=evaluator)
    return _write(request, out, result, found, machine, notes)


def evaluate_source(candidate: Path, request: Request) -> Verdict:
    """Measure one candidate file against ``request.source``: the whole ladder, and a confirmation when it wins."""
    loaded = load(request.source, request.tests, request.overrides)
    program = _candidate(candidate, loaded.problem)

    async def measure() -> tuple[ProgramEvaluator, Admitted, Evaluation]:
        evaluator, found = await _prepare(loaded.problem)
        action = Action(program)
        evaluation = await evaluator.evaluate(found.problem, action)
        if evaluation.timing is not None and evaluation.timing.significant:
            state = State(found.problem, State(found.problem), Step(action, evaluation, 0.0), (1, 0))
            evaluation = (await evaluator.settle(found.problem, [state], None))[state.id]
        return evaluator, found, evaluation

    evaluator, found, evaluation = anyio.run(measure)
    notes = [*loaded.notes, *found.notes, *_busy()]
    return _verdict(evaluation, found, describe(evaluator.sandbox), notes)


def counted(source: Path, cap: int, sample: int) -> dict[str, str]:
    """How many distinct programs one to three steps of the rewriter reach from a source (counting stops at ``cap``),
    and how many of ``sample`` of them, evenly spread, build in the sandbox."""
    tongue = language_of(str(source))
    try:
        text = source.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {source}: {error}") from error
    found = [reached for _, reached in reachable(text, tongue.name, steps=3, cap=cap)]
    chosen = found[:: max(1, len(found) // max(1, sample))][:sample]
    problem = Problem(
        source.stem, "program", tongue.name, Program({source.name: text}), ProgramSpec(tongue.default_flags)
    )

    async def build() -> int:
        sandbox = await Sandbox.open()
        builder = Builder(sandbox, sandbox.cache)
        built = [await builder.build(problem, problem.program.with_text(text)) for text in chosen]
        return sum(one.artefact is not None for one in built)

    count = f"{len(found)}{' or more' if len(found) == cap else ''}"
    return {"reachable": count, "valid": f"{anyio.run(build)} of {len(chosen)} built" if chosen else "none built"}


async def _prepare(problem: Problem) -> tuple[ProgramEvaluator, Admitted]:
    evaluator = await open_evaluator()
    return evaluator, await evaluator.admit(problem)


def _candidate(path: Path, problem: Problem) -> Program:
    try:
        return problem.program.with_text(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the candidate {path}: {error}") from error


def _header(request: Request, found: Admitted, machine: Machine, notes: list[str]) -> dict[str, Any]:
    problem = found.problem
    return {
        "version": version("maxcode"),
        "problem": problem.id,
        "language": problem.language,
        "source": str(request.source),
        "flags": list(problem.spec.flags),
        "checker": problem.spec.checker.kind,
        "goal": problem.goal,
        "policy": request.policy,
        "method": request.method,
        "seed": request.seed,
        "budget": request.budget,
        "digest": digest(problem),
        "sandbox": machine.sandbox,
        "machine": dataclasses.asdict(machine),
        "tests": _tests(found),
        "notes": notes,
    }


def _write(request: Request, out: Path, result: Result, found: Admitted, machine: Machine, notes: list[str]) -> Verdict:
    best = result.best
    states = [state for state in result.reached if state.step is not None]
    if best is not None and best.step is not None:
        _write_tree(out / "best", best.program)
        (out / "best.diff").write_text(_diff(found.problem.program, best.program))
        verdict = _verdict(best.step.evaluation, found, machine, notes)
        where = out / "best" / best.program.name
    else:
        verdict = _nothing_won(found, machine, notes)
        where = request.source / found.problem.program.name if request.source.is_dir() else request.source
    verdict = dataclasses.replace(
        verdict,
        candidates=len(states),
        outcomes=dict(Counter(state.outcome.value for state in states)),
        best=str(where),
        record=str(out),
        report=str(write_report(out)),
    )
    (out / "result.json").write_text(verdict.as_json() + "\n")
    return verdict


def _diff(before: Program, after: Program) -> str:
    return "".join(unified_diff(text, after.files[path], path) for path, text in before.files.items())


def _nothing_won(found: Admitted, machine: Machine, notes: list[str]) -> Verdict:
    why = "no candidate was confirmed to be faster than the original"
    same = Speedup(1.0, 1.0, 1.0, 1.0, False, found.problem.goal, 0)
    verdict = _verdict(found.baseline, found, machine, notes)
    return dataclasses.replace(verdict, speedup=same, why=why) if found.timed else verdict


def _rate(evaluation: Evaluation) -> Rate | None:
    timing = evaluation.timing
    if timing is None or timing.gflops is None:
        return None
    rate = timing.gflops
    return Rate(rate.value, rate.low, rate.high, timing.roofline, rate.value / timing.roofline)


def _verdict(evaluation: Evaluation, found: Admitted, machine: Machine, notes: list[str]) -> Verdict:
    timing = evaluation.timing
    speedup = why = None
    if timing is not None:
        s = timing.speedup
        speedup = Speedup(s.value, s.low, s.high, s.confidence, timing.significant, timing.clock, timing.pairs)
        ended = "; ".join(evaluation.warnings) or f"not significant: the race ended as '{timing.verdict}'"
        why = None if timing.significant else ended
    else:
        why = "; ".join(evaluation.warnings or found.notes[-1:]) or f"not timed: {evaluation.outcome.value}"
    return Verdict(
        gflops=_rate(evaluation),
        outcome=evaluation.outcome.value,
        reasons=list(evaluation.feedback.reasons),
        speedup=speedup,
        why=why,
        confirmed=timing is not None and timing.confirmed,
        tests=_tests(found),
        inputs_timed=len(timing.inputs) if timing is not None else 0,
        sandbox=machine.sandbox,
        machine=machine,
        notes=notes,
    )


def _tests(found: Admitted) -> dict[str, int]:
    counts = {origin: found.count(origin) for origin in ("seen", "held_out", "generated")}
    return {**counts, "dropped": len(found.dropped)}


def _busy() -> list[str]:
    waiting = pressure()
    if waiting is None or waiting < BUSY_PRESSURE:
        return []
    return [f"the machine is busy (CPU pressure {waiting:.0f} %): intervals are wider than they need be"]


def _write_tree(folder: Path, program: Program) -> None:
    for path, text in program.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
