"""Racing the winners of two runs side by side, on this machine: what the recorded ratios cannot say for certain.

The one winner takes the place of the original and the other is evaluated against it, with all that an evaluation has:
the sandbox, every test, pairs in random order, a confirmation on fresh pairs.  A race that does not prove the second
faster is held the other way round too, because each proves one direction only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from maxcode.bench.versus import ComparedRun, Word
from maxcode.core.types import Interval
from maxcode.errors import InputError
from maxcode.problems import Loaded, digest, load
from maxcode.run.candidate_result import CandidateResult, Speedup
from maxcode.run.evaluation import evaluate_loaded


@final
@dataclass(frozen=True, slots=True)
class Raced:
    """``ratio``: the first winner's speed-up over the second, None where it could not be measured; ``why`` says what
    kept it from being measured or significant; ``verdict`` is the evaluation that it comes from."""

    ratio: Interval | None
    word: Word
    why: str
    verdict: CandidateResult


@final
@dataclass(frozen=True, slots=True)
class Ground:
    """Where the race is held: the problem's ``source``, empty = that which the first run names, its ``tests`` and what
    replaces keys of its problem.toml; ``force``: although it is not the problem of the runs."""

    source: Path | None = None
    tests: Path | None = None
    overrides: Mapping[str, Any] | None = None
    force: bool = False


def raced(
    first: ComparedRun, second: ComparedRun, ground: Ground, say: Callable[[str], None] = lambda words: None
) -> Raced:
    """Race two winners; a run without one enters with its original.  InputError where the problem is not there, is not
    that of the runs, or is a module, whose reference no candidate can take the place of."""
    source = ground.source or Path(str(first.header.get("source", "")))
    recorded = {key: first.header[key] for key in ("flags", "goal") if key in first.header}
    loaded = load(source, ground.tests, {**recorded, **(ground.overrides or {})})
    if not loaded.problem.traits.is_replaceable:
        raise InputError(
            f"{source} is a PyTorch module: a winner cannot stand in for the reference, so two of them are not raced "
            "side by side; compare what is recorded (leave out --measure)"
        )
    if digest(loaded.problem) not in (first.header.get("digest"), None) and not ground.force:
        raise InputError(
            f"{source} is not the problem of {first.folder} any more, or that had other options (its digest differs); "
            "give --problem, --tests and the options of that run, or --force"
        )
    ahead, behind = (first, second) if first.speedup.value >= second.speedup.value else (second, first)
    told = [_raced(ahead, behind, loaded, say)]
    if not _is_proved(told[0]):
        told.append(_raced(behind, ahead, loaded, say))
    proved = [(verdict, at) for at, verdict in enumerate(told) if _is_proved(verdict)]
    verdict, at = proved[0] if proved else (told[0], 0)
    turned = (ahead is first) == bool(at)  # the candidate was the second run's winner
    ratio = None if verdict.speedup is None else _interval(verdict.speedup, turned)
    if not proved:
        return Raced(ratio, "not significant", _why(verdict), verdict)
    return Raced(ratio, "second" if turned else "first", "", verdict)


def _raced(
    candidate: ComparedRun, original: ComparedRun, loaded: Loaded, say: Callable[[str], None]
) -> CandidateResult:
    """The slower one by the record is the original first: its runs are long enough to be timed where any are."""
    say(f"racing the winner of {candidate.folder} against that of {original.folder}")
    problem = replace(loaded.problem, program=original.winner or original.original)
    return evaluate_loaded(candidate.winner or candidate.original, replace(loaded, problem=problem))


def _is_proved(verdict: CandidateResult) -> bool:
    return verdict.speedup is not None and verdict.speedup.confirmed


def _why(verdict: CandidateResult) -> str:
    return verdict.why or "; ".join(verdict.reasons) or verdict.outcome.value


def _interval(found: Speedup, turned: bool) -> Interval:
    if turned:
        return Interval(1 / found.value, 1 / found.high, 1 / found.low, found.confidence)
    return Interval(found.value, found.low, found.high, found.confidence)
