"""Methods are named compositions: what each shows, at which temperature, and whom it asks for critiques."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from maxcode.bench.ablation import ablated, parted
from maxcode.cli.list import list_
from maxcode.core.history import Reached
from maxcode.core.types import (
    Action,
    Case,
    CaseResult,
    Evaluation,
    Feedback,
    Hotspot,
    Machine,
    Observation,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    State,
    Step,
)
from maxcode.errors import InputError
from maxcode.observe import PARTS, improve
from maxcode.observe.critique import RuleCritic
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record
from maxcode.search import BestOfN, CudaLlm, EffiLearner, PerfCodeGen, Refine
from maxcode.search.methods import ADDED, PLUS, RECIPES, candidates, explained, method, names, recipe
from maxcode.search.presets import OURS, PRESETS
from maxcode.search.scene import Scene, admitted_scene
from maxcode.search.value import ValueRoles
from maxcode.search.value.baselines import Constant
from maxcode.search.value_guided import Guide
from maxcode.testing import Echo, Scripted, Table, exact_timing, toy_problem

MACHINE = Machine("node", "CPU of 2020", 4, "Linux 6", {"python": "Python 3"}, "bubblewrap")
TITLES = {name: told.partition(":")[0] for name, told in PARTS.items()}
INSTEAD = {"best": "Best of the run", "statement": "Program"}  # shown once the part that shows the same is off
SEEN = CaseResult("open", Outcome.CORRECT, 0.25, True)
BASELINE = Evaluation(
    Outcome.CORRECT, Feedback(cases=(SEEN,)), profile=(Hotspot("main", 1, 1.0),), measures={"open": 0.25}
)
SCENE = Scene(MACHINE, "slow input at line 1", BASELINE, {"open": "1 2 3"})


def child(parent: State, at: tuple[int, int], speed: float) -> State:
    outcome = Outcome.CORRECT if speed > 0 else Outcome.WRONG
    case = replace(SEEN, outcome=outcome, detail="" if speed > 0 else "expected '1'")
    evaluation = Evaluation(
        outcome,
        Feedback(("wrong",) if speed == 0 else (), cases=(case,)),
        exact_timing(speed) if speed > 0 else None,
        profile=(Hotspot("main", 1, 1.0),),
        measures={"open": 0.2},
    )
    step = Step(Action(Program({"toy.py": f"code {at}\n"}), f"- note {at}"), evaluation, speed, critique=f"why {at}")
    return State(parent.problem, parent, step, at)


@pytest.fixture
def reached() -> Reached:
    found = Reached(State(toy_problem("original\n")))
    good, bad = child(found.root, (1, 0), 1.6), child(found.root, (1, 1), 0.0)
    found.extend([good, bad])
    found.extend([child(good, (2, 0), 1.3)])
    return found


def shown(name: str, state: State, reached: Reached, without: frozenset[str] = frozenset()) -> dict[str, str]:
    made = method(name, Scripted(), 24, replace(SCENE, without=without))
    sections = made.observe(state, reached)
    assert len({section.title for section in sections}) == len(sections)
    return {section.title: section.text for section in sections}


@pytest.mark.parametrize("name", list(names()))
@pytest.mark.parametrize("at", [(0, 0), (1, 0), (1, 1), (2, 0)])
def test_any_part_of_any_method_can_be_switched_off_by_name(name: str, at: tuple[int, int], reached: Reached) -> None:
    state = reached[at]
    everything = shown(name, state, reached)
    for part in recipe(name).parts:
        rest = shown(name, state, reached, frozenset({part}))
        same_title = [other for other in recipe(name).parts if TITLES[other] == TITLES[part] and other != part]
        if not same_title:
            instead = INSTEAD.get(part, "")
            left = [title for title in everything if title not in (TITLES[part], instead)]
            assert [title for title in rest if title != instead] == left
    assert shown(name, state, reached, frozenset(PARTS)) == {}


def test_sections_come_in_one_order_whatever_the_method(reached: Reached) -> None:
    order = list(dict.fromkeys(TITLES.values()))
    for name in names():
        for state in reached:
            titles = list(shown(name, state, reached))
            assert titles == [title for title in order if title in titles]


def test_without_critiques_none_is_told_anywhere(reached: Reached) -> None:
    full = shown("cuda-llm+maxcode", reached[(2, 0)], reached)
    assert "why (1, 0)" in full["Trajectory"]
    assert full["Critique"] == "Step 2: why (2, 0)"
    less = shown("cuda-llm+maxcode", reached[(2, 0)], reached, frozenset({"critiques"}))
    assert not any("why (" in text for text in less.values())
    alone = shown("cuda-llm+maxcode", reached[(2, 0)], reached, frozenset({"trajectory"}))
    assert alone["Critique"] == "Step 2: why (2, 0)", "the paper's state has one critique"


def test_the_trajectory_is_as_long_as_the_user_says(reached: Reached) -> None:
    def told(most: int) -> str:
        made = method("cuda-llm+maxcode", Scripted(), 3, replace(SCENE, trajectory_tokens=most))
        return next(one.text for one in made.observe(reached[(2, 0)], reached) if one.title == "Trajectory")

    assert "why (1, 0)" in told(16_000) and "why (1, 0)" not in told(40)


def test_a_column_of_the_ablation_holds_what_its_name_says_and_nothing_of_u(reached: Reached) -> None:
    state = reached[(2, 0)]  # the best of its path is (1, 0) with 1.60x; it came after it with 1.30x
    for column in ablated("cuda-llm+maxcode", "observe"):
        name, off = parted(column)
        told = shown(name, state, reached, frozenset(off))
        everything = "\n".join(told.values())
        if column == "cuda-llm+maxcode":
            continue
        assert ("Best" in told, "Trajectory" in told, "Critique" in told) == tuple(
            part not in off for part in ("best", "trajectory", "critiques")
        )
        assert ("best" in told["Task"]) == ("best" not in off)
        critiques = everything.count("why (")
        assert critiques == ("critiques" not in off) * (1 + ("trajectory" not in off))
        if {"best", "trajectory"} <= set(off):  # the feedback compares with the step before, as the paper's does
            others = "\n".join(text for title, text in told.items() if title != "Feedback")
            assert "1.60" not in others and "code (1, 0)" not in others


def test_without_the_program_the_best_still_shows_its_own(reached: Reached) -> None:
    less = shown("cuda-llm+maxcode", reached[(1, 0)], reached, frozenset({"program"}))
    assert "code (1, 0)" in less["Best"]
    assert "code (1, 0)" not in shown("cuda-llm+maxcode", reached[(1, 0)], reached)["Best"]


def test_plus_maxcode_adds_the_papers_parts_and_nothing_else() -> None:
    for one in RECIPES:
        more = recipe(one.name + PLUS)
        assert set(more.parts) == {*one.parts, *ADDED}
        assert more.shows("critiques")
        assert not one.shows("critiques")


def test_an_unknown_part_or_method_is_bad_input_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="unknown part 'critique'; did you mean 'critiques'"):
        method("refine", Scripted(), 8, Scene(MACHINE, without=frozenset({"critique"})))
    with pytest.raises(InputError, match="did you mean 'best-of-n'"):
        method("best-of-m", Scripted(), 8, Scene(MACHINE))
    with pytest.raises(InputError) as refused:
        method("cuda-lm/paper", Scripted(), 8, Scene(MACHINE))
    told = str(refused.value)
    assert (
        told.startswith("unknown method 'cuda-lm/paper'; did you mean 'cuda-llm/paper' or 'cuda-llm")
        and len(told) < 200
    )


def test_the_budget_is_the_dial_and_64_is_the_papers_8_by_8() -> None:
    found = {name: method(name, Scripted(), 64, Scene(MACHINE)).search for name in names()}
    assert found["cuda-llm"] == found["cuda-llm+maxcode"] == CudaLlm(width=8, depth=8)
    assert found["effi-learner"] == EffiLearner(rounds=64)
    assert found["perfcodegen"] == PerfCodeGen(base=21)
    assert method("cuda-llm", Scripted(), 24, Scene(MACHINE)).search == CudaLlm(width=5, depth=5)
    assert method("best-of-n", Scripted(), 64, Scene(MACHINE)).search == BestOfN(n=64, width=8)


def test_a_model_is_asked_for_independent_samples_all_at_once() -> None:
    assert method("best-of-n", Scripted(), 64, Scene(MACHINE, asks_model=True)).search == BestOfN(n=64, width=64)


def test_a_run_that_goes_on_with_another_budget_keeps_its_width() -> None:
    assert method("cuda-llm", Scripted(), 64, Scene(MACHINE, shape=24)).search == CudaLlm(width=5, depth=13)


def test_a_critic_is_asked_only_where_its_words_are_shown() -> None:
    assert method("refine+maxcode", Scripted(), 8, Scene(MACHINE), Echo()).critic == Echo()
    assert method("refine", Scripted(), 8, Scene(MACHINE), Echo()).critic == RuleCritic()
    silent = Scene(MACHINE, without=frozenset({"critiques"}))
    assert method("refine+maxcode", Scripted(), 8, silent, Echo()).critic == RuleCritic()
    assert recipe("refine+maxcode").shows("critiques")
    assert not recipe("refine+maxcode", frozenset({"critiques"})).shows("critiques")


@dataclass
class Paid:
    """A critic that remembers whom it explained."""

    asked: list[str] = field(default_factory=list)

    async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str:
        assert step.action.program is not None
        self.asked.append(step.action.program.text)
        return f"because of {step.action.program.text}"


@pytest.mark.parametrize(("name", "often"), [("cuda-llm+maxcode", 3), ("cuda-llm+maxcode/paper", 8)])
def test_a_critique_that_costs_money_is_asked_for_when_its_program_is_expanded(
    name: str, often: int, tmp_path: Path
) -> None:
    critic, policy = Paid(), Listening()
    made = method(name, policy, 16, replace(SCENE, pays_critic=True), critic)
    table = Table(rule=lambda text: 1.1 + int(text) % 7)

    def run(budget: int) -> Reached:
        with Record(tmp_path) as record:
            return optimize(toy_problem(), made, table, Run(budget, record=record)).reached

    whole = run(16 if often == 3 else 8)
    assert len(critic.asked) == often, "of the three of 16 that were expanded; the paper asks about all"
    if often == 8:
        return
    told = [sections for depth, _, sections in policy.asked if depth]
    assert all("because of" in sections["Critique"] for sections in told)
    assert [bool(state.step and state.step.critique) for state in whole].count(True) == often
    again = run(16)
    assert len(critic.asked) == often, "the record has them"
    assert [state.step and state.step.critique for state in again] == [s.step and s.step.critique for s in whole]


@dataclass
class Listening:
    """A scripted policy that remembers what it was asked, by the depth of the state."""

    asked: list[tuple[int, float, dict[str, str]]] = field(default_factory=list)

    async def propose(self, observation: Observation) -> Action:
        told = {section.title: section.text for section in observation.sections}
        self.asked.append((observation.state.depth, observation.temperature, told))
        return await Scripted(write=lambda text, draw: f"{draw % 9973}").propose(observation)


def asked_by(name: str, budget: int, speed: dict[int, float | None]) -> list[tuple[int, float, dict[str, str]]]:
    policy = Listening()
    table = Table(rule=lambda text: speed[int(text) % len(speed)])
    optimize(toy_problem(), method(name, policy, budget, SCENE), table, Run(budget))
    return policy.asked


def test_all_methods_run_and_ask_at_the_papers_temperature_or_their_own() -> None:
    for name in names():
        asked = asked_by(name, 12, {0: 1.2, 1: None, 2: 1.5})
        assert len(asked) >= min(6, candidates(name, 12))
        later = 0.0 if name.startswith("perfcodegen") else 0.6
        first = 0.7 if name.startswith("perfcodegen") else 0.6
        assert {(depth == 0, temperature) for depth, temperature, _ in asked} <= {(True, first), (False, later)}


def test_perfcodegen_quotes_the_failing_test_then_nothing_then_the_slowest(reached: Reached) -> None:
    assert "Test" not in shown("perfcodegen", reached.root, reached)
    failed = shown("perfcodegen", reached[(1, 1)], reached)
    assert failed["Test"].startswith("test open: wrong. expected '1'\nits input:")
    assert "compiles but is not right" in failed["Task"]
    fresh = child(reached.root, (3, 0), 1.1)
    reached.extend([fresh])
    first = shown("perfcodegen", fresh, reached)
    assert "Test" not in first
    assert "run time is as short as possible" in first["Task"]
    second = shown("perfcodegen", reached[(2, 0)], reached)
    assert "test open takes longest: 200.0 ms" in second["Test"]
    assert "The test quoted above" in second["Task"]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_the_task_follows_the_outcome(reached: Reached, outcome: Outcome) -> None:
    step = Step(Action(None), Evaluation(outcome), 1.5 if outcome is Outcome.CORRECT else 0.0)
    told = improve(State(reached.root.problem, reached.root, step, (1, 0)), reached)
    words = {
        Outcome.UNPARSED: "No program could be read",
        Outcome.REJECTED: "refused",
        Outcome.UNBUILT: "does not compile",
        Outcome.CORRECT: "Write the fastest version you can",
    }
    assert words.get(outcome, f'the outcome is "{outcome.value}"') in told
    assert "$" not in told


def test_effi_learner_shows_the_profile_and_what_came_of_earlier_proposals(reached: Reached) -> None:
    told = shown("effi-learner", reached[(1, 0)], reached)
    assert set(told) == {"Problem", "Program", "Profile", "Failures", "Task"}
    assert "note (2, 0)" in told["Failures"]
    assert "note (1, 1)" not in told["Failures"], "it did not come from the stored program"
    assert "note (1, 1)" in shown("effi-learner+maxcode", reached[(1, 0)], reached)["Failures"]


def test_cuda_llm_shows_its_dialogue_without_critiques(reached: Reached) -> None:
    told = shown("cuda-llm", reached[(2, 0)], reached)["Trajectory"]
    assert "note (1, 0)" in told
    assert "why" not in told


def test_the_scene_quotes_the_beginning_of_every_seen_test(tmp_path: Path) -> None:
    (tmp_path / "small").write_text("1 2 3\n")
    (tmp_path / "large").write_bytes(b"x" * 5000)
    seen = tuple(Case(name, str(tmp_path / name), None) for name in ("small", "large"))
    held_out = (Case("secret", str(tmp_path / "missing"), None),)
    problem = replace(toy_problem(), spec=ProgramSpec(seen=seen, held_out=held_out))
    found = admitted_scene(MACHINE, problem, BASELINE, frozenset({"machine"}))
    assert found.inputs == {"small": "1 2 3\n", "large": "x" * 1000 + "\n[... 4000 more bytes]"}
    assert found.without == {"machine"}
    assert "line 1" in found.original
    (tmp_path / "small").unlink()
    with pytest.raises(InputError, match="small"):
        admitted_scene(MACHINE, problem, BASELINE)


def test_the_list_of_methods_explains_every_one(capsys: pytest.CaptureFixture[str]) -> None:
    list_.main(["methods"], standalone_mode=False)
    told = capsys.readouterr().out
    plain = {one.name + plus for one in RECIPES for plus in ("", PLUS)}
    assert set(explained()) == set(names()) == plain | set(PRESETS)
    for one in RECIPES:
        for words in (one.name, one.line, one.source, one.departs, ", ".join(one.parts)):
            assert words in told.replace("*", "")
    assert "showing best, run_best*, trajectory, critiques, failures*, branches*, failing_test too" in told


def test_a_preset_shows_one_part_that_is_ours_and_keeps_the_papers_budget_and_shape() -> None:
    for name in PRESETS:
        assert set(recipe(name).parts) & OURS == {"setting"}
        assert not set(recipe(name, frozenset({"setting"})).parts) & OURS
    added = set(recipe("cuda-llm+maxcode/paper").parts) - set(recipe("cuda-llm/paper").parts)
    assert added == {"best", "trajectory", "critiques"}
    added = set(recipe("effi-learner+maxcode/paper").parts) - set(recipe("effi-learner/paper").parts)
    assert added == {"critiques"}
    found = {name: method(name, Scripted(), 64, Scene(MACHINE)).search for name in PRESETS}
    assert found["cuda-llm/paper"] == found["cuda-llm+maxcode/paper"] == CudaLlm(width=8, depth=8)
    assert method("cuda-llm/paper", Scripted(), 8, Scene(MACHINE)).search == CudaLlm(width=3, depth=3)
    assert found["effi-learner+maxcode/paper"] == found["effi-learner/paper"] == Refine(depth=2)
    assert found["refine+maxcode/paper"] == Refine(depth=8, width=8)
    assert [candidates("cuda-llm/paper", asked) for asked in (0, 10, 1000)] == [64, 10, 64]
    assert [candidates("effi-learner/paper"), candidates("cuda-llm"), candidates("cuda-llm", 9)] == [2, 24, 9]
    model = ValueRoles(Constant(1.0))
    guided = Scene(MACHINE, guide=Guide(model, model))
    assert method("cuda-llm+maxcode/paper+value", Scripted(), 64, guided).search == CudaLlm(8, 8, by="value")


def test_effi_learner_of_the_paper_refines_its_first_candidate_also_if_that_is_slower() -> None:
    (_, _, first), (depth, _, second) = asked_by("effi-learner+maxcode/paper", 2, {0: 0.5})
    assert depth == 1, "from x1, not from the original again"
    assert "Profile" not in first and "Critique" not in first
    assert "Critique" in second and "Failures" not in second


def test_a_preset_tells_one_critique_and_none_of_the_original(reached: Reached) -> None:
    assert "Critique" not in shown("cuda-llm+maxcode/paper", reached.root, reached)
    less = shown("cuda-llm+maxcode/paper", reached[(2, 0)], reached, frozenset({"trajectory"}))
    assert less["Critique"].count("Step ") == 1


def test_with_a_discount_the_best_of_a_path_is_the_best_discounted_one() -> None:
    asked: list[State] = []

    class Watching:
        async def propose(self, observation: Observation) -> Action:
            asked.append(observation.state)
            return await Scripted(write=lambda text, draw: f"{len(asked)}").propose(observation)

    made = method("refine+maxcode", Watching(), 3, replace(SCENE, gamma=0.5))
    found = optimize(toy_problem(), made, Table(rule=lambda text: 1.9 + int(text)), Run(3))
    assert [round(state.reward, 1) for state in found.reached] == [1.0, 2.9, 3.9, 4.9]
    assert [state.peak.depth for state in found.reached] == [0, 1, 1, 1]  # 1, 1.45, 0.98, 0.61
    assert found.best is not None and found.best.reward == pytest.approx(4.9), "the answer is the fastest all the same"
