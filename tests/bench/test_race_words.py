"""What ``maxcode race`` says: words of suites, wrong outputs, what more pairs do not decide, how sure it is."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from maxcode.bench.versions.result import RaceRow, VersionsRaced
from maxcode.cli.race import _places
from maxcode.core.types import Clock, Interval
from tests.support.cli import maxcode_here
from tests.support.races import TRUST, metrics, raced

ROWS = {f"row{number}": 1.0 for number in range(62)}
SUITE = ("--read", "metric", "--same-sides")


@pytest.mark.heavy
@pytest.mark.parametrize(("pairs", "word"), [(15, "undecided"), (16, "slower")])
def test_a_suite_with_too_few_pairs_for_one_row_says_so_and_fails_as_undecided(
    tmp_path: Path, pairs: int, word: str
) -> None:
    sides = ("--base", metrics(**ROWS), "--head", metrics(**{**ROWS, "row7": 10.0}))
    found = raced(tmp_path, *SUITE, "--pairs", pairs, "--fail-on", "undecided", *sides)
    assert [row["verdict"] for row in found["rows"] if row["name"] == "row7"] == [word]
    assert found["status"] == (word == "undecided")
    told = any("1 of 62 benchmarks are undecided" in note and "at least 16 pairs" in note for note in found["notes"])
    assert told == (word == "undecided")
    assert any("to decide most of them, race again with --pairs 30" in note for note in found["notes"]) == told
    assert statistics.median(pair["base"]["row7"] / pair["head"]["row7"] for pair in found["samples"]) == 0.1


def test_the_sentence_counts_the_rows_that_are_undecided() -> None:
    ratio = Interval(1.0, 0.99, 1.01)
    rows = tuple(RaceRow(str(at), "undecided" if at < 60 else "no change", ratio, 1.0, 1.0) for at in range(62))
    found = VersionsRaced("no change", "a", "b", "", "cpu", 0.02, 0.01, 0.01, 9, "none", ratio=ratio, rows=rows)
    assert found.sentence().endswith("of 62 benchmarks 60 undecided")


@pytest.mark.heavy
def test_a_head_that_prints_something_else_in_a_later_run_is_wrong(tmp_path: Path) -> None:
    head = 'echo >>runs; if [ "$(wc -l <runs)" -gt 4 ]; then echo b; else echo a; fi'
    options = ("--same-output", "--fail-on", "wrong", "--base", "echo a", "--head", head)
    found = raced(tmp_path, *options)
    assert (found["verdict"], found["same_output"], found["status"]) == ("wrong", False, 1)
    assert any("head printed another output in one of its runs" in note for note in found["notes"])


@pytest.mark.heavy
def test_outputs_that_were_not_compared_are_not_called_the_same(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "unused").write_text(name)
    found = raced(tmp_path, "--same-output", "one", "two", "--", "echo", "a")
    assert (found["verdict"], found["same_output"]) == ("not exercised", None)


@pytest.mark.heavy
def test_a_head_that_adds_a_benchmark_stays_faster(tmp_path: Path) -> None:
    """Its process takes longer by the wall clock, and each row that base has takes less."""
    sides = ("--base", metrics(a=1.2), "--head", f"sleep 0.5; {metrics(a=1.0, new=5.0)}")
    found = raced(tmp_path, *SUITE, "--pairs", "9", "--fail-on", "not-faster", *sides)
    assert (found["verdict"], found["rows"][0]["verdict"], found["status"]) == ("faster", "faster", 0)
    assert found["elapsed"]["high"] < 0.9


@pytest.mark.heavy
def test_a_change_between_the_margin_and_what_is_called_slower_is_not_decided_by_more_pairs(tmp_path: Path) -> None:
    sides = ("--base", metrics(a=1.0), "--head", metrics(a=1.035))
    found = raced(tmp_path, *SUITE, "--pairs", "9", "--fail-on", "slower:5%", *sides)
    assert found["verdict"] == "undecided"
    (cure,) = (note for note in found["notes"] if "decide" in note)
    assert "head takes 3.5 % more" in cure and "give --margin 5%" in cure and "--pairs" not in cure


@pytest.mark.parametrize(("goal", "shown"), [("cpu", True), ("wall", False)])
def test_the_wall_clock_is_shown_beside_cpu_time(goal: Clock, shown: bool) -> None:
    ratio, elapsed = Interval(1.2, 1.19, 1.21), Interval(0.8, 0.5, 1.02)
    found = VersionsRaced("faster", "a", "b", "", goal, 0.02, 0.01, 0.01, 9, "none", ratio=ratio, elapsed=elapsed)
    assert ("wall time  0.800x [0.500, 1.020]" in str(found)) == shown
    assert ("- wall time: head against base +25.0 % time [-2.0, +100.0]" in found.markdown()) == shown


def test_an_interval_of_few_pairs_says_its_confidence() -> None:
    ratio = Interval(0.5, 0.4, 0.6, 0.6543)
    row = RaceRow("a", "undecided", ratio, 1.0, 2.0)
    found = VersionsRaced("undecided", "a", "b", "", "cpu", 0.02, 0.01, 0.01, 3, "none", ratio=ratio, rows=(row, row))
    assert str(found).count("(confidence 65 % only)") == 4
    assert found.markdown().count("(confidence 65 % only)") == 3


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("race main HEAD -- ./b", (1, 2)),
        ("race --setup main main --goal wall HEAD -- ./b", (3, 6)),
        ("race --json --out=x main -- HEAD main", (3, 5)),
    ],
)
def test_base_and_head_are_found_between_options(words: str, places: tuple[int, ...]) -> None:
    assert _places(words.split()) == places


def test_results_in_a_side_of_the_sandbox_are_refused(tmp_path: Path) -> None:
    sides = ("--base", "true", "--head", "echo")
    done = maxcode_here("race", "--read", "criterion:target/criterion", *sides, cwd=tmp_path)
    assert done.returncode == 2 and "env CRITERION_HOME=/tmp/criterion" in done.stderr
    trusted = maxcode_here("race", TRUST, "--read", "criterion:target/criterion", *sides, cwd=tmp_path)
    assert "gave no results of criterion" in trusted.stderr
