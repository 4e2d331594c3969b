"""Value models: they learn, they are data when they lie on disk, and a stranger's file runs nothing."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from maxcode.core.types import (
    Action,
    CaseResult,
    Evaluation,
    Feedback,
    LoopBody,
    MachineCode,
    Outcome,
    Problem,
    Program,
    State,
    Step,
)
from maxcode.core.types.measured import JUDGED
from maxcode.errors import InputError
from maxcode.run.report.run_view import read_run
from maxcode.search.value import Blend, BusiestLoop, Situation, Trees, ValueRoles, digest, load, read, situation
from maxcode.search.value.features import NAMES, features
from maxcode.testing import toy_problem
from maxcode.train.to_go import Training, train_to_go
from maxcode.train.to_go.boosting import fit_trees
from maxcode.train.to_go.dataset import Dataset, assembled
from maxcode.train.to_go.evaluation import Plan, at, evaluate, summary, table, told_of
from maxcode.train.to_go.fit import Fit, rows
from maxcode.train.to_go.fitting import MODELS, fit
from maxcode.train.to_go.model_figures import SHARES, ScoredPair, choice, figures
from maxcode.train.to_go.pairs import read_pairs, run_folders
from tests.support.value_help import run, several

pytestmark = pytest.mark.heavy

PROBLEMS = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return several(tmp_path_factory.mktemp("runs"), PROBLEMS)


@pytest.fixture(scope="module")
def data(runs: Path) -> Dataset:
    return assembled(read_pairs(run_folders([runs])), frozenset("b"), "quantile")


@pytest.fixture(scope="module")
def folder(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("model")
    train_to_go(Training((runs,), out, model="trees", held_out=("b",)))
    return out


def test_features_are_numbers_and_what_an_execution_tells_is_missing_before_it(data: Dataset) -> None:
    for pair in data.held_out:
        after, before = features(pair.situation), features(pair.situation.unseen())
        assert len(after) == len(before) == len(NAMES)
        unknown = {NAMES[at] for at, number in enumerate(before) if math.isnan(number)}
        assert {name for name in NAMES if name.startswith("last: ")} <= unknown
        assert not math.isnan(after[NAMES.index("last: reward")])
        assert all(math.isfinite(one) or math.isnan(one) for one in after)


def test_trees_rank_the_states_of_a_problem_they_never_saw_and_the_baselines_do_not(data: Dataset) -> None:
    trees = fit_trees(*rows(data, data.train))
    found = figures(told_of(trees, data, data.held_out))
    assert found.spearman_before is not None
    assert found.spearman_before > 0.5
    _, constant = fit("constant", data, Fit(Path()))
    chance = figures(told_of(constant, data, data.held_out))
    assert chance.spearman_before == 0.0
    assert found.siblings[0.3][1] < chance.siblings[0.3][1]


@pytest.mark.slow
def test_the_same_data_and_seed_give_the_same_trees(data: Dataset) -> None:
    one, again, other = (fit_trees(*rows(data, data.train), seed) for seed in (0, 0, 1))
    assert one == again
    assert one != other


@pytest.mark.slow
def test_a_loaded_model_says_what_the_trained_one_said_without_scikit_learn(
    folder: Path, data: Dataset, runs: Path
) -> None:
    trained = fit_trees(*rows(data, data.train))
    states = [state for state in read_run(runs / "b-refine").reached if state.step is not None]
    expected = trained.expected([situation(state) for state in states])
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['sklearn', 'numpy', 'torch']))\n"
        "from pathlib import Path; import anyio\n"
        "from maxcode.run.report.run_view import read_run; from maxcode.search.value import load\n"
        "states = [one for one in read_run(Path(sys.argv[2])).reached if one.step]\n"
        "print(anyio.run(load(Path(sys.argv[1])).estimate, states))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(runs / "b-refine")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == pytest.approx(expected)


def test_a_candidate_is_foreseen_before_it_is_run_as_it_was_trained(folder: Path, runs: Path) -> None:
    states = [state for state in read_run(runs / "b-refine").reached if state.parent is not None]
    model = load(folder)
    for state in states[:4]:
        assert state.parent is not None and state.step is not None
        told = anyio.run(model.foresee, state.parent, [state.step.action, Action(None, unread="nothing")])
        assert told[0] == model.predictor.expected([situation(state).unseen()])[0]
        assert math.isfinite(told[1])


SLOW_CODE, FAST_CODE = (
    MachineCode(40, 2, (LoopBody(2, 11, lanes, lanes, 1, 1, 2, 0, 0, 0, 0, 0, cycles=4.0),)) for lanes in (1, 8)
)


@dataclass
class Words:
    """A compiler that turns reserving into wide loops."""

    asked: list[Program] = field(default_factory=list)

    async def machine_code(self, problem: Problem, action: Action) -> MachineCode | None:
        if action.program is None:
            return None
        self.asked.append(action.program)
        return FAST_CODE if "reserve" in action.program.text else SLOW_CODE


@dataclass
class Rates:
    """Expects of a program what the busiest loop of its machine code does in a cycle."""

    seen: list[Situation] = field(default_factory=list)

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        self.seen += situations
        return [one.code.bodies[0].rate if one.code is not None else 0.0 for one in situations]


def test_what_is_drawn_is_judged_by_its_machine_code_where_a_compiler_stands_beside() -> None:
    root = State(toy_problem("x = 1\n"))
    drawn = [Action(Program({"toy.py": text})) for text in ("x = 1\ny\n", "x = 1\nreserve\n")]
    compiler, rates = Words(), Rates()
    model = ValueRoles(rates, compiler=compiler)
    unread = Action(None, unread="nothing")
    assert anyio.run(model.foresee, root, [*drawn, unread]) == [0.25, 2.0, 0.25]
    assert [one.original_code for one in rates.seen] == [SLOW_CODE] * 3
    assert compiler.asked[1:] == [action.program for action in drawn]
    step = Step(drawn[1], Evaluation(Outcome.CORRECT, machine_code=FAST_CODE), 2.0)
    fast = State(root.problem, root, step, (1, 0))
    again = State(root.problem, fast, Step(unread, Evaluation(Outcome.UNPARSED), 0.0), (2, 0))
    assert anyio.run(model.estimate, [fast, again, root]) == [2.0, 2.0, 0.25]
    assert [one.parent_code for one in rates.seen[-3:]] == [SLOW_CODE, FAST_CODE, SLOW_CODE]
    assert anyio.run(ValueRoles(Rates()).foresee, root, drawn) == [0.0, 0.0]


def test_without_training_the_busiest_loop_is_gone_by_and_nothing_ties(tmp_path: Path) -> None:
    model = load(Path("busiest-loop"))
    known = replace(situation(State(toy_problem("x"))), original_code=SLOW_CODE)
    wide = [MachineCode(9, 1, (replace(FAST_CODE.bodies[0], work=work),)) for work in (0, 1, 4, 400, 800)]
    seen = [*(replace(known, code=code) for code in (MachineCode(), *wide)), known]
    none, idle, slow, fast, faster, fastest, unknown = model.predictor.expected(seen)
    assert none == idle == unknown < slow < 1 < fast < faster < fastest < 4.1
    assert digest(Path("busiest-loop")) == "busiest-loop"
    with pytest.raises(InputError, match="cannot read the value model"):
        load(tmp_path / "busiest-loop")


@pytest.mark.slow
def test_a_blend_is_the_mean_of_both_and_the_trees_alone_where_no_machine_code_is_read(data: Dataset) -> None:
    trees, _ = fit("trees", data, Fit(Path()))
    blend, _ = fit("blend", data, Fit(Path()))
    assert isinstance(trees, Trees)
    assert isinstance(blend, Blend)
    one = data.held_out[0].situation.unseen()
    known = replace(one, code=FAST_CODE, original_code=SLOW_CODE)
    learnt, promised = trees.expected([known])[0], blend.loop.expected([known])[0]
    assert promised > 1
    assert blend.expected([known]) == [pytest.approx((learnt + promised) / 2)]
    assert blend.expected([one.unbuilt()]) == trees.expected([one.unbuilt()])


def test_a_loop_of_a_program_that_does_not_work_promises_nothing() -> None:
    known = replace(situation(State(toy_problem("x"))), code=FAST_CODE, original_code=SLOW_CODE)
    ran = [Step(Action(None), Evaluation(outcome), 0.0) for outcome in (Outcome.WRONG, Outcome.CORRECT)]
    wrong, correct, unrun = BusiestLoop().expected([*(replace(known, step=step) for step in ran), known])
    assert wrong == 0
    assert correct == unrun > 1


def test_a_blend_of_another_feature_version_is_refused_with_the_cure(runs: Path, tmp_path: Path) -> None:
    def older(found: dict[str, Any]) -> None:
        found["model"]["trees"]["reads"] = "0-beef"

    train_to_go(Training((runs,), tmp_path / "blend", held_out=("b",)))
    with pytest.raises(InputError, match=r"trained on feature version '0-beef'"):
        load(spoiled(tmp_path / "blend", tmp_path, older))


def test_machine_code_tells_apart_what_the_text_does_not_and_is_no_number_where_it_is_not_known() -> None:
    one = replace(situation(State(toy_problem("x = 1\n"))), code=FAST_CODE, original_code=SLOW_CODE)
    numbers = dict(zip(NAMES, features(one), strict=True))
    assert numbers["machine: busiest lanes"] == pytest.approx(math.log(9))
    assert numbers["machine, over original: busiest lanes"] == pytest.approx(math.log(9) - math.log(2))
    assert math.isnan(numbers["machine, change: busiest lanes"])
    unbuilt = dict(zip(NAMES, features(one.unbuilt()), strict=True))
    assert {name for name in NAMES if repr(numbers[name]) != repr(unbuilt[name])} <= {
        name for name in NAMES if name.startswith("machine")
    }
    nothing = dict(zip(NAMES, features(replace(one, code=MachineCode())), strict=True))
    assert nothing["machine: instructions"] == 0


def test_only_the_seconds_of_inputs_count_and_not_what_judging_takes() -> None:
    known = situation(State(toy_problem("x = 1\n")))

    def seconds(measures: dict[str, float], *names: str) -> float:
        cases = tuple(CaseResult(name, Outcome.CORRECT, 0.0, seen=True) for name in names)
        found = Evaluation(Outcome.CORRECT, Feedback(cases=cases), measures=measures)
        one = replace(known, step=Step(Action(None), found, 1.0))
        return dict(zip(NAMES, features(one), strict=True))["last: seconds"]

    judging = {"build_s": 9.0, "build_mb": 70.0, JUDGED: 40.0}
    assert seconds({"1": 0.5, "2": 0.25}, "1", "2") == math.log(0.75)
    assert seconds({"benchmark": 0.5, **judging}, "tests", "benchmark") == math.log(0.5)
    assert math.isnan(seconds(judging, "tests"))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "generative"])
def test_every_model_is_saved_loaded_and_used_alike(name: str, runs: Path, tmp_path: Path) -> None:
    found = train_to_go(Training((runs,), tmp_path, model=name, held_out=("b",)))
    model = load(tmp_path)
    states = [state for state in read_run(runs / "b-refine").reached if state.step is not None]
    values = anyio.run(model.estimate, states)
    assert values == anyio.run(model.estimate, states)
    assert all(0 <= value <= 4 for value in values)
    assert set(found.held_out) == {name, "constant", "random", "fastest-so-far", "busiest-loop"}
    card = (tmp_path / "CARD.md").read_text()
    for fact in ("held-out problems: b", "training problems: a, c, d, e", f"kind: {name}", "spearman", "edges"):
        assert fact in card


def spoiled(folder: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    found = json.loads((folder / "value.json").read_text())
    change(found)
    (tmp_path / "value.json").write_text(json.dumps(found))
    return tmp_path


def test_a_model_of_another_feature_version_is_refused_with_the_cure(folder: Path, tmp_path: Path) -> None:
    def older(found: dict[str, Any]) -> None:
        found["model"]["reads"] = "0-beef"

    with pytest.raises(InputError, match=r"trained on feature version '0-beef', this maxcode makes .* train it again"):
        load(spoiled(folder, tmp_path, older))


def change_tree(column: int, value: object) -> Callable[[dict[str, Any]], None]:
    def change(found: dict[str, Any]) -> None:
        found["model"]["rounds"][0][0][column][0] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        change_tree(3, 0),  # a walk that never ends
        change_tree(4, 10**6),
        change_tree(0, len(NAMES)),
        change_tree(5, 1e999),
        change_tree(1, "system"),
        lambda found: found["model"].update(type="os.system"),
        lambda found: found["model"].update(rounds=[[]]),
        lambda found: found["model"].update(classes=[0]),
        lambda found: found.update(format=99),
        lambda found: found.update(gamma=0.0),
        lambda found: found.update(code="import os"),
    ],
)
def test_a_strangers_model_is_checked_before_it_is_used(
    folder: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    with pytest.raises(InputError, match="train it again"):
        load(spoiled(folder, tmp_path, change))


class Attack:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.system, ("touch attacked",))


@pytest.mark.parametrize("made", [pickle.dumps(Attack()), b"", b"\xff\xfe", b"[" * 100_000, b"null"])
def test_a_file_that_is_no_model_runs_nothing(made: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "value.json").write_bytes(made)
    with pytest.raises(InputError, match="is not a value model"):
        load(tmp_path)
    assert not (tmp_path / "attacked").exists()
    with pytest.raises(InputError, match="cannot read the value model"):
        load(tmp_path / "nowhere")


def test_what_is_saved_is_what_is_read(folder: Path) -> None:
    saved = read(folder)
    assert msgspec.json.decode(msgspec.json.encode(saved), type=type(saved)) == saved
    assert set(saved.edges) == {"programs"}


@pytest.mark.slow
def test_an_evaluation_holds_every_problem_out_and_gives_a_spread(runs: Path) -> None:
    pairs = read_pairs(run_folders([runs]))
    found = evaluate(pairs, Plan(("trees", "constant", "random", "fastest-so-far"), seeds=(0, 1), folds=2))
    for by_seed in found.values():
        assert [one.states for one in by_seed.values()] == [len(pairs)] * 2
    told = summary(found)
    assert told["random"]["saved"] == (0, 0, 0)
    assert told["constant"]["regret@50%"] == told["random"]["regret@50%"], "no opinion is chance"
    assert told["trees"]["siblings@25%"][0] < told["random"]["siblings@25%"][0]


def test_a_figure_where_so_few_are_never_measured_is_none() -> None:
    curve = {0.1: (0.3, 0.5), 0.5: (0.6, 0.2), 1.0: (1.0, 0.0)}
    assert at(curve, 0.25) is None
    assert at(curve, 0.45) == pytest.approx(0.35)
    told = summary({"random": {0: replace(figures([]), regret=curve, siblings=curve)}})
    assert told["random"]["regret@25%"] is None
    assert "-" in table(told)


def test_a_run_that_draws_one_at_a_time_leaves_nothing_to_choose(tmp_path: Path) -> None:
    run(tmp_path / "wide", "wide", "cuda-llm")
    wide = [ScoredPair(pair, 0, pair.reward, pair.reward) for pair in read_pairs(run_folders([tmp_path]))]
    single = [replace(one, pair=replace(one.pair, run="single", at=(n, 0))) for n, one in enumerate(wide, 1)]
    assert figures([*wide, *single]).regret == figures(wide).regret
    assert math.isnan(figures(single).regret[0.5][0])


def test_only_states_of_one_run_are_chosen_between(tmp_path: Path) -> None:
    """A greedy run goes on from one state a depth, so it cannot tell which would have been better."""
    for seed in (1, 2):
        run(tmp_path / str(seed), "a", "cuda-llm", seed=seed)
    told = [ScoredPair(pair, 0, 0.0, pair.target) for pair in read_pairs(run_folders([tmp_path]))]
    assert {pair.pair.run for pair in told if pair.pair.below} == {str(tmp_path / "1"), str(tmp_path / "2")}
    assert choice(told) is None
    together = [replace(one, pair=replace(one.pair, run="one")) for one in told]
    assert choice(together) == 0


def test_a_regret_is_nothing_when_all_is_measured_and_falls_with_what_is(data: Dataset) -> None:
    _, predictor = fit("constant", data, Fit(Path()))
    found = figures(told_of(predictor, data, data.held_out))
    for curve in (found.regret, found.siblings):
        assert curve[1.0] == (1.0, 0.0)
        assert curve[0.1][1] > curve[0.5][1] > 0
        assert [curve[share][0] for share in SHARES] == sorted(curve[share][0] for share in SHARES)
