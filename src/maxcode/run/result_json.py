"""The JSON contract of ``optimize`` and ``evaluate``: what was found, in plain fields that scripts may count on."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import msgspec

from maxcode.core.types import Clock, Evaluation, Interval, Machine, Node, Recheck, Spent, Timing
from maxcode.evaluate.ladder.prepare import Admitted


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
    pressure: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Rate:
    """1e9 floating-point operations or bytes a second, with the interval, and as a share (0..1) of what the machine can
    do."""

    value: float
    low: float
    high: float
    roofline: float
    share: float


@final
@dataclass(frozen=True, slots=True)
class Paid:
    """What the run has cost, resumes included: wall ``seconds`` at work, and all model calls, the critic's too.
    ``dollars`` is null where a price is not known."""

    seconds: float
    calls: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None


@final
@dataclass(frozen=True, slots=True)
class RunResult:
    """One job's answer.  ``gflops`` is there for functions, ``gbytes`` where they give the bytes of a call, ``single``
    (the speed-up on one core, by CPU time) where the wall clock is the goal, ``seconds`` (the confirmation by CPU time)
    where instructions are, ``instructions`` where they were counted to break a tie, ``over_compiled`` (against
    torch.compile of the reference) for modules, ``remarks`` (line, kind, text: registers, spills, shared memory) for
    kernels of a GPU, ``harsher`` (triggers, inputs, passed, why, result) where a winner was verified a second time,
    ``pie_correct`` (what PIE's own checker says, which decides nothing) for its problems; the fields after these are
    for ``optimize``; ``unseen`` (an interval or none, inputs, told) is a certified winner's speed-up on inputs that
    nobody was shown; ``ended`` is the cap that ended it; ``node`` is the benchmark node that measured it, and
    ``cluster`` what the slots of the run did, where it ran on a cluster (``cluster.utilisation.Report``).

    ``outcome`` "unverified" is no verdict: the candidate was compiled, or not even that, and never ran."""

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
    gbytes: Rate | None = None
    single: dict[str, float] | None = None
    seconds: Speedup | None = None
    instructions: dict[str, float] | None = None
    over_compiled: dict[str, float] | None = None
    remarks: list[dict[str, int | str]] | None = None
    harsher: dict[str, Any] | None = None
    pie_correct: bool | None = None
    candidates: int | None = None
    outcomes: dict[str, int] | None = None
    best: str | None = None
    record: str | None = None
    report: str | None = None
    spent: Paid | None = None
    stopped: bool | None = None
    certificate: str | None = None
    unseen: dict[str, Any] | None = None
    ended: str | None = None
    node: Node | None = None
    cluster: dict[str, Any] | None = None

    def as_json(self) -> str:
        """One object; the fields that belong to ``optimize`` alone are left out for ``evaluate``."""
        known = {key: value for key, value in dataclasses.asdict(self).items() if value is not None or key in _NULLABLE}
        return msgspec.json.encode(known).decode()


_NULLABLE = frozenset({"speedup", "why"})


def verdict_of(evaluation: Evaluation, found: Admitted, machine: Machine, notes: Sequence[str]) -> RunResult:
    """The verdict on one program."""
    timing = evaluation.timing
    speedup = why = None
    if timing is not None:
        speedup = _speedup(timing)
        ended = "; ".join(evaluation.warnings) or f"not significant: the race ended as '{timing.verdict}'"
        why = None if timing.significant else ended
    else:
        why = "; ".join(evaluation.warnings or found.notes[-1:]) or f"not timed: {evaluation.outcome.value}"
    return RunResult(
        gflops=_rate(timing.gflops, timing.roofline) if timing is not None else None,
        gbytes=_rate(timing.gbytes, timing.memory_roof) if timing is not None else None,
        single=_fields(timing.single if timing is not None else None),
        seconds=_speedup(timing.seconds) if timing is not None and timing.seconds is not None else None,
        instructions=_fields(timing.instructions if timing is not None else None),
        over_compiled=_fields(timing.over_compiled if timing is not None else None),
        harsher=_harsher(evaluation.harsher),
        pie_correct=evaluation.pie_correct,
        node=evaluation.node,
        outcome=evaluation.outcome.value,
        reasons=list(evaluation.feedback.reasons),
        speedup=speedup,
        why=why,
        confirmed=timing is not None and timing.confirmed,
        tests=tests_of(found),
        inputs_timed=len(timing.inputs) if timing is not None else 0,
        sandbox=machine.sandbox,
        machine=machine,
        remarks=_remarks(evaluation) if found.problem.traits.shows_operators else None,
        notes=[*notes, *(evaluation.warnings if timing is not None and timing.significant else ())],
    )


def _speedup(timing: Timing) -> Speedup:
    s, pressure = timing.speedup, timing.pressure
    return Speedup(s.value, s.low, s.high, s.confidence, timing.significant, timing.clock, timing.pairs, pressure)


def _remarks(evaluation: Evaluation) -> list[dict[str, int | str]] | None:
    return [{"line": one.line, "kind": one.kind, "text": one.text} for one in evaluation.remarks] or None


def _fields(interval: Interval | None) -> dict[str, float] | None:
    return dataclasses.asdict(interval) if interval is not None else None


def _harsher(found: Recheck | None) -> dict[str, Any] | None:
    return {**dataclasses.asdict(found), "result": found.result} if found is not None else None


def nothing_won(found: Admitted, machine: Machine, notes: Sequence[str]) -> RunResult:
    """The verdict of a run in which nothing was confirmed to be faster."""
    why = "no candidate was confirmed to be faster than the original"
    same = Speedup(1.0, 1.0, 1.0, 1.0, False, found.problem.goal, 0)
    verdict = verdict_of(found.baseline, found, machine, notes)
    return dataclasses.replace(verdict, speedup=same, why=why) if found.timed else verdict


def _rate(rate: Interval | None, roof: float) -> Rate | None:
    return Rate(rate.value, rate.low, rate.high, roof, rate.value / roof) if rate is not None and roof else None


def tests_of(found: Admitted) -> dict[str, int]:
    """How many tests there are, by origin."""
    counts = {origin: found.count(origin) for origin in ("seen", "held_out", "generated")}
    if larger := found.count("made"):
        counts["made"] = larger
    return {**counts, "dropped": len(found.dropped)}


def paid(spent: Spent) -> Paid:
    """What a result says it has used."""
    usage = spent.usage
    return Paid(round(spent.seconds, 1), usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.dollars)
