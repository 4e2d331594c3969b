"""A situation as a vector of numbers, for models that read no text.

An unknown number is NaN: all results of execution, for a candidate before execution.  ``VERSION`` changes when a name
or a meaning changes, so that no model reads numbers it was not trained on.
"""

from __future__ import annotations

import hashlib
import math

from maxcode.core.types import Evaluation, MachineCode, Outcome, Remark, Step
from maxcode.search.value.code import COUNTS, code, likeness
from maxcode.search.value.situation import Situation

_REVISION = 2  # raise it when a feature keeps its name and changes its meaning
_KNOWN = [outcome for outcome in Outcome if outcome is not Outcome.QUARANTINED]
_RUNGS = {outcome: float(rung) for rung, outcome in enumerate(_KNOWN)} | {Outcome.QUARANTINED: math.nan}
_BODY = (
    "depth",
    "instructions",
    "work",
    "lanes",
    "sums",
    "chain",
    "loads",
    "stores",
    "spills",
    "shuffles",
    "divisions",
    "calls",
    "rate",
)
_MACHINE = ("instructions", "loops", "bodies", "best rate", *(f"busiest {name}" for name in _BODY))
_EXECUTED = (
    "rung",
    "reward",
    "low",
    "high",
    "significant",
    "failed",
    "tests",
    "seconds",
    "roofline",
    "hottest",
    "missed",
    "optimized",
    "diagnostics",
    "critique",
    "gain",
)
NAMES = (
    "depth",
    "u before",
    "u",
    "executed",
    "like original",
    "like parent",
    "repeats parent",
    *(f"now: {name}" for name in COUNTS),
    *(f"change: {name}" for name in COUNTS),
    "original: tokens",
    "original: depth",
    "original: main",
    "previous: rung",
    "previous: reward",
    *(f"last: {name}" for name in _EXECUTED),
    *(f"machine: {name}" for name in _MACHINE),
    *(f"machine, change: {name}" for name in _MACHINE),
    *(f"machine, over original: {name}" for name in _MACHINE),
)
VERSION = f"{_REVISION}-{hashlib.sha256('/'.join(NAMES).encode()).hexdigest()[:12]}"
_NAN = math.nan


def features(one: Situation) -> list[float]:
    """The numbers of a situation, in the order of ``NAMES``; NaN = unknown."""
    now, before = code(one.language, one.program), code(one.language, one.parent)
    original = code(one.language, one.original)
    previous = one.previous
    return [
        float(one.depth),
        _log(one.u_before),
        _log(one.u),
        float(one.step is not None),
        likeness(now.bag, original.bag),
        likeness(now.bag, before.bag),
        float(now.bag == before.bag),
        *now.counts,
        *(a - b for a, b in zip(now.counts, before.counts, strict=True)),
        original.counts[COUNTS.index("tokens")],
        original.counts[COUNTS.index("depth")],
        float("main" in original.bag),
        _RUNGS[previous.evaluation.outcome] if previous is not None else _NAN,
        _log(previous.reward) if previous is not None else _NAN,
        *(_executed(one.step, one.previous) if one.step is not None else [_NAN] * len(_EXECUTED)),
        *(machine := _machine(one.code)),
        *(a - b for a, b in zip(machine, _machine(one.parent_code), strict=True)),
        *(a - b for a, b in zip(machine, _machine(one.original_code), strict=True)),
    ]


def _machine(found: MachineCode | None) -> list[float]:
    """Logarithms of the work of a program's loops; all 0 for a program that does not build."""
    if found is None:
        return [_NAN] * len(_MACHINE)
    best = max((body.rate for body in found.bodies), default=0.0)
    busy = [body for body in found.bodies if body.work]
    counts = [found.instructions, found.loops, len(busy), best]
    busiest: list[float] = [getattr(found.bodies[0], name) for name in _BODY] if found.bodies else [0.0] * len(_BODY)
    return [math.log1p(number) for number in (*counts, *busiest)]


def _executed(step: Step, previous: Step | None) -> list[float]:
    found = step.evaluation
    timing = found.timing
    before = previous.reward if previous is not None else 1.0
    failed = [case.outcome is not Outcome.CORRECT for case in found.feedback.cases]
    seconds = [found.measures[case.name] for case in found.feedback.cases if case.name in found.measures]
    return [
        _RUNGS[found.outcome],
        _log(step.reward),
        _log(timing.speedup.low) if timing is not None else _NAN,
        _log(timing.speedup.high) if timing is not None else _NAN,
        float(timing.significant) if timing is not None else _NAN,
        sum(failed) / len(failed) if failed else _NAN,
        float(len(failed)),
        _log(sum(seconds)) if seconds else _NAN,  # the other measures are what judging takes
        _roofline(found),
        max((spot.share for spot in found.profile), default=_NAN),
        _remarks(found.remarks, "missed"),
        _remarks(found.remarks, "optimized"),
        math.log1p(len(found.feedback.diagnostics)),
        math.log1p(len(step.critique)),
        _log(step.reward) - _log(before),
    ]


def _roofline(found: Evaluation) -> float:
    timing = found.timing
    if timing is None or timing.gflops is None or timing.roofline <= 0:
        return _NAN
    return timing.gflops.value / timing.roofline


def _remarks(remarks: tuple[Remark, ...], kind: str) -> float:
    return math.log1p(sum(remark.kind == kind for remark in remarks)) if remarks else _NAN


def _log(value: float) -> float:
    """The logarithm of a speed-up or of seconds, with a lower bound for 0."""
    return math.log(max(value, 1e-6))
