"""A result says in words what won, and what is left to do where little or nothing was won."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from maxcode.code.source import fenced
from maxcode.core.budget import MANY
from maxcode.core.history import Reached, Result
from maxcode.core.types import (
    Action,
    Evaluation,
    Facts,
    Feedback,
    Hotspot,
    Interval,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    Spent,
    State,
    Step,
    TimedInput,
    Timing,
    Usage,
)
from maxcode.evaluate.inputs.fresh import FAILED, MADE
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.run.request import Request
from maxcode.run.winning import (
    AppliedRule,
    applied_rules,
    change_lines,
    left_lines,
    notes_on_candidates,
    refusals,
)
from maxcode.sandbox.sandbox import Blob
from tests.support.fake_runs import WON, make_run

PROBLEM = Problem("a", "program", "c", Program({"a.c": "int main(void) {\n    work();\n}\n"}), ProgramSpec())
ROOT = State(PROBLEM)
RULES = Request(Path("a.c"), Path("tests"), budget=24, policy="rewriter")


def after(parent: State, speed: float, words: str) -> State:
    found = Interval(speed, speed - 0.01, speed + 0.01)
    timing = Timing("cpu", found, True, "faster", 15, confirmed=True)
    action = Action(PROBLEM.program.with_text(f"// {speed}\n"), f"{words}\n{fenced('x', 'c')}")
    return State(
        PROBLEM, parent, Step(action, Evaluation(Outcome.CORRECT, timing=timing), speed), (parent.id[0] + 1, 0)
    )


def admitted(start_s: float = 0.001, timed: bool = True) -> Admitted:
    given = Input("1", Blob.of(b"1"), b"1", "held_out", 0.05)
    baseline = Evaluation(Outcome.CORRECT, profile=(Hotspot("work", 2, 0.9, 100), Hotspot("main", 1, 0.1, 11)))
    facts = Facts((TimedInput(0.05, 1000),), start_s)
    return Admitted(PROBLEM, (given,), (given,) if timed else (), Built(None), baseline, facts=facts)


def result(best: State | None, tried: int = 1) -> Result:
    reached = Reached(ROOT)
    if best is not None:
        reached.extend([state for state in best.ancestry if state.step is not None][::-1])
    elif tried:
        step = Step(Action(PROBLEM.program), Evaluation(Outcome.CORRECT), 1.0)
        reached.extend([State(PROBLEM, ROOT, step, (9, slot)) for slot in range(tried)])
    return Result(PROBLEM, reached, Spent(), None, "", False)


def test_rules_are_named_with_their_words_and_the_words_of_a_model_are_its_own() -> None:
    by_rules = after(ROOT, 3.0, "Built-in rewriter\n- fast_in(main): line 1: reads in blocks (prior 40)")
    assert change_lines(by_rules) == ("fast_in: line 1: reads in blocks",)
    by_model = after(ROOT, 3.0, "I replaced the\nquadratic loop by sorting.")
    assert change_lines(by_model) == ("I replaced the quadratic loop by sorting.",)
    assert change_lines(after(ROOT, 3.0, "")) == ("its author said nothing of it; see best.diff",)
    assert change_lines(None) == change_lines(ROOT) == ()


def test_what_a_model_writes_is_short_printable_and_never_taken_for_rules() -> None:
    said = "- fast_in(main): line 1: reads\x1b[2J in blocks\n" + "- a(b): c\n" * 1000
    by_rules = after(ROOT, 3.0, said)
    assert by_rules.step is not None and len(applied_rules(by_rules)) == 100
    assert applied_rules(by_rules)[0] == AppliedRule("fast_in", "line 1: reads\\x1b[2J in blocks", "main")
    asked = replace(by_rules.step, action=replace(by_rules.step.action, usage=Usage(calls=1)))
    by_model = State(PROBLEM, ROOT, asked, (1, 0))
    assert applied_rules(by_model) == []
    (told,) = change_lines(by_model)
    assert told.startswith("- fast_in(main): line 1: reads\\x1b[2J in blocks - a(b): c") and len(told) <= 230
    step = Step(Action(None, "?", unread="x\x1b" * 1000), Evaluation(Outcome.UNPARSED), 0.0)
    found = result(None)
    found.reached.extend([State(PROBLEM, ROOT, step, (1, 0))])
    (note,) = notes_on_candidates(found)
    assert len(note) < 330 and note.isprintable()


def test_of_many_steps_the_two_with_the_largest_gain_are_told() -> None:
    last = after(after(after(ROOT, 2.0, "sorts"), 2.1, "renames"), 8.0, "uses a table " + "x" * 500)
    first, second = change_lines(last)
    assert first == "step 1 (2.00x): sorts"
    assert second.startswith("step 3 (8.00x): uses a table")
    assert second.endswith("[...] (and 1 step with less effect)")
    assert len(second) < 300
    afresh = after(
        last, 9.0, "Built-in rewriter\nThis starts at the original again.\n- a(b): line 2: sums once (prior 4)"
    )
    assert change_lines(afresh) == ("a: line 2: sums once",)


def test_little_or_nothing_won_says_what_is_left_to_do() -> None:
    hot, further, table = left_lines(result(None), admitted(), RULES)
    assert hot == "the original spends 90% of its time at line 2: work();"
    assert "rules find no new algorithm" in further
    assert "When the answer is no" in table
    assert "--budget 48" in left_lines(result(after(ROOT, 1.1, "x")), admitted(), replace(RULES, policy="llm:big"))[1]
    assert left_lines(result(after(ROOT, 1.3, "x")), admitted(), RULES) == ()


def test_what_goes_on_with_a_run_is_named_for_its_kind_of_budget() -> None:
    def further(budget: int, method: str = "") -> str:
        asked = replace(RULES, policy="llm:big", budget=budget, method=method)
        return left_lines(result(after(ROOT, 1.1, "x")), admitted(), asked)[1]

    assert further(MANY).startswith("a larger --budget goes on"), "of tokens, money or time"
    assert "(--budget 20)" in further(10, "cuda-llm/paper") and "(--budget 64)" in further(40, "cuda-llm/paper")
    assert further(64, "cuda-llm/paper").startswith("another seed (--seed 1)"), "a preset has no more candidates"


def test_a_program_at_its_floor_is_told_so_and_one_that_was_not_timed_has_its_own_answer() -> None:
    (only,) = left_lines(result(None), admitted(start_s=0.04), RULES)
    assert "nothing is left to gain" in only
    assert left_lines(result(None), admitted(timed=False), RULES) == ()
    assert left_lines(result(None, tried=0), admitted(), RULES) == ()


def test_a_search_says_once_what_hindered_its_candidates_with_the_cure() -> None:
    refused = Evaluation(Outcome.WRONG, Feedback((FAILED,)))
    unread = Evaluation(Outcome.UNPARSED, Feedback(("there is no code block",)))
    found = result(None)
    steps = [
        Step(Action(None, "?", unread="there is no code block"), unread, 0.0),
        *[Step(Action(None), refused, 0.0)] * 2,
    ]
    found.reached.extend([State(PROBLEM, ROOT, step, (1, slot)) for slot, step in enumerate(steps)])
    one, two = notes_on_candidates(found)
    assert one == "1 answer held no program, and still counted as a candidate: there is no code block"
    assert two == f"2 candidates: {FAILED}; {MADE}"
    spec = ProgramSpec(generator=("python3", "gen.py", "{seed}"))
    assert list(notes_on_candidates(replace(found, problem=replace(PROBLEM, spec=spec)))) == [one]
    assert list(notes_on_candidates(result(None))) == []


def refused(*reasons: tuple[Outcome, str]) -> tuple[str, ...]:
    found = result(None, tried=0)
    steps = [Step(Action(PROBLEM.program), Evaluation(one, Feedback((why,))), 0.0) for one, why in reasons]
    steps.append(Step(Action(None), Evaluation(Outcome.UNPARSED), 0.0))
    found.reached.extend([State(PROBLEM, ROOT, step, (1, slot)) for slot, step in enumerate(steps)])
    return refusals(found)


def test_a_run_of_which_no_candidate_ran_says_why() -> None:
    words, build = (Outcome.REJECTED, "it calls mmap"), (Outcome.UNBUILT, "a.c:1: error\n  int x")
    assert refused(words, words) == ("2 of 2 rejected: it calls mmap",)
    assert refused(build, words, words) == ("2 of 3 rejected: it calls mmap", "1 of 3 unbuilt: a.c:1: error")
    many = [(Outcome.UNBUILT, f"error {n}") for n in range(5)]
    assert refused(*many)[-1] == "2 more reasons are in events.jsonl"
    assert refused(words, (Outcome.WRONG, "gave 3")) == refused() == ()


def test_the_table_it_points_to_is_there() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "results.md"
    assert "\n## When the answer is no\n" in page.read_text()


def test_the_winner_of_a_recorded_run_is_told(tmp_path: Path) -> None:
    best = make_run(tmp_path, WON).best
    assert change_lines(best) == (WON[0].words,)
    assert best is not None and best.step is not None
    unread = replace(best, parent=best, step=replace(best.step, action=Action(None, "nothing")), id=(9, 9))
    assert change_lines(unread) == (WON[0].words,)
