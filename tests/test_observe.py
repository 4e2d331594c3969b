"""Each part of an observation says its piece, can be switched off alone, and never shows what is held out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maxcode.errors import InputError
from maxcode.methods import Scene, method, names
from maxcode.observe import (
    Part,
    best,
    compose,
    critiques,
    failures,
    feedback,
    machine,
    program,
    result_line,
    run_best,
    statement,
    trajectory,
)
from maxcode.reached import Reached
from maxcode.search import BestOfN, CudaLlm
from maxcode.testing import Scripted, exact_timing, toy_problem
from maxcode.types import (
    Action,
    Argument,
    CaseResult,
    Evaluation,
    Feedback,
    FunctionSpec,
    Interval,
    Machine,
    Outcome,
    Program,
    ProgramSpec,
    State,
    Step,
)

MACHINE = Machine("node", "CPU of 2020", 4, "Linux 6", {"cpp": "g++ 12"}, "bubblewrap")
PARTS: dict[str, Part] = {
    "Problem": statement(),
    "Program": program(),
    "Feedback": feedback(),
    "Best": best(),
    "Best of the run": run_best(),
    "Trajectory": trajectory(),
    "Critique": critiques("the original reads slowly at line 3"),
    "Failures": failures(),
    "Machine": machine(MACHINE),
}


def child(parent: State, at: tuple[int, int], speed: float, note: str) -> State:
    if speed > 0:
        evaluation = Evaluation(Outcome.CORRECT, timing=exact_timing(speed))
    else:
        secret = CaseResult("secret", Outcome.WRONG, 0.1, False, "")
        told = CaseResult("open", Outcome.WRONG, 0.1, True, "token 1: expected '1', got '2'")
        evaluation = Evaluation(Outcome.WRONG, Feedback(("wrong",), cases=(told, secret)))
    completion = f"- {note}\n```python\ncode of {note}\n```\n"
    action = Action(Program({"toy.py": f"code of {note}\n"}), completion)
    return State(parent.problem, parent, Step(action, evaluation, speed, critique=f"critique of {note}"), at)


@pytest.fixture
def reached() -> Reached:
    found = Reached(State(toy_problem("original\n")))
    first = child(found.root, (1, 0), 1.6, "first")
    failed = child(found.root, (1, 1), 0.0, "failed")
    found.extend([first, failed])
    found.extend([child(first, (2, 0), 1.3, "second")])
    return found


def titles(state: State, reached: Reached, *parts: Part) -> list[str]:
    return [section.title for section in compose(*parts)(state, reached)]


def text(title: str, state: State, reached: Reached) -> str:
    (section,) = compose(PARTS[title])(state, reached)
    return section.text


def test_at_the_root_only_what_exists_is_said() -> None:
    fresh = Reached(State(toy_problem()))
    assert titles(fresh.root, fresh, *PARTS.values()) == ["Problem", "Program", "Critique", "Machine"]
    assert titles(fresh.root, fresh, critiques()) == []


def test_each_part_can_be_switched_off_and_the_others_stay_the_same(reached: Reached) -> None:
    state = reached[(2, 0)]
    everything = compose(*PARTS.values())(state, reached)
    assert [section.title for section in everything] == list(PARTS)
    for title in PARTS:
        rest = compose(*(part for name, part in PARTS.items() if name != title))(state, reached)
        assert rest == tuple(section for section in everything if section.title != title)


def test_the_best_of_the_path_is_the_papers_u_and_not_the_last(reached: Reached) -> None:
    told = text("Best", reached[(2, 0)], reached)
    assert "- first" in told
    assert "=> correct, speedup 1.60x [1.60, 1.60]" in told
    assert "code of first" in told
    assert text("Best of the run", reached[(1, 1)], reached) == told
    assert titles(reached[(1, 1)], reached, best()) == []  # on this path the original is still the best


def test_the_trajectory_is_oldest_first_with_results_and_without_code(reached: Reached) -> None:
    told = text("Trajectory", reached[(2, 0)], reached)
    assert told.index("- first") < told.index("=> correct, speedup 1.60x") < told.index("- second")
    assert "critique of first" in told
    assert "code of" not in told


def test_a_long_trajectory_is_shortened_and_says_so(reached: Reached) -> None:
    state = reached[(2, 0)]
    for number in range(3, 9):
        state = child(state, (number, 0), 1.0 + number / 10, f"step{number}")
    (section,) = compose(trajectory(limit=3))(state, reached)
    assert section.text.startswith("(5 earlier steps are left out")
    assert "- step6" in section.text
    assert "- step5" not in section.text


def test_failures_of_other_branches_are_told_with_their_reason(reached: Reached) -> None:
    told = text("Failures", reached[(2, 0)], reached)
    assert "- failed" in told
    assert "=> wrong: wrong" in told
    assert "- first" not in told


def test_the_feedback_has_four_parts_and_contrasts_with_the_step_before(reached: Reached) -> None:
    told = text("Feedback", reached[(2, 0)], reached)
    assert "=> correct, speedup 1.30x" in told
    assert "0.81x the speed of the previous step" in told
    wrong = child(reached[(2, 0)], (3, 0), 0.0, "third")
    told = text("Feedback", wrong, reached)
    assert "test open: wrong. token 1: expected '1', got '2'" in told
    assert "newly failing: open" in told
    slower = replace(reached[(2, 0)].step, evaluation=_measured(0.4)) if reached[(2, 0)].step else None
    before = replace(reached[(1, 0)].step, evaluation=_measured(0.2)) if reached[(1, 0)].step else None
    parent = State(reached.root.problem, reached.root, before, (1, 0))
    told = text("Feedback", State(reached.root.problem, parent, slower, (2, 0)), reached)
    assert "test open: 200.0 ms before, 400.0 ms now" in told


def _measured(seconds: float) -> Evaluation:
    case = CaseResult("open", Outcome.CORRECT, seconds, True)
    return Evaluation(Outcome.CORRECT, Feedback(cases=(case,)), exact_timing(1.1), measures={"open": seconds})


def test_nothing_of_a_held_out_test_is_ever_shown_but_that_it_failed(reached: Reached) -> None:
    for state in reached:
        shown = "\n".join(section.text for section in compose(*PARTS.values())(state, reached))
        assert "secret" not in shown
    assert "1 held-out test(s) failed" in text("Feedback", reached[(1, 1)], reached)


def test_a_program_with_fences_in_it_survives_being_shown() -> None:
    nasty = "a = '''\n```\nnot the end\n```\n'''\n"
    fresh = Reached(State(toy_problem(nasty)))
    shown = text("Program", fresh.root, fresh)
    assert shown.startswith("````")
    assert nasty in shown


def test_plus_maxcode_adds_the_papers_parts_and_nothing_else(reached: Reached) -> None:
    scene = Scene(MACHINE, "slow input")
    plain = method("cuda-llm", Scripted(), 64, scene)
    more = method("cuda-llm+maxcode", Scripted(), 64, scene)
    state = reached[(2, 0)]
    before = [section.title for section in plain.observe(state, reached)]
    after = [section.title for section in more.observe(state, reached)]
    assert after[: len(before)] == before
    assert after[len(before) :] == ["Best", "Best of the run", "Trajectory", "Critique", "Failures"]


def test_the_budget_is_the_dial_and_64_is_the_papers_8_by_8() -> None:
    assert method("cuda-llm", Scripted(), 64, Scene(MACHINE)).search == CudaLlm(width=8, depth=8)
    assert method("cuda-llm", Scripted(), 24, Scene(MACHINE)).search == CudaLlm(width=5, depth=5)
    assert method("best-of-n", Scripted(), 3, Scene(MACHINE)).search == BestOfN(n=3, width=3)


def test_an_unknown_method_is_bad_input_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="did you mean 'best-of-n'"):
        method("best-of-m", Scripted(), 8, Scene(MACHINE))
    searches = ("best-of-n", "refine", "cuda-llm", "beam", "tree", "elites")
    assert set(names()) == {name + plus for name in searches for plus in ("", "+maxcode")}


def test_the_statement_of_a_function_says_its_prototype_sizes_and_tolerance() -> None:
    arguments = (Argument("n", "int"), Argument("x", "double", "n", "inout"))
    spec = FunctionSpec("scale", arguments, ((64,),), (), "n", "scale.h", "void scale(int n, double *x);\n")
    problem = replace(toy_problem(), kind="function", spec=ProgramSpec(function=spec))
    text = statement()(State(problem), Reached(State(problem)))
    assert text is not None
    for words in ("void scale(int n, double *x);", "timed at n = 64", "at most 1e-09"):
        assert words in text.text


def test_the_rate_of_a_function_is_told_with_its_share_of_the_roofline() -> None:
    timing = replace(exact_timing(2.0), gflops=Interval(50, 49, 51), roofline=100)
    assert "50.0 GFLOPS, 50% of the roofline" in result_line(Evaluation(Outcome.CORRECT, timing=timing))
