"""The work of a recorded run by batch: its candidates, their outcomes, and the number of timed passes.

It is read from ``events.jsonl`` alone.  Times in it become ``Gap``s, from which costs are estimated (``costs.py``);
they are never part of the work.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import final

from maxcode.core.types import Evaluation, Outcome, Timing
from maxcode.run.batch import AHEAD
from maxcode.run.record import Batch, Critiqued, Evaluated, Line, Opened, Proposed, Settled, read_events

REUSED = "is used again"


@final
@dataclass(frozen=True, slots=True)
class Work:
    """One candidate.

    ``passes``   0 if nothing was timed, because it came no further or has the same program as a timed one
    ``beside``   the further time of a pass, as a share of the original's seconds, candidate and incumbent together
    ``sides``    the programs of a pass
    ``reused``   not even built
    ``low``, ``high``  the ends of the speed-up's interval if it may become the best, else 0
    """

    passes: int
    beside: float = 0.0
    sides: int = 2
    correct: bool = False
    reused: bool = False
    low: float = 0.0
    high: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Contest:
    """The confirmation at the end of a batch: new builds, races between them, confirmed winners (0 or 1), the passes of
    each, and ``beside`` as in ``Work``."""

    fresh: int = 0
    races: int = 0
    confirmed: int = 0
    passes: int = 0
    beside: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Round:
    """One batch."""

    works: tuple[Work, ...]
    contest: Contest


@final
@dataclass(frozen=True, slots=True)
class Gap:
    """Seconds of one part in a batch of one candidate, in which nothing overlapped."""

    what: Work | Contest | None  # None: the proposal
    seconds: float


@final
@dataclass(frozen=True, slots=True)
class Recorded:
    """A finished run.  ``pressure``: the mean CPU pressure in per cent while it timed, None if it is not recorded;
    ``original_s``: CPU seconds of the original in a pass."""

    folder: Path
    problem: str
    method: str
    policy: str
    rounds: tuple[Round, ...]
    gaps: tuple[Gap, ...]
    seconds: float
    pressure: float | None
    original_s: float

    @property
    def candidates(self) -> int:
        return sum(len(one.works) for one in self.rounds)


def recorded(folder: Path) -> Recorded:
    """The run in a folder, up to its last final batch."""
    header = tomllib.loads((folder / "run.toml").read_text())
    lines = list(read_events(folder))
    if sum(isinstance(line, Opened) for line in lines) != 1:
        raise ValueError(f"{folder} was resumed: its times hold a pause; choose a run that was not")
    rounds, gaps, best = [], [], None
    for batch in _batches(lines):
        works = tuple(_works(batch, best))
        contest, best = _contest(batch, best)
        rounds.append(Round(works, contest))
        gaps += _gaps(batch, works, contest)
    timings = [line.evaluation.timing for line in lines if isinstance(line, Evaluated) and line.evaluation.timing]
    pressures = [timing.pressure for timing in timings if timing.pressure is not None]
    originals = [sample[0] for timing in timings for sample in timing.samples]
    return Recorded(
        folder,
        header["problem"],
        header["method"],
        header["policy"],
        tuple(rounds),
        tuple(gaps),
        max((line.t for line in lines if isinstance(line, Settled)), default=lines[0].t) - lines[0].t,
        fmean(pressures) if pressures else None,
        fmean(originals) if originals else 0.0,
    )


@final
@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of one batch; ``evaluated`` in slot order."""

    began: float
    proposed: dict[int, float]
    evaluated: tuple[Evaluated, ...]
    critiqued: dict[int, float]
    settled: Settled


def _batches(lines: Sequence[Line]) -> list[_Lines]:
    found = []
    for settled in (line for line in lines if isinstance(line, Settled)):
        number = settled.batch
        began = next(line.t for line in lines if isinstance(line, Batch) and line.batch == number)
        mine = [line for line in lines if isinstance(line, Evaluated) and line.at[0] == number]
        proposed = {line.at[1]: line.t for line in lines if isinstance(line, Proposed) and line.at[0] == number}
        critiqued = {line.at[1]: line.t for line in lines if isinstance(line, Critiqued) and line.at[0] == number}
        found.append(_Lines(began, proposed, tuple(sorted(mine, key=lambda line: line.at)), critiqued, settled))
    return found


def _works(batch: _Lines, best: Evaluation | None) -> Iterator[Work]:
    """By slot.  Twins share their samples: the first of them was timed."""
    seen: set[tuple[tuple[float, float], ...]] = set()
    for one in batch.evaluated:
        timing = one.evaluation.timing
        if any(REUSED in warning for warning in one.evaluation.warnings):
            yield Work(0, reused=True)
        elif timing is None or timing.samples in seen:
            yield Work(0, correct=timing is not None)
        else:
            seen.add(timing.samples)
            yield _timed(one.evaluation, timing, best)


def _timed(found: Evaluation, timing: Timing, best: Evaluation | None) -> Work:
    incumbent = 1 / best.timing.speedup.value if timing.over_rival is not None and best and best.timing else 0.0
    beside = 1 / timing.speedup.value + incumbent
    low, high = (timing.speedup.low, timing.speedup.high) if _may_lead(found) else (0.0, 0.0)
    return Work(timing.pairs, beside, 2 + (timing.over_rival is not None), correct=True, low=low, high=high)


def _contest(batch: _Lines, best: Evaluation | None) -> tuple[Contest, Evaluation | None]:
    """How the new best was found, and which it is.  The challengers are found as in ``batch.challengers``."""
    may = [one.evaluation for one in batch.evaluated if _may_lead(one.evaluation)]
    lows = [one.timing.speedup.low for one in (*may, *([best] if best else [])) if one.timing]
    count = sum(one.timing is not None and one.timing.speedup.high >= max(lows) for one in may)
    if not count:
        return Contest(), best
    anew = [one for one in batch.settled.evaluations.values() if one.timing is not None and one.timing.confirmed]
    fallen = [one for one in batch.settled.evaluations.values() if one.timing is None]
    leads = [one for one in anew if one.outcome is Outcome.CORRECT and one.timing and one.timing.significant]
    fresh = count + (best is not None)
    passes = sum(one.timing.pairs for one in anew if one.timing)
    beside = sum(1 / one.timing.speedup.value for one in anew if one.timing)
    contest = Contest(fresh, max(0, fresh - len(fallen) - 1), len(anew), passes, beside)
    lost = batch.settled.champion is not None
    return contest, leads[0] if leads else (None if lost else best)


def _may_lead(found: Evaluation) -> bool:
    timing = found.timing
    if found.outcome is not Outcome.CORRECT or timing is None or not timing.significant or timing.confirmed:
        return False
    ahead = timing.over_rival is None or timing.over_rival.value > AHEAD
    return ahead and not any(REUSED in warning for warning in found.warnings)


def _gaps(batch: _Lines, works: Sequence[Work], contest: Contest) -> list[Gap]:
    """The gaps of a batch: all of them for a batch of one candidate, else only the last."""
    ended = max([*batch.critiqued.values(), *(line.t for line in batch.evaluated)])
    found = [Gap(contest, batch.settled.t - ended)]
    if len(works) == 1:
        slot = batch.evaluated[0].at[1]
        found.append(Gap(None, batch.proposed[slot] - batch.began))
        found.append(Gap(works[0], batch.evaluated[0].t - batch.proposed[slot]))
    return found
