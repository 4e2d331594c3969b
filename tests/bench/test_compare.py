"""``maxcode compare``: which winner is faster is said only where it follows, and never across what is not the same."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from click.testing import CliRunner, Result

from maxcode.bench import bench, cells, claim, table
from maxcode.bench.table import adjusted_together
from maxcode.bench.versus import differences, entrant, same_original, versus
from maxcode.cli import cli
from maxcode.core.stats import median_interval
from maxcode.core.types import Action, Evaluation, Interval, Outcome, Program, Timing
from maxcode.errors import InputError
from maxcode.run.record import Batch, Evaluated, Proposed, Record, Settled
from maxcode.testing import exact_timing
from tests.support.bench_help import row, runner

MACHINE = {"node": "here", "cpu": "table", "cores": 2, "kernel": "6", "compilers": {"g++": "12"}, "sandbox": "none"}
HEADER: dict[str, Any] = {
    "version": "0.1.0", "problem": "toy", "flags": ["-O3"], "checker": "tokens", "goal": "cpu", "digest": "d1",
    "sandbox": "bubblewrap 0.8", "machine": MACHINE, "tests": {"seen": 3, "held_out": 3, "dropped": 0},
}  # fmt: skip
AT = (1, 0)


def timed(ratio: float, noise: float, pairs: int = 24, seed: int = 0) -> Timing:
    """A confirmed timing of so many noisy pairs."""
    generator = random.Random(seed)
    samples = tuple((ratio * generator.lognormvariate(0, noise), 1.0) for _ in range(pairs))
    speedup = median_interval([a / b for a, b in samples])
    return dataclasses.replace(exact_timing(ratio), speedup=speedup, samples=samples, pairs=pairs)


def made(folder: Path, timing: Timing | None, program: str = "", **header: object) -> Path:
    """A run folder whose winner was timed so; without a winner where there is no timing."""
    (folder / "original").mkdir(parents=True)
    (folder / "original" / "toy.py").write_text("original")
    (folder / "run.toml").write_text(tomli_w.dumps({**HEADER, **header}))
    evaluation = Evaluation(Outcome.WRONG) if timing is None else Evaluation(Outcome.CORRECT, timing=timing)
    with Record(folder) as record:
        record.append(Batch(batch=1, parents=((0, 0),)))
        record.append(Proposed(at=AT, action=Action(Program({"toy.py": program or folder.name}))))
        record.append(Evaluated(at=AT, evaluation=evaluation))
        record.append(Settled(batch=1))
    return folder


def compare(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["compare", *map(str, arguments)], standalone_mode=False)


def test_a_clear_difference_is_said_and_turns_round_with_the_order(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one", timed(3.0, 0.02)), made(tmp_path / "other", timed(2.0, 0.02, seed=1))
    forth, back = versus(entrant(one), entrant(other)), versus(entrant(other), entrant(one))
    assert (forth.word, back.word) == ("first", "second")
    assert forth.ratio.value == pytest.approx(1.5, rel=0.03)
    assert forth.ratio.low < 1.5 < forth.ratio.high
    assert back.ratio.value == pytest.approx(1 / forth.ratio.value)
    assert forth.ratio.confidence >= 0.95
    told = json.loads(compare(one, other, "--json").output)
    assert (told["verdict"], told["differences"]) == ("first", [])
    assert "the first run's winner is faster" in compare(one, other).output


def test_what_noise_can_explain_is_not_significant(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one", timed(2.05, 0.2)), made(tmp_path / "other", timed(2.0, 0.2, seed=1))
    found = versus(entrant(one), entrant(other))
    assert found.word == "not significant"
    assert found.ratio.low < 1 < found.ratio.high
    assert "not significant: no difference was proved" in compare(one, other).output


def test_less_than_the_margin_of_a_race_is_not_significant_however_exact(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one", timed(2.01, 1e-6)), made(tmp_path / "other", timed(2.0, 1e-6))
    assert versus(entrant(one), entrant(other)).word == "not significant"


def test_equal_winners_are_rarely_called_different_though_sessions_differ(tmp_path: Path) -> None:
    sessions, words = random.Random(3), []
    for trial in range(60):
        drawn = [timed(2.0 * sessions.lognormvariate(0, 0.05), 0.05, 15, seed=2 * trial + side) for side in (0, 1)]
        one, other = (
            made(tmp_path / f"{trial}{at}", dataclasses.replace(timing, pressure=30.0), at)
            for at, timing in zip("ab", drawn, strict=True)
        )
        words.append(versus(entrant(one), entrant(other)).word)
    assert words.count("not significant") >= 57  # 5 % of 60 is 3


@pytest.mark.parametrize(
    ("pressure", "notes", "margin"),
    [
        (None, [], 0.05),
        (3.0, ["another note"], 0.05),
        (10.0, [], 0.10),
        (3.0, ["the machine is busy (CPU pressure 32 %): intervals are wider than they need be"], 0.10),
        (None, ["busy machine: while it was timed some task waited for a processor 58 % of the time"], 0.10),
    ],
)
def test_what_sessions_differ_by_is_asked_of_a_difference_and_more_where_the_machine_was_busy(
    pressure: float | None, notes: list[str], margin: float, tmp_path: Path
) -> None:
    quiet = timed(2.0, 0.001)
    for at, (ratio, word) in enumerate(((1.07, ("second", "not significant")[margin > 0.05]), (1.12, "second"))):
        one = made(tmp_path / f"one{at}", quiet)
        timing = dataclasses.replace(timed(2.0 * ratio, 0.001), pressure=pressure)
        other = made(tmp_path / f"other{at}", timing, notes=notes)
        assert versus(entrant(one), entrant(other)).word == word
        told = compare(one, other).output
        assert f"must exceed {margin:.0%}; --measure races them" in told
        assert ("on a busy machine" in told) == (margin > 0.05)


def test_counts_of_instructions_know_no_sessions(tmp_path: Path) -> None:
    counted = [
        dataclasses.replace(timed(ratio, 0.0), clock="instructions", speedup=Interval(ratio, ratio, ratio, 1.0))
        for ratio in (2.1, 2.0)
    ]
    one, other = (made(tmp_path / at, timing) for at, timing in zip("ab", counted, strict=True))
    found = versus(entrant(one), entrant(other))
    assert (found.word, found.margin) == ("first", 0.01)


def test_a_few_pairs_prove_nothing(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one", timed(3.0, 0.01, 4)), made(tmp_path / "other", timed(1.5, 0.01, 4))
    found = versus(entrant(one), entrant(other))
    assert found.ratio.confidence < 0.95
    assert found.word == "not significant"


def test_a_run_without_a_winner_answers_with_the_original(tmp_path: Path) -> None:
    won, lost = made(tmp_path / "won", timed(2.0, 0.01)), made(tmp_path / "lost", None)
    assert versus(entrant(won), entrant(lost)).word == "first"
    assert versus(entrant(lost), entrant(won)).word == "second"
    assert versus(entrant(lost), entrant(made(tmp_path / "too", None))).word == "nothing faster"


def test_the_same_program_is_the_same_whatever_was_measured(tmp_path: Path) -> None:
    one = made(tmp_path / "one", timed(3.0, 0.01), "same")
    other = made(tmp_path / "other", timed(2.0, 0.01), "same")
    assert versus(entrant(one), entrant(other)).word == "same program"


@pytest.mark.parametrize(
    ("header", "named", "cure"),
    [
        ({"machine": {**MACHINE, "cpu": "another"}}, "machine, cpu: table | another", "--measure"),
        ({"machine": {**MACHINE, "cores": 8}}, "machine, cores: 2 | 8", "--measure"),
        ({"machine": {**MACHINE, "compilers": {"g++": "13"}}}, "machine, compilers: g++ 12 | g++ 13", "--measure"),
        ({"sandbox": "Landlock"}, "sandbox: bubblewrap 0.8 | Landlock", "--measure"),
        ({"version": "0.2.0"}, "version: 0.1.0 | 0.2.0", "--measure"),
        ({"flags": ["-O2"], "digest": "d2"}, "flags: -O3 | -O2", "options of the other"),
        ({"goal": "wall", "digest": "d2"}, "goal: cpu | wall", "options of the other"),
        ({"digest": "d2"}, "its digest): d1 | d2", "on the tests of the other"),
        ({"tests": {"seen": 3, "held_out": 2, "dropped": 1}}, "tests dropped: 0 | 1", "on those tests"),
    ],
)
def test_what_is_not_the_same_is_named_with_a_cure_and_refused_unless_forced(
    header: dict[str, object], named: str, cure: str, tmp_path: Path
) -> None:
    one, other = made(tmp_path / "one", timed(3.0, 0.01)), made(tmp_path / "other", timed(2.0, 0.01), "", **header)
    refused = compare(one, other)
    assert isinstance(refused.exception, InputError)
    assert refused.exception.exit_code == 2
    assert named in str(refused.exception)
    assert cure in str(refused.exception)
    assert refused.output == ""
    stamped = [line for line in compare(one, other, "--force").output.splitlines() if line.startswith("FORCED")]
    assert any(named in line for line in stamped)
    told = json.loads(compare(one, other, "--force", "--json").output)
    assert any(named in difference for difference in told["differences"])


def test_budget_method_and_seed_are_what_is_compared(tmp_path: Path) -> None:
    one = made(tmp_path / "one", timed(3.0, 0.01), budget=24, method="beam", seed=0, policy="a")
    other = made(tmp_path / "other", timed(2.0, 0.01), budget=64, method="tree", seed=1, policy="b")
    assert differences(entrant(one), entrant(other)) == ()


def test_what_the_problem_is_is_asked_of_a_race_alone(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one", timed(3.0, 0.01)), made(tmp_path / "other", timed(2.0, 0.01))
    for words in (("--goal", "wall"), ("--flags", "-O2"), ("--problem", "x")):
        refused = compare(one, other, *words).exception
        assert isinstance(refused, InputError) and "--measure alone" in str(refused)


def test_runs_of_other_originals_are_never_compared(tmp_path: Path) -> None:
    one, other = made(tmp_path / "one", timed(3.0, 0.01)), made(tmp_path / "other", timed(2.0, 0.01))
    (other / "original" / "toy.py").write_text("another")
    with pytest.raises(InputError, match="made different originals faster"):
        same_original(entrant(one), entrant(other))
    assert isinstance(compare(one, other, "--force").exception, InputError)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    error = compare(made(tmp_path / "one", timed(3.0, 0.01)), tmp_path).exception
    assert "is not a run folder" in str(error)


def benched(out: Path, seeds: int, **terms: object) -> Path:
    """A finished bench of two methods on two problems; its budget is 6 candidates, or what the terms say."""
    plan = cells(["one", "three"], ["best-of-n", "cuda-llm"], range(seeds))
    budget = int(str(terms.get("budget", 6)))
    methods: dict[str, Sequence[object]] = {"methods": ["best-of-n", "cuda-llm"], "seeds": list(range(seeds))}
    claim(out, {"budget": budget, **terms}, {"one": "d1", "three": "d3"}, methods)
    bench(plan, runner(out, budget))
    return out


def test_two_benches_are_compared_method_by_method_where_both_are_finished(tmp_path: Path) -> None:
    few, more = benched(tmp_path / "few", 1, budget=2), benched(tmp_path / "more", 2)
    told = json.loads(compare(few, more, "--json").output)
    assert [(pair["first"], pair["second"]) for table in told["tables"] for pair in table["contrasts"]] == [
        ("first best-of-n", "second best-of-n"),
        ("first cuda-llm", "second cuda-llm"),
    ]
    assert [table["cells"] for table in told["tables"]] == [4, 4]
    assert (told["differences"], told["terms"]) == ([], ["budget: 2 | 6"])
    assert "differs    budget: 2 | 6" in compare(few, more).output


def test_a_method_is_compared_on_all_that_both_benches_have_finished_of_it(tmp_path: Path) -> None:
    one, other = benched(tmp_path / "one", 2), benched(tmp_path / "other", 2)
    (other / "three-best-of-n-1" / "result.json").unlink()
    told = json.loads(compare(one, other, "--json").output)["tables"]
    assert [(table["cells"], table["left_out"]) for table in told] == [(6, 1), (8, 0)]
    for cell in ("one-best-of-n-0", "one-best-of-n-1", "three-best-of-n-0"):
        (other / cell / "result.json").unlink()
    told = json.loads(compare(one, other, "--json").output)["tables"]
    assert [(table["cells"], table["left_out"], len(table["contrasts"])) for table in told] == [(0, 4, 0), (8, 0, 1)]
    text = compare(one, other).output
    assert "note: best-of-n: no problem and seed of it is finished in both" in text
    assert "note: 2 pair(s) of methods are compared" in text


def test_the_methods_of_two_benches_are_adjusted_together_and_common_notes_said_once(tmp_path: Path) -> None:
    rows = [row(f"p{n}", m, 0, 2.0 + (m == "a") + n / 10) for n in range(6) for m in "ab"]
    alone = table(rows)
    assert alone.contrasts[0].adjusted == alone.contrasts[0].p == 2**-5
    assert [pair.adjusted for found in adjusted_together([alone, alone]) for pair in found.contrasts] == [2**-4] * 2
    one = benched(tmp_path / "one", 2)
    assert compare(one, one).output.count("pair(s) of methods are compared") == 1


def test_a_bench_is_no_different_from_itself(tmp_path: Path) -> None:
    one = benched(tmp_path / "one", 2)
    tables = json.loads(compare(one, one, "--json").output)["tables"]
    for pair in [pair for found in tables for pair in found["contrasts"]]:
        assert (pair["ratio"]["value"], pair["adjusted"], pair["ties"]) == (1.0, 1.0, 2)


def test_benches_of_problems_that_changed_or_on_other_machines_are_refused_unless_forced(tmp_path: Path) -> None:
    one, other = benched(tmp_path / "one", 1), benched(tmp_path / "other", 1)
    header = other / "bench.toml"
    header.write_text(header.read_text().replace('three = "d3"', 'three = "d4"'))
    changed_in(other, '"table"', '"another"')
    refused = str(compare(one, other).exception)
    assert "problem three (its digest): d3 | d4" in refused
    assert "machine, cpu (one-best-of-n-0 and 3 more): table | another" in refused
    assert compare(one, other, "--force").output.count("FORCED") == 2


def changed_in(folder: Path, text: str, by: str) -> None:
    """Change the headers of all runs in a folder."""
    headers = list(folder.rglob("run.toml"))
    assert headers and all(text in header.read_text() for header in headers)
    for header in headers:
        header.write_text(header.read_text().replace(text, by))


@pytest.mark.parametrize(
    ("text", "by", "named"),
    [
        ('node = "here"', 'node = "there"', "machine, node (one-best-of-n-0 and 3 more): here | there"),
        ('kernel = ""', 'kernel = "7"', "machine, kernel (one-best-of-n-0 and 3 more):  | 7"),
        (
            "[machine.compilers]",
            '[machine.compilers]\n"g++" = "13"',
            "machine, compilers (one-best-of-n-0 and 3 more): none",
        ),
        ('version = "0"', 'version = "1"', "version (one-best-of-n-0 and 3 more): 0 | 1"),
        ('sandbox = "none"', 'sandbox = "other"', "sandbox (one-best-of-n-0 and 3 more): none | other"),
        ('version = "0"', 'goal = "wall"\nversion = "0"', "goal (one-best-of-n-0 and 3 more): not recorded | wall"),
    ],
)
def test_what_two_runs_must_share_is_asked_of_the_cells_of_two_benches(
    text: str, by: str, named: str, tmp_path: Path
) -> None:
    one, other = benched(tmp_path / "one", 1), benched(tmp_path / "other", 1)
    changed_in(other, text, by)
    refused = str(compare(one, other).exception)
    assert named in refused
    assert "run both benches with the same options and version, on one machine" in refused


def test_cells_that_only_one_bench_has_finished_may_be_from_anywhere(tmp_path: Path) -> None:
    one, other = benched(tmp_path / "one", 1), benched(tmp_path / "other", 2)
    for cell in other.glob("*-1"):
        changed_in(cell, 'node = "here"', 'node = "there"')
    for cell in other.glob("three-*-0"):
        (cell / "result.json").unlink()
    header = other / "bench.toml"
    header.write_text(header.read_text().replace('three = "d3"', 'three = "d4"'))
    assert json.loads(compare(one, other, "--json").output)["differences"] == []


def test_benches_without_anything_in_common_are_refused(tmp_path: Path) -> None:
    one, other = benched(tmp_path / "one", 1), tmp_path / "other"
    claim(other, {"budget": 6}, {"two": "d2"}, {"methods": ["cuda-llm"], "seeds": [0]})
    assert "have no problem in common" in str(compare(one, other).exception)
