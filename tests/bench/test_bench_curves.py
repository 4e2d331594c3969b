"""Curves are made of what the records say of the best so far, worked out by hand for small ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from maxcode.bench import AXES, BenchRun, Trace, curves, read_row, table
from maxcode.bench.trace import best_at, trace_of, tried_in
from maxcode.core.types import Action, CaseResult, Evaluation, Feedback, Interval, Outcome, StateId, Usage
from maxcode.run.record import Batch, Evaluated, Line, Proposed, Record, Settled
from maxcode.testing import exact_timing
from tests.support.bench_help import row, runner

ROOT = (0, 0)


def judged(speedup: float | None, confirmed: bool = False, low: float = 0.0) -> Evaluation:
    """An evaluation; None: wrong."""
    if speedup is None:
        return Evaluation(Outcome.WRONG)
    timing = dataclasses.replace(exact_timing(speedup), confirmed=confirmed)
    interval = Interval(speedup, low or speedup, speedup)
    return Evaluation(Outcome.CORRECT, timing=dataclasses.replace(timing, speedup=interval))


def recorded(folder: Path, lines: list[Line]) -> Path:
    folder.mkdir()
    with Record(folder, clock=iter(range(1000, 2000)).__next__) as record:
        for line in lines:
            record.append(line)
    return folder


def slots(batch: int, parents: list[StateId], races: list[float | None], tokens: int = 0) -> list[Line]:
    """A batch whose candidates were all evaluated, the last slot first."""
    found: list[Line] = [Batch(batch=batch, parents=tuple(parents))]
    ids = [(batch, slot) for slot in range(len(parents))]
    found += [Proposed(at=at, action=Action(None, usage=Usage(1, tokens, 0))) for at in ids]
    found += [
        Evaluated(at=at, evaluation=judged(race)) for at, race in zip(reversed(ids), reversed(races), strict=True)
    ]
    return found


# Batch 1, from the original: 1.5 by its race, wrong, 2.0 by its race and confirmed as 1.8, 1.9 by its race (it lost).
# Batch 2, from the leader: 1.7, then 3.0, which the confirmation refutes as 1.0.
TWO = [
    *slots(1, [ROOT] * 4, [1.5, None, 2.0, 1.9], tokens=10),
    Settled(batch=1, evaluations={2: judged(1.8, confirmed=True)}),
    *slots(2, [(1, 2)] * 2, [1.7, 3.0], tokens=20),
    Settled(batch=2, evaluations={1: judged(1.0, confirmed=True)}),
]


def test_a_candidate_counts_for_the_last_word_on_it_and_for_no_more_than_what_was_confirmed(tmp_path: Path) -> None:
    tried = tried_in(recorded(tmp_path / "run", TWO))
    assert [one.worth for one in tried] == [1.5, 1.0, 1.8, 1.8, 1.7, 1.0]
    assert [one.word.value for one in tried] == [1.5, 0.0, 1.8, 1.9, 1.7, 1.0]
    assert [one.depth for one in tried] == [1, 1, 1, 1, 2, 2]


def test_pie_s_checker_has_a_word_of_its_own_where_it_was_asked(tmp_path: Path) -> None:
    said = [("a", True), ("b", True)], [("a", True), ("b", False)], [("a", None)]
    cases = [tuple(CaseResult(name, Outcome.WRONG, 0.1, True, pie=pie) for name, pie in one) for one in said]
    lines: list[Line] = [Batch(batch=1, parents=(ROOT,) * 4)]
    lines += [Proposed(at=(1, slot), action=Action(None)) for slot in range(4)]
    wrong = [Evaluation(Outcome.WRONG, Feedback(cases=one)) for one in cases]
    lines += [Evaluated(at=(1, slot), evaluation=one) for slot, one in enumerate([*wrong, judged(1.5)])]
    tried = tried_in(recorded(tmp_path / "run", [*lines, Settled(batch=1)]))
    found = [(one.word.correct, one.word.by_pie) for one in tried]
    assert found == [(False, True), (False, False), (False, False), (True, True)]


def test_best_so_far_along_every_axis_is_that_worked_out_by_hand(tmp_path: Path) -> None:
    tried = tried_in(recorded(tmp_path / "run", TWO))
    trace = trace_of(tried, tokens=140, dollars=1.4, seconds=18)
    assert trace.candidates == ((0, 1), (1, 1.5), (3, 1.8), (6, 1.8))
    assert trace.depth == ((0, 1), (1, 1.8), (2, 1.8))
    assert trace.tokens == ((0, 1), (20, 1.5), (60, 1.8), (140, 1.8))  # 10 of each, and 60 / 6 of the critics'
    assert trace.seconds == ((0, 1), (10, 1.8), (18, 1.8))  # known when the batch was over, ten lines after the first
    assert [best_at(trace.candidates, x) for x in (0, 1, 2, 3, 99)] == [1, 1.5, 1.5, 1.8, 1.8]


def test_a_leader_that_is_refuted_later_counts_for_nothing_from_the_start(tmp_path: Path) -> None:
    refuted = [
        *slots(1, [ROOT] * 2, [1.2, 2.0]),
        Settled(batch=1, evaluations={1: judged(2.0, confirmed=True)}),
        *slots(2, [ROOT], [1.1]),
        Settled(batch=2, champion=((1, 1), judged(None)), evaluations={0: judged(1.1, confirmed=True)}),
    ]
    tried = tried_in(recorded(tmp_path / "run", refuted))
    assert trace_of(tried, 0, 0.0, 9).candidates == ((0, 1), (1, 1.1), (3, 1.1))


def test_axes_that_the_record_does_not_know_are_empty(tmp_path: Path) -> None:
    free = trace_of(tried_in(recorded(tmp_path / "run", slots(1, [ROOT], [2.0]))), 0, 0.0, 1.0)
    assert (free.tokens, free.dollars) == ((), ())
    assert trace_of(tried_in(tmp_path / "run"), 50, None, 1.0).dollars == ()


def test_a_curve_is_the_geometric_mean_over_problems_of_seeds_averaged(tmp_path: Path) -> None:
    rows = [
        dataclasses.replace(row(p, "a", seed, 1.0), trace=Trace(candidates=((0, 1.0), (at, gain), (4, gain))))
        for p, seed, at, gain in [("p", 0, 1, 2.0), ("p", 1, 1, 8.0), ("q", 0, 3, 4.0), ("q", 1, 4, 4.0)]
    ]
    (curve,) = curves(rows, "candidates")
    assert [x for x, _ in curve.points] == [0, 1, 2, 3, 4]
    values = [interval.value for _, interval in curve.points]
    assert values == pytest.approx([1, 2, 2, (4 * 2) ** 0.5, 4])
    assert all(interval.low <= interval.value <= interval.high for _, interval in curve.points)
    assert curves(list(reversed(rows)), "candidates") == (curve,)
    assert curves(rows, "tokens") == ()


def test_the_last_point_of_a_curve_is_the_table_s_geometric_mean(tmp_path: Path) -> None:
    run_one = runner(tmp_path)
    rows = [
        run_one(BenchRun(p, m, seed)) for p in ("one", "three") for m in ("best-of-n", "cuda-llm") for seed in (0, 1)
    ]
    for summary in table(rows).methods:
        expected = summary.figures["geometric"]
        for axis in ("candidates", "depth", "seconds"):
            (curve,) = [curve for curve in curves(rows, axis) if curve.method == summary.method]
            assert curve.points[0][1] == Interval(1.0, 1.0, 1.0)
            last = curve.points[-1][1]
            assert (last.value, last.low, last.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_a_row_holds_steps_alone_and_reads_the_same_again(tmp_path: Path) -> None:
    cell = BenchRun("one", "cuda-llm", 0)
    made = runner(tmp_path)(cell)
    assert made == read_row(cell, tmp_path / cell.name)
    for axis in AXES:
        steps = made.trace.along(axis)
        assert len(steps) <= made.candidates + 2
        assert [x for x, _ in steps] == sorted(x for x, _ in steps)
