"""Races the winners of two runs in one session on this machine, which is more certain than the recorded ratios.

One winner replaces the original, and the other is evaluated against it as usual: the sandbox, every test, pairs in
random order, a confirmation on fresh pairs.  If the race does not prove the second one faster, a second race swaps the
two, because a race proves only one direction.
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
from maxcode.run.candidate_result import CandidateResult
from maxcode.run.evaluation import evaluate_loaded
from maxcode.run.figures import Speedup


@final
@dataclass(frozen=True, slots=True)
class Raced:
    """``ratio``: the first winner's speed-up over the second, None if it could not be measured; ``why``: the reason why
    it was not measured or is not significant; ``verdict``: the evaluation that gave it."""

    ratio: Interval | None
    word: Word
    why: str
    verdict: CandidateResult


@final
@dataclass(frozen=True, slots=True)
class Ground:
    """The problem of the race: ``source`` (empty: that of the first run), ``tests``, and replaced keys of problem.toml.
    ``force``: race even if it is not the problem of the runs."""

    source: Path | None = None
    tests: Path | None = None
    overrides: Mapping[str, Any] | None = None
    force: bool = False


def raced(
    first: ComparedRun, second: ComparedRun, ground: Ground, say: Callable[[str], None] = lambda words: None
) -> Raced:
    """Races two winners; a run without one enters with its original.  Raises InputError if the problem is missing, is
    not that of the runs, or is a module, because no candidate can replace a module's reference."""
    source = ground.source or Path(str(first.header.get("source", "")))
    recorded = {key: first.header[key] for key in ("flags", "goal") if key in first.header}
    loaded = load(source, ground.tests, {**recorded, **(ground.overrides or {})})
    if not loaded.problem.traits.is_replaceable:
        raise InputError(
            f"{source} is a PyTorch module: a winner cannot replace the reference, so two winners cannot be raced; "
            "compare the recorded speed-ups (leave out --measure)"
        )
    if digest(loaded.problem) not in (first.header.get("digest"), None) and not ground.force:
        raise InputError(
            f"{source} is not the problem of {first.folder}, or that run had other options (the digests differ); "
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
        why = verdict.why or "; ".join(verdict.reasons) or verdict.outcome.value
        return Raced(ratio, "not significant", why, verdict)
    return Raced(ratio, "second" if turned else "first", "", verdict)


def _raced(
    candidate: ComparedRun, original: ComparedRun, loaded: Loaded, say: Callable[[str], None]
) -> CandidateResult:
    """Takes the winner with the lower recorded speed-up as the original first: its runs are longer to time."""
    say(f"racing the winner of {candidate.folder} against that of {original.folder}")
    problem = replace(loaded.problem, program=original.winner or original.original)
    return evaluate_loaded(candidate.winner or candidate.original, replace(loaded, problem=problem))


def _is_proved(verdict: CandidateResult) -> bool:
    return verdict.speedup is not None and verdict.speedup.confirmed


def _interval(found: Speedup, turned: bool) -> Interval:
    if turned:
        return Interval(1 / found.value, 1 / found.high, 1 / found.low, found.confidence)
    return Interval(found.value, found.low, found.high, found.confidence)
