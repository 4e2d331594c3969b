"""The simulation of ``benchmarks/sizing``: cases that can be added up by hand, and what it reads from a real record."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maxcode.run.record import Opened, Record
from sizing.costs import Costs, measured
from sizing.model import Grpo, Site, search, step
from sizing.play import played, shrunk, usual
from sizing.scale import Pool, Sizes, scaled, sized
from sizing.workload import Contest, Gap, Recorded, Round, Work, recorded

COSTS = Costs(
    propose_s=1.0,
    build_s=2.0,
    stopped_s=1.5,
    side_s=0.25,
    original_s=0.5,
    per_cpu_s=1.0,
    fresh_s=1.0,
    race_s=2.0,
    confirm_s=4.0,
)
TIMED = Work(passes=4, beside=1.0, correct=True)  # 4 x (2 x 0.25 + 0.5 x 2) = 6 s
STOPPED = Work(passes=0)
MANY = Site(slots=100, builders=100, calls=100, concurrency=100)


def seconds_of(works: list[Work], site: Site, contest: Contest = Contest()) -> float:  # noqa: B008
    return search([[Round(tuple(works), contest)]], COSTS, site).seconds


def test_on_one_slot_builds_hide_behind_timings() -> None:
    assert seconds_of([TIMED] * 3, Site()) == 1 + 2 + 3 * 6


def test_on_a_slot_each_the_slowest_candidate_is_the_batch() -> None:
    assert seconds_of([TIMED, STOPPED, replace(TIMED, passes=8)], MANY) == 1 + 2 + 12


def test_where_nothing_is_set_apart_for_builds_a_slot_builds_and_times() -> None:
    assert seconds_of([TIMED] * 3, replace(MANY, slots=1, builders=0)) == 1 + 3 * (2 + 6)
    assert seconds_of([TIMED] * 4, replace(MANY, slots=2, builders=0)) == 1 + 2 * (2 + 6)


def test_a_second_slot_helps_only_once_it_has_taken_the_problem_up() -> None:
    assert seconds_of([TIMED] * 2, replace(MANY, slots=2, admit_s=4.0)) == max(1 + 2 + 6, 4 + 6)
    assert seconds_of([TIMED] * 2, replace(MANY, slots=2, admit_s=100.0)) == 1 + 2 + 6 + 6


def test_what_is_not_timed_costs_its_build_and_what_is_used_again_only_its_proposal() -> None:
    assert seconds_of([STOPPED], Site()) == 1 + 1.5
    assert seconds_of([Work(0, reused=True)], Site()) == 1


def test_a_contest_waits_for_its_batch_and_the_next_batch_for_the_contest() -> None:
    contest = Contest(fresh=2, races=1, confirmed=1, passes=10, beside=0.5)
    alone = 2 * 1 + 2 + 4 + 10 * (0.5 + 0.75)
    rounds = [Round((TIMED,), contest), Round((TIMED,), Contest())]
    assert search([rounds], COSTS, MANY).seconds == 2 * (1 + 2 + 6) + alone


def test_concurrency_and_calls_bound_what_is_under_way() -> None:
    assert seconds_of([STOPPED] * 3, replace(MANY, concurrency=1)) == 3 * 2.5
    assert seconds_of([STOPPED] * 3, replace(MANY, calls=1)) == 3 + 1.5


def test_a_scheduler_that_takes_its_time_for_a_task_bounds_any_number_of_slots() -> None:
    found = search([[Round((TIMED,) * 100, Contest())]], COSTS, replace(MANY, scheduler_s=1.0))
    assert found.seconds >= 2 * 100
    assert found.shares["scheduler"] > 0.9


def test_searches_side_by_side_share_the_places() -> None:
    rounds = [Round((TIMED,), Contest())]
    assert search([rounds, rounds], COSTS, replace(MANY, slots=1)).seconds == 1 + 2 + 6 + 6
    assert search([rounds, rounds], COSTS, MANY).seconds == 1 + 2 + 6


@pytest.mark.parametrize(("whole", "slots", "seconds"), [(True, 2, 4), (True, 8, 4), (False, 8, 1)])
def test_a_group_of_grpo_stays_on_one_slot_unless_it_may_be_split(whole: bool, slots: int, seconds: int) -> None:
    grpo = Grpo(groups=2, answers=4, learn_s=5.0, whole=whole, again=0)
    found = step(grpo, lambda: TIMED, COSTS, replace(MANY, slots=slots))
    assert found.seconds == 1 + 2 + 6 * seconds + 5


def test_the_leader_of_a_group_is_timed_again() -> None:
    once = step(Grpo(1, 2, 0.0, again=0), lambda: TIMED, COSTS, MANY).seconds
    assert step(Grpo(1, 2, 0.0, again=1), lambda: TIMED, COSTS, MANY).seconds == once + 6


def gaps_of(costs: Costs, works: list[Work], contests: list[Contest]) -> tuple[Gap, ...]:
    """What a run of one candidate at a time would show at these costs."""
    found = [Gap(work, costs.of_building(work) + costs.of_timing(work)) for work in works]
    return (*found, *(Gap(one, costs.of_contest(one)) for one in contests), Gap(None, costs.propose_s))


def test_costs_are_what_the_gaps_were_made_of() -> None:
    chance = random.Random(1)
    works = [replace(TIMED, passes=n, sides=2 + n % 2, beside=chance.random()) for n in (2, 5, 9, 3, 30, 4)]
    contests = [Contest(1, 0, 1, 15, 0.5), Contest(2, 1, 0), Contest(2, 1, 1, 20, 0.1), Contest(4, 3, 0)]
    rounds = tuple(Round((work,), Contest()) for work in works)
    gaps = gaps_of(COSTS, [*works, STOPPED], contests)
    found = measured([Recorded(Path("run"), "p", "refine", "x", rounds, gaps, 0.0, None, COSTS.original_s)])
    for name in Costs.__slots__:
        assert getattr(found, name) == pytest.approx(getattr(COSTS, name)), name


def test_costs_are_not_taken_from_runs_in_which_candidates_overlap() -> None:
    run = Recorded(
        Path("run"), "p", "beam", "x", (Round((TIMED, TIMED), Contest()),), (Gap(TIMED, 1.0),), 0.0, None, 1.0
    )
    with pytest.raises(ValueError, match="no run of p with one candidate at a time"):
        measured([run])


@pytest.mark.parametrize("name", ["refine", "best-of-n"])
def test_the_record_of_the_real_loop_is_read_back_as_its_batches(name: str, tmp_path: Path) -> None:
    run = played(name, 12, shrunk(usual(), 200), Site(slots=2, builders=2), tmp_path)
    widths = {"refine": [1] * 12, "best-of-n": [8, 4]}
    assert [len(one.works) for one in run.rounds] == widths[name]
    assert any(one.contest.confirmed for one in run.rounds)
    assert all(one.contest.fresh > one.contest.races or one.contest == Contest() for one in run.rounds)
    assert sum(isinstance(gap.what, Work) for gap in run.gaps) == (12 if name == "refine" else 0)


def test_twins_of_a_batch_are_timed_once(tmp_path: Path, events: Callable[..., None]) -> None:
    """Two candidates with the same samples: the evaluator let one wait for the other."""
    events(tmp_path, samples=[[1.0, 0.5], [1.0, 0.5]])
    (only,) = recorded(tmp_path).rounds
    assert [work.passes for work in only.works] == [1, 0]


@pytest.fixture
def events() -> Callable[..., None]:
    """Writes a run folder with one batch, a candidate for each sample."""
    import msgspec

    def write(folder: Path, samples: list[list[float]]) -> None:
        timing: dict[str, Any] = {
            "clock": "cpu",
            "speedup": {"value": 2, "low": 2, "high": 2},
            "significant": False,
            "verdict": "tie",
            "pairs": 1,
        }
        count = len(samples)
        lines: list[dict[str, Any]] = [{"part": "opened"}, {"part": "batch", "batch": 1, "parents": [[0, 0]] * count}]
        for slot, sample in enumerate(samples):
            lines.append({"part": "proposed", "at": [1, slot], "action": {"program": None}})
            evaluation = {"outcome": "correct", "timing": {**timing, "samples": [sample]}}
            lines.append({"part": "evaluated", "at": [1, slot], "evaluation": evaluation})
        lines.append({"part": "settled", "batch": 1})
        (folder / "run.toml").write_text('problem = "p"\nmethod = "m"\npolicy = "x"\n')
        (folder / "events.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

    return write


def test_a_run_that_was_resumed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('problem = "p"\nmethod = "m"\npolicy = "x"\n')
    with Record(tmp_path) as record:
        record.append(Opened())
    with pytest.raises(ValueError, match="was resumed"):
        recorded(tmp_path)


@pytest.mark.heavy
def test_what_would_gain_most_is_the_width_for_one_search_and_the_model_for_many() -> None:
    pool = Pool((TIMED, STOPPED), Contest(confirmed=1, passes=15, beside=0.5))
    slow = replace(COSTS, propose_s=100.0)
    one = sized("one search", 100, pool, slow, Sizes())
    assert {*list(one.gains)[:2]} == {"model speed", "width"}
    assert one.gains["slots"] == pytest.approx(1.0)
    many = sized("many searches", 20, pool, slow, Sizes(calls=4))
    assert many.gains["model calls"] == pytest.approx(2.0, rel=0.1)
    assert many.gains["slots"] == pytest.approx(1.0, rel=0.05)


def test_more_slots_never_make_it_slower() -> None:
    pool = Pool((TIMED, STOPPED), Contest(confirmed=1, passes=15, beside=0.5))
    for use in ("one search", "grpo", "grpo, groups split"):
        rates = [scaled(use, slots, pool, COSTS, Sizes()).per_hour for slots in (1, 2, 4, 8, 16, 32)]
        assert rates == sorted(rates), use
