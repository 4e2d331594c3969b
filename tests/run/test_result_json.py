"""The JSON contract of `optimize` and `evaluate`: the keys, their order, their types and what is null, to the letter.

The files below tests/data/result-json/ were written by version 0.1 from the same values.
"""

from __future__ import annotations

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
from maxcode.core.types.measured import CaseResult
from maxcode.evaluate.cluster.utilisation import Report, SlotUse
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.run.certificate import FreshInputTiming, fields_of
from maxcode.run.result_json import RunResult, nothing_won, paid, verdict_of
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


def of_run(verdict: RunResult, fresh: FreshInputTiming | None = None) -> RunResult:
    """The verdict with all that only `optimize` says."""
    return replace(
        verdict,
        candidates=3,
        outcomes={"correct": 2, "wrong": 1},
        best="run/best/a.c",
        record="run",
        report="run/report.html",
        spent=paid(Spent(3, 12.345, Usage(4, 100, 20, 1.0, 0.25))),
        unseen=fields_of(fresh),
        certificate="run/certificate.json" if fresh is not None else None,
        ended="a cap" if fresh is not None else None,
        stopped=True if fresh is not None else None,
        cluster=REPORT.as_table() if fresh is not None else None,
    )


def wrong() -> RunResult:
    feedback = Feedback(("gave 3, expected 4",), "", (CaseResult("1", Outcome.WRONG, 0.1, True, "", False),))
    return verdict_of(Evaluation(Outcome.WRONG, feedback), admitted(), MACHINE, ("a note",))


def faster() -> RunResult:
    recheck = Recheck(("19.5 times faster",), 32, True)
    found = Evaluation(Outcome.CORRECT, timing=RACE, warnings=("look at it",), harsher=recheck)
    return verdict_of(found, admitted(), MACHINE, ("a note",))


def rated() -> RunResult:
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
    return verdict_of(found, admitted("module"), MACHINE, ())


RESULTS = {
    "evaluated-wrong": wrong,
    "evaluated-faster": faster,
    "evaluated-rated": rated,
    "run-won": lambda: of_run(faster(), FreshInputTiming(Interval(1.9, 1.8, 2.0), ((2.0, 1.0),), ("f1",))),
    "run-certified-without-fresh": lambda: of_run(faster(), FreshInputTiming(why="none could be made")),
    "run-nothing-won": lambda: of_run(nothing_won(admitted(), MACHINE, ("a note",))),
    "run-unmeasurable": lambda: of_run(nothing_won(admitted(timed=False), MACHINE, ())),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_reads_as_in_version_0_1(name: str) -> None:
    assert RESULTS[name]().as_json() + "\n" == (GOLDEN / f"{name}.json").read_text()
