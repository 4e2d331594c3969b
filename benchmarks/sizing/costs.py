"""The cost of each step of an evaluation, from runs of one candidate at a time.

In such runs nothing overlaps, so each recorded gap is the time of one part: non-negative least squares gives the shares
of a build, a pass and a confirmation in it.  The predicted runs are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import final

import numpy as np
from scipy.optimize import nnls

from sizing.workload import Contest, Gap, Recorded, Work


@final
@dataclass(frozen=True, slots=True)
class Costs:
    """Wall seconds on an idle machine.

    ``propose_s``  a proposal
    ``build_s``    reject, build, verify, profile; ``stopped_s``: the same for a candidate that is not timed
    ``side_s``     start and check of one program of a pass
    ``original_s`` CPU seconds of the original in a pass; ``per_cpu_s``: wall seconds for one of these
    ``fresh_s``, ``race_s``, ``confirm_s``  parts of a contest (``workload.Contest``); ``contest_factor``: their factor
    ``engine_s``   what an engine adds to a task on its way to a node and back
    """

    propose_s: float
    build_s: float
    stopped_s: float
    side_s: float
    original_s: float
    per_cpu_s: float
    fresh_s: float
    race_s: float
    confirm_s: float
    engine_s: float = 0.0
    contest_factor: float = 1.0

    def of_building(self, work: Work) -> float:
        return self.build_s if work.correct else self.stopped_s

    def of_timing(self, work: Work) -> float:
        return work.passes * self.of_pass(work.sides, work.beside)

    def of_pass(self, sides: int, beside: float) -> float:
        return sides * self.side_s + self.per_cpu_s * self.original_s * (1 + beside)

    def of_contest(self, contest: Contest) -> float:
        known = contest.fresh * self.fresh_s + contest.races * self.race_s + contest.confirmed * self.confirm_s
        return self.contest_factor * (known + contest.passes * self.of_pass(2, contest.beside))


def measured(runs: Sequence[Recorded]) -> Costs:
    """The costs of a problem; raises ValueError if no run expanded one state at a time."""
    gaps = [gap for run in runs for gap in run.gaps if all(len(one.works) == 1 for one in run.rounds)]
    timed = [gap for gap in gaps if isinstance(gap.what, Work) and gap.what.passes]
    if not timed:
        raise ValueError(f"no run of {runs[0].problem} with one candidate at a time: make one with --method refine")
    original_s = fmean(run.original_s for run in runs)
    build_s, side_s, per_cpu_s = _solved(timed, original_s)
    costs = Costs(
        propose_s=fmean(gap.seconds for gap in gaps if gap.what is None),
        build_s=build_s,
        stopped_s=_stopped(gaps, build_s),
        side_s=side_s,
        original_s=original_s,
        per_cpu_s=per_cpu_s,
        fresh_s=0.0,
        race_s=0.0,
        confirm_s=0.0,
    )
    return _with_contests(costs, gaps)


def _solved(timed: Sequence[Gap], original_s: float) -> list[float]:
    rows = []
    for gap in timed:
        assert isinstance(gap.what, Work)
        work = gap.what
        rows.append([1.0, work.passes * work.sides, work.passes * original_s * (1 + work.beside)])
    return _least_squares(rows, [gap.seconds for gap in timed])


def _with_contests(costs: Costs, gaps: Sequence[Gap]) -> Costs:
    """The costs with those of contests, whose passes cost as much as other passes."""
    held = [(gap.what, gap.seconds) for gap in gaps if isinstance(gap.what, Contest) and gap.what.fresh]
    if not held:
        return costs
    rows = [[float(one.fresh), float(one.races), float(one.confirmed)] for one, _ in held]
    found = _least_squares(rows, [seconds - costs.of_contest(one) for one, seconds in held])
    return replace(costs, fresh_s=found[0], race_s=found[1], confirm_s=found[2])


def _least_squares(rows: Sequence[Sequence[float]], seconds: Sequence[float]) -> list[float]:
    found, _ = nnls(np.array(rows), np.array(seconds))
    return [float(one) for one in found]


def _stopped(gaps: Sequence[Gap], build_s: float) -> float:
    seconds = [gap.seconds for gap in gaps if isinstance(gap.what, Work) and not (gap.what.correct or gap.what.reused)]
    return fmean(seconds) if seconds else build_s
