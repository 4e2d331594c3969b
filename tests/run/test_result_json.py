"""The JSON contract of `optimize` and `evaluate`: keys, values, and what is null, as version 0.1 wrote them.

The files below tests/data/result-json/ were written by version 0.1 from the same values.  Only sentences for people may
be worded in another way, and keys may be added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from maxcode.core.types import (
    Evaluation,
    Feedback,
    Interval,
    Machine,
    Node,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    Recheck,
    Remark,
    Spent,
    Timing,
    Usage,
)
from maxcode.core.types.measured import CaseResult, RaceVerdict
from maxcode.evaluate.cluster.utilisation import Report, SlotUse
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.rounds.stages import without_work
from maxcode.run.candidate_result import CandidateResult, nothing_won, result_of
from maxcode.run.certificate import FreshInputTiming
from maxcode.run.result import RunResult, paid
from maxcode.sandbox.sandbox import Blob

GOLDEN = Path(__file__).parents[1] / "data" / "result-json"
MACHINE = Machine("node1", "Some CPU", 2, "Linux 6.1", {"c": "gcc 12"}, "bubblewrap", {"L1d": "32K"}, ("avx2",))
NODE = Node("host:0-1", "Some CPU", "gcc 12", (0, 1), Interval(0.01, 0.009, 0.011), (1.0, 2.0), shared=True)
RACE = Timing("cpu", Interval(2.0, 1.9, 2.1), True, "faster", 15, True, ("03",), pressure=12.5)
REPORT = Report(10.0, (SlotUse("a", 3, {"evaluating": 4.0, "waiting": 1.0}),), ("node a was lost",))


def admitted(kind: str = "program", timed: bool = True) -> Admitted:
    problem = Problem("sum", "module" if kind == "module" else "program", "c", Program({"a.c": "x"}), ProgramSpec())
    origins = ("seen", "seen", "held_out", "made")
    inputs = tuple(Input(str(at), Blob.of(b"1"), b"1", origin) for at, origin in enumerate(origins))
    slowest = inputs[2:3] if timed else ()
    note = "not measurable: too short"
    baseline = Evaluation(Outcome.CORRECT, warnings=() if timed else (note,))
    return Admitted(problem, inputs, slowest, Built(None), baseline, ("9",), () if timed else (note,))


def of_run(best: CandidateResult, fresh: FreshInputTiming | None = None) -> RunResult:
    """The result with all that only `optimize` says."""
    found = RunResult(
        measured=best,
        candidates=3,
        outcomes={"correct": 2, "wrong": 1},
        best=Path("run/best/a.c"),
        best_program=Program({"a.c": "x"}),
        folder=Path("run"),
        report=Path("run/report.html"),
        spent=paid(Spent(3, 12.345, Usage(4, 100, 20, 1.0, 0.25))),
        notes=best.notes,
    )
    if fresh is None:
        return found
    certificate = Path("run/certificate.json")
    best = replace(best, fresh_inputs=fresh)
    return replace(found, measured=best, certificate=certificate, ended="a cap", stopped=True, cluster=REPORT)


def wrong() -> CandidateResult:
    feedback = Feedback(("gave 3, expected 4",), "", (CaseResult("1", Outcome.WRONG, 0.1, True, "", False),))
    return result_of(Evaluation(Outcome.WRONG, feedback), admitted(), MACHINE, ("a note",))


def faster() -> CandidateResult:
    recheck = Recheck(("19.5 times faster",), 32, True, kinds=("30 changed", "2 with values beyond those drawn"))
    found = Evaluation(Outcome.CORRECT, timing=RACE, warnings=("look at it",), harsher=recheck)
    return result_of(found, admitted(), MACHINE, ("a note",))


def rated() -> CandidateResult:
    """Everything that a timing may say beside the ratio."""
    part = Interval(1.5, 1.4, 1.6)
    timing = replace(
        RACE,
        clock="instructions",
        significant=False,
        verdict="tie",
        confirmed=False,
        gflops=Interval(10.0, 9.0, 11.0),
        roofline=20.0,
        gbytes=Interval(5.0, 4.0, 6.0),
        memory_roof=10.0,
        single=part,
        seconds=replace(RACE, pressure=None),
        instructions=Interval(1.5, 1.5, 1.5, 1.0),
        over_compiled=part,
    )
    remark = Remark(3, "missed", "not vectorised")
    found = Evaluation(Outcome.CORRECT, timing=timing, remarks=(remark,), node=NODE)
    return result_of(found, admitted("module"), MACHINE, ())


RESULTS: Mapping[str, Callable[[], CandidateResult | RunResult]] = {
    "evaluated-wrong": wrong,
    "evaluated-faster": faster,
    "evaluated-rated": rated,
    "run-won": lambda: of_run(faster(), FreshInputTiming(Interval(1.9, 1.8, 2.0), ((2.0, 1.0),), ("f1",))),
    "run-certified-without-fresh": lambda: of_run(faster(), FreshInputTiming(why="none could be made")),
    "run-nothing-won": lambda: of_run(nothing_won(admitted(), MACHINE, ("a note",))),
    "run-unmeasurable": lambda: of_run(nothing_won(admitted(timed=False), MACHINE, ())),
}


SENTENCES = ("result", "told", "why")  # keys of sentences for people
ADDED = {"recheck": "harsher", "fresh_inputs": "unseen"}  # clearer keys, each with the old key that holds the same
NEW = ("trusted", "doubts", "slower", "kinds", "unchanged", "timed_on")


def without_sentences(found: object) -> object:
    if isinstance(found, dict):
        kept = {
            key: value for key, value in found.items() if key not in NEW and (key not in SENTENCES or value is None)
        }
        return {key: without_sentences(value) for key, value in kept.items()}
    return found


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_reads_as_in_version_0_1(name: str) -> None:
    found = json.loads(RESULTS[name]().as_json())
    then = json.loads((GOLDEN / f"{name}.json").read_text())
    for key, old in ADDED.items():
        assert found.pop(key, None) == found.get(old)
    assert without_sentences(found) == without_sentences(then)
    for key in ("harsher", "unseen"):
        assert found.get(key, {}).keys() - set(NEW) == then.get(key, {}).keys()


def test_lines_for_people_are_in_plain_words() -> None:
    lines = str(RESULTS["run-won"]()).splitlines()
    assert "speed-up   2.00x [1.90, 2.10] 95% interval, 15 pairs, cpu time; confirmed on fresh pairs" in lines
    kinds = "30 changed; 2 with values beyond those drawn"
    assert f"re-check   passed on 32 extra inputs: {kinds} (triggered by: 19.5 times faster)" in lines
    assert "fresh      1.90x [1.80, 2.00] on 1 newly generated input" in lines
    assert "best       run/best/a.c" in lines
    unbeaten = RESULTS["run-nothing-won"]()
    assert isinstance(unbeaten, RunResult)
    lost = str(replace(unbeaten, best=Path("a.c"))).splitlines()
    assert "tests      2 seen, 1 held-out, 1 generated from these, 1 dropped; 1 timed (1 bytes: 0 ms)" in lost
    assert not [line for line in lost if line.startswith("best")], "the original is no winner"


def test_a_doubt_stands_behind_the_speedup_and_in_the_json() -> None:
    far = FreshInputTiming(Interval(0.9, 0.8, 0.94), ((2.0, 1.0),), ("f1",))
    doubted = replace(faster(), doubts=("it may be fast only on what was given",), fresh_inputs=far)
    (line,) = [line for line in str(doubted).splitlines() if line.startswith("speed-up")]
    assert line.startswith(
        "speed-up   2.00x [1.90, 2.10] NOT TRUSTED: 0.90x [0.80, 0.94] on 1 newly generated input; 95%"
    )
    assert "DOUBT      it may be fast only on what was given" in str(doubted)
    told = json.loads(of_run(doubted).as_json())
    assert (told["trusted"], told["doubts"]) == (False, ["it may be fast only on what was given"])
    smaller = replace(doubted, doubts=())
    assert "2.00x [1.90, 2.10] but 0.90x [0.80, 0.94] on 1 newly generated input, which take less time;" in str(smaller)
    unsafe = replace(faster(), doubts=("it was made without a sandbox",))
    assert "NOT TRUSTED: it was made without a sandbox; 95%" in unsafe.headline()
    alone = replace(faster(), fresh_inputs=FreshInputTiming(why="none could be made"))
    assert alone.headline().endswith("confirmed on fresh pairs, not compared on newly generated inputs")
    assert alone.trusted and not wrong().trusted


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_in_a_notebook_escapes_what_others_wrote(name: str) -> None:
    found = RESULTS[name]()
    shown = replace(found, notes=("<script>alert(1)</script>",))._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert len(shown) < 10_000
    if isinstance(found, RunResult):
        assert 'href="' in shown and "run/report.html" in shown


def test_a_module_says_what_is_not_in_its_speed_up_and_why_it_may_mean_nothing() -> None:
    timing = replace(RACE, start_s=(0.01, 1.5), beyond=(9, 3), degenerate=("input 1 as it is passes",))
    found = result_of(Evaluation(Outcome.CORRECT, timing=timing), admitted("module"), MACHINE, ())
    told = json.loads(found.as_json())
    assert told["start_s"] == {"original": 0.01, "candidate": 1.5}
    assert told["beyond"] == {"compared": 9, "skipped": 3}
    assert told["degenerate"] == ["input 1 as it is passes"]
    lines = list(found.lines())
    line = next(line for line in lines if line.startswith("speed-up"))
    assert "NOT TRUSTED: the reference is degenerate: input 1 as it is passes" in line
    assert not found.trusted
    assert any(line.startswith("beyond     9 calls compared") and "3 skipped" in line for line in lines)
    plain = json.loads(result_of(Evaluation(Outcome.CORRECT, timing=RACE), admitted(), MACHINE, ()).as_json())
    assert plain.keys().isdisjoint({"start_s", "beyond", "degenerate"})


@pytest.mark.parametrize("verdict", ["faster", "tie"])
def test_that_a_problem_is_degenerate_is_said_in_one_doubt_and_in_no_note(verdict: RaceVerdict) -> None:
    whys = ("the output is zero everywhere", "input 1 as it is passes")
    notes = tuple(map(without_work, whys))
    timing = replace(RACE, verdict=verdict, significant=verdict == "faster", degenerate=whys)
    evaluation = Evaluation(Outcome.CORRECT, timing=timing, warnings=(*notes, "another warning"))
    found = result_of(evaluation, admitted("module"), MACHINE, notes)
    speed, *others = [line for line in str(found).splitlines() if "without doing the work" in line]
    assert speed.startswith("speed-up") and speed.count("without doing the work") == 1
    assert [line.partition(" the reference")[0].strip() for line in others] == ["DOUBT", "DOUBT"]
    assert "another warning" in str(found) and set(notes) <= set(found.notes)
