"""One job from files to files: load, admit, search, write.  What the command line calls, and scripts may.

The run folder holds the record (``run.toml``, ``events.jsonl``, and ``calls.jsonl`` where a language model is asked),
``original/``, ``best/``, ``best.diff``, ``report.html`` and ``result.json``.  Repeating the command resumes it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import msgspec

from maxcode.code.languages import language_of
from maxcode.code.source import unified_diff
from maxcode.core.budget import MANY
from maxcode.core.files import write_whole
from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.roles import Compiler
from maxcode.core.types import Action, Evaluation, Machine, Problem, Program, ProgramSpec, State, Step
from maxcode.errors import InputError
from maxcode.evaluate.cluster import ClusterRequest
from maxcode.evaluate.harness import compiled_without_gpu
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import BUSY, BUSY_NOTE, describe, pressure
from maxcode.evaluate.target import Target, where
from maxcode.llm import prompts
from maxcode.llm.clients import Model
from maxcode.llm.clients.connect import price_of, recorded
from maxcode.llm.journal import Journal
from maxcode.policy.rules.rewriter import reachable
from maxcode.problems import Loaded, digest, load
from maxcode.problems.small_shapes import shaped
from maxcode.run.certificate import FILE, certified, fields_of
from maxcode.run.dry_run import Preview, preview
from maxcode.run.names import LLM, USUAL, models_asked, usual_critic
from maxcode.run.names import critic as critic_named
from maxcode.run.names import guide as guide_in
from maxcode.run.names import policy as policy_named
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import EVENTS, Line, Record, check_header, read_events, read_header
from maxcode.run.report import write_report
from maxcode.run.request import (
    Request,
    asks_model,
    guided_by,
    refuse_other_run,
    refuse_replay,
    refuse_unpaid,
    refuse_unpriced,
)
from maxcode.run.result_json import RunResult, nothing_won, paid, tests_of, verdict_of
from maxcode.sandbox.sandbox import Sandbox
from maxcode.search import methods

SLOTS_PER_CALL = 2  # under way at once: while some are evaluated, others ask the model
NOWHERE = Machine("", "", 0, "", {}, "")


def optimize_source(
    request: Request,
    watch: Callable[[Line], None] = lambda line: None,
    admitted: Callable[[Admitted], None] = lambda found: None,
    say: Callable[[str], None] = lambda words: None,
    on: Target | None = None,
) -> RunResult:
    """Search for a faster version of ``request.source`` and write what was found to the run folder.

    ``watch`` sees every recorded part, ``admitted`` the admission; ``say`` hears what is done before and after the
    search, and what happens to nodes.  ``on`` is where candidates are measured, where that is open already; else what
    the request says is opened and closed.  Raises InputError before anything is written where the input is bad.
    """
    loaded, request = completed(request)
    out = _folder(request, loaded.problem)
    say("admitting: building and checking the original")
    with where(request.measured_on, out, say) if on is None else nullcontext(on) as bench:
        verdict = _searched(loaded, request, bench, watch, admitted)
    if not request.certificate or not verdict.confirmed:
        return verdict
    if request.measured_on is not None and not request.measured_on.is_here:
        return _saved(dataclasses.replace(verdict, notes=[*verdict.notes, _UNCERTIFIED]), out)
    return _certified(verdict, loaded, request, out, say)


_UNCERTIFIED = "no certificate: it is made where the run was measured; run `maxcode evaluate` with best/ on such a node"


def _searched(
    loaded: Loaded,
    request: Request,
    bench: Target,
    watch: Callable[[Line], None],
    admitted: Callable[[Admitted], None],
) -> RunResult:
    """The search in its run folder, and what it found, written down."""
    out = _folder(request, loaded.problem)
    evaluator, found, machine = anyio.run(bench.prepare, loaded.problem)
    admitted(found)
    notes = [*loaded.notes, *found.notes, *([] if request.cluster else _busy())]
    shape = _shape(out, request)
    header = {**_header(request, found, machine, notes), **_of_suite(loaded), **guided_by(request), "shape": shape}
    refuse_other_run(request, header)
    check_header(out, header, _MAY_CHANGE)
    _write_tree(out / "original", found.problem.program)
    if (out / EVENTS).exists():
        for line in read_events(out):  # who watches a resumed run sees what it resumes
            watch(line)
    with Record(out) as record, _journal(request, out) as journal:
        has_model = request.policy.startswith(LLM)
        scene = dataclasses.replace(_scene(request, found, machine), shape=shape, asks_model=has_model)
        method = _method(request, journal, scene, evaluator if isinstance(evaluator, Compiler) else None)
        run = Run(
            request.budget,
            request.seed,
            concurrency=SLOTS_PER_CALL * request.models.concurrency,
            machine=machine,
            record=record,
            watch=watch,
            caps=request.caps,
            spent=lambda: journal.spent,
        )
        result = optimize(found.problem, method, evaluator, run, referee=evaluator)
        notes += _told_of(result, journal, request)
    check_header(out, {**header, "notes": notes}, _MAY_CHANGE)  # what the report shows
    verdict = _write(request, out, result, found, notes)
    used = bench.used()
    return verdict if used is None else _saved(dataclasses.replace(verdict, cluster=used.as_table()), out)


def _certified(
    verdict: RunResult, loaded: Loaded, request: Request, out: Path, say: Callable[[str], None]
) -> RunResult:
    """The verdict with its certificate, which is in the report then, too."""
    claim, options = _claim(loaded, request)
    certificate = certified(out, claim, options, request.seed, say)
    write_report(out)  # once more, with the certificate in it
    notes = [*verdict.notes, *certificate.notes]
    return _saved(
        dataclasses.replace(verdict, certificate=str(out / FILE), unseen=fields_of(certificate.unseen), notes=notes),
        out,
    )


def _claim(loaded: Loaded, request: Request) -> tuple[Problem, Mapping[str, Any]]:
    """What a certificate is about: always seconds, so CPU time where the goal was a count of instructions."""
    if loaded.problem.goal != "instructions":
        return loaded.problem, request.overrides
    options = {**request.overrides, "goal": "cpu"}
    return load(request.source, request.tests, options).problem, options


def first_prompt(request: Request) -> Preview:
    """What a run would ask first, and an estimate of what it would cost; admits the problem, asks no model."""
    loaded, request = completed(request)
    with where(request.measured_on) as bench, Journal() as journal:
        _, found, machine = anyio.run(bench.prepare, loaded.problem)
        method = _method(request, journal, _scene(request, found, machine))
    prices = [price_of(name, request.models) for name in models_asked(request.policy, request.critic)]
    candidates = request.budget if request.budget < MANY else request.width_for
    return preview(found.problem, method, candidates, request.seed, prices)


def completed(request: Request) -> tuple[Loaded, Request]:
    """The problem, and the request with what is usual in the place of what was not said; refuses what cannot be."""
    loaded, request = _loaded(request)
    usual = USUAL[loaded.problem.kind]
    policy = request.policy or usual.policy
    request = dataclasses.replace(
        request,
        policy=policy,
        method=request.method or usual.method,
        critic=request.critic or usual_critic(policy),
    )
    if request.budget < 1:
        raise InputError(f"--budget is {request.budget}; give at least 1 candidate")
    with _journal(request) as journal:  # a wrong name or a missing key is said before anything is built
        _method(request, journal, methods.Scene(NOWHERE, without=frozenset(request.without)))
    refuse_unpriced(request)
    refuse_unpaid(request)
    refuse_replay(request, _folder(request, loaded.problem))
    return loaded, request


def _loaded(request: Request) -> tuple[Loaded, Request]:
    """The problem in the shapes that were asked for, which the request then holds as overrides."""
    overrides = shaped(request.source, request.tests, request.overrides, request.shapes)
    return load(request.source, request.tests, overrides), dataclasses.replace(request, overrides=overrides)


def _folder(request: Request, problem: Problem) -> Path:
    """The run folder; a replay has one of its own, for the usual one is that of the run it replays."""
    again = "-replay" if request.replay is not None else ""
    return request.out or Path("runs") / f"{problem.id}-{request.method}-{request.seed}{again}"


def _shape(out: Path, request: Request) -> int:
    """The budget that the run in ``out`` began with."""
    header = read_header(out)
    found = header.get("shape", header.get("budget"))
    if isinstance(found, int):
        return found
    return request.budget if request.budget < MANY else request.width_for


def _method(request: Request, journal: Journal, scene: methods.Scene, compiler: Compiler | None = None) -> Method:
    @cache  # one client for one model, whoever asks it: the cap on concurrent calls is its own
    def models(name: str) -> Model:
        return recorded(name, request.models, journal)

    policy = policy_named(request.policy, models, request.answer)
    critic = critic_named(request.critic, request.policy, models)
    scene = dataclasses.replace(scene, guide=guide_in(request.value, request.draw, request.unranked, compiler))
    return methods.method(request.method, policy, request.budget, scene, critic)


def _journal(request: Request, folder: Path | None = None) -> Journal:
    """The journal of model calls; on disk only where a model may be asked."""
    return Journal(folder if asks_model(request) else None, request.replay)


def _scene(request: Request, found: Admitted, machine: Machine) -> methods.Scene:
    return methods.scene(machine, found.problem, found.baseline, frozenset(request.without))


def _told_of(result: Result, journal: Journal, request: Request) -> list[str]:
    what = "ended before its budget of candidates" if request.budget < MANY else "its budget is used"
    told = [f"{what}: {result.ended}"] if result.ended else []
    if journal.failures:
        told.append(f"{journal.failures} model calls failed for good (calls.jsonl)")
    if journal.replay is not None:
        told.append(f"models were not asked: their answers are those of {journal.replay}")
    if journal.loosely:
        told.append(f"{journal.loosely} replayed answers were given to prompts that were not the same to the letter")
    return told


def evaluate_source(candidate: Path | None, request: Request) -> RunResult:
    """Measure one candidate file against ``request.source``: the whole ladder, and a confirmation when it wins.

    Without a candidate it is the suite's own faster version; InputError where it has none.
    """
    loaded, _ = _loaded(request)
    program = _reference(loaded) if candidate is None else _candidate(candidate, loaded.problem)
    return evaluate_program(program, loaded, request.measured_on)


def evaluate_program(program: Program, loaded: Loaded, asked: ClusterRequest | None = None) -> RunResult:
    """Measure one program against that of a problem, likewise; on the cluster ``asked`` for, or here."""

    async def measure(bench: Target) -> tuple[Machine, Admitted, Evaluation]:
        action = Action(program)
        if asked is None and (compiled := await compiled_without_gpu(loaded.problem, action)) is not None:
            return describe(compiled[0]), *compiled[1:]
        evaluator, found, machine = await bench.prepare(loaded.problem)
        evaluation = await evaluator.evaluate(found.problem, action)
        if evaluation.timing is not None and evaluation.timing.significant:
            state = State(found.problem, State(found.problem), Step(action, evaluation, 0.0), (1, 0))
            evaluation = (await evaluator.settle(found.problem, [state], None))[state.id]
        return machine, found, evaluation

    with where(asked) as bench:
        machine, found, evaluation = anyio.run(measure, bench)
    notes = [*loaded.notes, *found.notes, *([] if asked else _busy())]
    return verdict_of(evaluation, found, machine, notes)


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


def _reference(loaded: Loaded) -> Program:
    if loaded.reference is None:
        raise InputError(f"{loaded.problem.id} has no faster version of its own; give a file as CANDIDATE")
    return loaded.reference


def _candidate(path: Path, problem: Problem) -> Program:
    try:
        return problem.program.with_text(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the candidate {path}: {error}") from error


_MAY_CHANGE = frozenset({"budget", "caps", "machine_code", "notes", "tests", "replay"})


def _header(request: Request, found: Admitted, machine: Machine, notes: list[str]) -> dict[str, Any]:
    problem = found.problem
    caps = {name: bound for name, bound in dataclasses.asdict(request.caps).items() if bound is not None}
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
        "critic": request.critic,
        "answer": request.answer,
        "without": sorted(request.without),
        **({"replay": str(request.replay)} if request.replay is not None else {}),
        "prompts": prompts.digest(),
        "seed": request.seed,
        **({"budget": request.budget} if request.budget < MANY else {}),
        "caps": caps,
        "digest": digest(problem),
        "sandbox": machine.sandbox,
        "machine": dataclasses.asdict(machine),
        "tests": tests_of(found),
        **({"machine_code": msgspec.to_builtins(code)} if (code := found.baseline.machine_code) is not None else {}),
        "notes": notes,
    }


def _of_suite(loaded: Loaded) -> dict[str, Any]:
    """What the header says beside it of a problem of a suite, and of a module's shapes."""
    module = loaded.problem.spec.module
    found: dict[str, Any] = {}
    if module is not None:
        found = {"device": module.device, "constants": dict(module.constants)}
    return found if loaded.origin is None else {**found, "suite": loaded.origin.as_table()}


def _write(request: Request, out: Path, result: Result, found: Admitted, notes: list[str]) -> RunResult:
    best, machine = result.best, result.machine or NOWHERE
    states = [state for state in result.reached if state.step is not None]
    if best is not None and best.step is not None:
        _write_tree(out / "best", best.program)
        (out / "best.diff").write_text(_diff(found.problem.program, best.program))
        verdict = verdict_of(best.step.evaluation, found, machine, notes)
        where = out / "best" / best.program.name
    else:
        verdict = nothing_won(found, machine, notes)
        where = request.source / found.problem.program.name if request.source.is_dir() else request.source
    verdict = dataclasses.replace(
        verdict,
        candidates=len(states),
        outcomes=dict(Counter(state.outcome.value for state in states)),
        spent=paid(result.spent),
        stopped=result.stopped or None,
        ended=result.ended or None,
        best=str(where),
        record=str(out),
        report=str(write_report(out)),
    )
    return _saved(verdict, out)


def _saved(verdict: RunResult, out: Path) -> RunResult:
    write_whole(out / "result.json", f"{verdict.as_json()}\n".encode())
    return verdict


def _diff(before: Program, after: Program) -> str:
    return "".join(unified_diff(text, after.files[path], path) for path, text in before.files.items())


def _busy() -> list[str]:
    waiting = pressure()
    if waiting is None or waiting < BUSY:
        return []
    return [f"{BUSY_NOTE} (CPU pressure {waiting:.0f} %): intervals are wider than they need be"]


def _write_tree(folder: Path, program: Program) -> None:
    for path, text in program.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
