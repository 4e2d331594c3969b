"""The comparisons of training at toy size on a table of rates: every cell once, resumed, at equal distinct kernels."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
import tomli_w

from maxcode.core.types import Observation, Outcome, Problem, State
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.function.function import Inputs, spec_of
from maxcode.evaluate.function.second_look import shape_of
from maxcode.evaluate.function.sizes import timed_shapes
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input, build_original
from maxcode.evaluate.ladder.verify import verify
from maxcode.evaluate.target import LocalMachine
from maxcode.policy.rules.kernels import Kernels, Permitted
from maxcode.policy.rules.kernels.schedule import offers
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from maxcode.train.prompts import steps_on_one_core
from tests.support.toy_run import DEMO, TABLE, Rated, TableBench

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SYRK = BENCHMARKS / "more_kernels" / "syrk"
GEMM = load(DEMO / "gemm").problem


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the benchmarks by name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def script(module: Any) -> Any:
    return module("rl")


def any_kernel() -> TableBench:
    """A machine that rates every kernel."""
    training, afresh, assessing = (Rated(function=r"\w+") for _ in range(3))
    return TableBench(training, afresh, assessing)


def toy_config(folder: Path, **changes: Any) -> Path:
    path = folder / "toy.toml"
    path.write_text(tomli_w.dumps({**TABLE, "problems": [str(DEMO / "gemm")], **changes}))
    return path


# --------------------------------------------------------------------------------------------------------- comparisons


@pytest.mark.slow
@pytest.mark.parametrize("completion", ["text", "schedule"])
def test_variants_and_what_the_same_number_of_distinct_kernels_brings_otherwise(
    completion: str, script: Any, tmp_path: Path
) -> None:
    begin = "corpus" if completion == "schedule" else "empty"
    config = toy_config(tmp_path, diversity={"begin": begin})
    bench = TableBench()
    setting = script.Setting(config, tmp_path / "out", bench, lambda note: None, {"completion": completion})
    found = script.rows(setting, [script.DEFAULT, "plain"], [0])
    names = ["pre-trained", script.DEFAULT, "plain", "corpus", "generator", "best-of-N", "search"]
    assert [row["variant"] for row in found["rows"]] == names
    by_name = {row["variant"]: row for row in found["rows"]}
    measured = by_name[script.DEFAULT]["kernels"]
    assert measured > 0
    assert all(by_name[kind]["kernels"] == measured for kind in ("corpus", "generator", "search"))
    assert 0 < by_name["best-of-N"]["kernels"] <= measured
    assert by_name["corpus"]["valid"] == 1.0
    assert set(by_name["plain"]["step"]) == set(script.SECONDS)
    told = script.table(found)
    assert all(name in told for name in (*names, "of 4 unique"))
    assert ("RL over search" in told) == bool(by_name[script.DEFAULT]["finalists"])
    before = len(bench.training.asked)
    assert script.rows(setting, [script.DEFAULT, "plain"], [0]) == found
    assert len(bench.training.asked) == before, "a cell that is there is not made again"
    cell = json.loads((tmp_path / "out" / "cells" / "corpus-0.json").read_text())
    assert cell.pop("asked")["count"] == measured
    assert cell == by_name["corpus"]


@pytest.mark.slow
def test_the_arms_meet_in_one_race_and_the_archive_counts_what_it_began_with(
    module: Any, script: Any, tmp_path: Path
) -> None:
    config = toy_config(tmp_path, diversity={"begin": "corpus"})
    setting = script.Setting(config, tmp_path / "out", TableBench(), lambda note: None, {"completion": "schedule"})
    found = script.rows(setting, [script.DEFAULT], [0])
    (race,) = found["races"]
    arms = [script.DEFAULT, *script.BESIDE]
    assert sorted(race["best"]) == sorted(arms)
    assert len(race["rounds"]) == module("learning.finals").ROUNDS
    rate = {name: 1.0 + math.log(len(text)) for name, text in race["winners"].items()}  # as the table has it
    for name in arms:
        assert race["best"][name]["value"] == pytest.approx(rate[name])
        assert script.over(race, script.DEFAULT, name)["value"] == pytest.approx(rate[script.DEFAULT] / rate[name])
    run = tmp_path / "out" / "runs" / module("learning.cells").slug(f"{script.DEFAULT}-0")
    lines = [json.loads(line) for line in (run / "grpo" / "measurements.jsonl").read_text().splitlines()]
    begun = json.loads((run / "corpus.json").read_text())["measured"]["gemm"]
    alone = {line["key"].split()[1] for line in lines}
    assert len(begun) == 3
    assert len(alone) <= found["rows"][1]["kernels"] <= len(alone) + 3


def test_a_cell_is_read_only_where_all_that_it_depends_on_is_the_same(module: Any, tmp_path: Path) -> None:
    cells = module("learning.cells")
    config = toy_config(tmp_path)

    def made(given: dict[str, Any], **changes: Any) -> Any:
        setting = cells.Setting(config, tmp_path / "out", any_kernel(), lambda note: None, changes)
        return cells.kept(setting, "a cell", lambda: {"value": len(list(tmp_path.glob("out/cells/*")))}, given)

    first = made({"at": (2, 4)})
    assert made({"at": (2, 4)}) == first and first["value"] == 0
    with pytest.raises(InputError, match=r"a-cell\.json was made with another at; give another --out"):
        made({"at": (2, 8)})
    with pytest.raises(InputError, match="was made with another completion, seed; "):
        made({"at": (2, 4)}, completion="schedule", seed=7)
    with pytest.raises(InputError, match=r"was made with another grpo\.steps; "):
        made({"at": (2, 4)}, **{"grpo.steps": 99})
    path = tmp_path / "out" / "cells" / "a-cell.json"
    path.write_text(json.dumps({"value": 1}))  # of a version that kept nothing of this
    with pytest.raises(InputError, match="was made with another "):
        made({"at": (2, 4)})


def test_a_best_that_fails_when_it_is_timed_again_is_told_and_counts_as_the_original(module: Any) -> None:
    held_out = module("learning.held_out")
    rows = [
        {"problem": "one", "original": 2.0, "best": {"mine": {"2": 4.0, "4": 0.0}, "other": {"2": 2.0, "4": 1.0}}},
        {"problem": "two", "original": 2.0, "best": {"mine": {"2": 2.0, "4": 0.0}, "other": {"2": 2.0, "4": 4.0}}},
    ]
    lines = list(held_out.table(rows, ["mine", "other"], [2, 4]))
    assert "mine: 2 failed when timed again and count as 1.00: one after 4, two after 4" in lines
    assert not any(line.startswith("other: ") for line in lines)
    assert [held_out.gain(row, "mine", 4) for row in rows] == [1.0, 1.0]


def test_the_rows_of_a_kernel_with_several_seeds_are_one_kernel(module: Any) -> None:
    held_out = module("learning.held_out")

    def rows(*gains: float) -> list[dict[str, Any]]:
        best = [{"mine": {"4": gain}, "other": {"4": 2.0}} for gain in gains]
        return [{"problem": f"k{at}", "original": 1.0, "best": one} for at, one in enumerate(best)]

    once = held_out.ratio(rows(4.0, 3.0, 2.5, 1.0), "mine", 4, "other", 4)
    assert held_out.ratio(rows(4.0, 3.0, 2.5, 1.0) * 5, "mine", 4, "other", 4) == once
    assert (once["kernels"], once["low"] < 1.0) == (4, True)
    seeds = held_out.ratio([*rows(4.0, 1.0), *rows(1.0, 4.0)], "mine", 4, "other", 4)
    assert seeds["value"] == seeds["low"] == seeds["high"] == pytest.approx(1.0), "what seeds scatter is no gain"


def test_an_original_that_fails_is_no_figure(module: Any, tmp_path: Path) -> None:
    held_out, cells = module("learning.held_out"), module("learning.cells")
    training, afresh, assessing = (Rated(function="nothing has this name") for _ in range(3))
    nothing = TableBench(training, afresh, assessing)
    setting = cells.Setting(toy_config(tmp_path), tmp_path / "out", nothing, lambda note: None)
    test = held_out.Test([GEMM], [2], "test", {})
    with pytest.raises(MachineError, match="the original of gemm failed when it was timed again"):
        held_out.held_out(setting, test, {"none": lambda problem: []})
    assert not list((tmp_path / "out" / "cells").glob("*again*"))


def test_a_row_of_polybench_is_read_only_for_the_same_options(module: Any) -> None:
    polybench = module("polybench")
    task = polybench.Task("gemm", "MINI", "MINI", 1, 8, 3, 15, "clang")
    row = {**polybench.vars_of(task), "pairs": 15}
    assert polybench.key_of(row) == task.key
    others = {"kernel": "lu", "size": "LARGE", "search": "SMALL", "cores": 2, "budget": 9, "seeds": 4}
    others |= {"passes": 3, "clang": "clang-19"}
    assert others.keys() == polybench.vars_of(task).keys()
    for name, value in others.items():
        assert polybench.key_of(row) != replace(task, **{name: value}).key
    del row["passes"]  # of a version that did not keep it
    assert polybench.key_of(row) != task.key


def test_the_variants_are_those_that_are_to_be_compared(script: Any) -> None:
    kinds = {name: changes["advantage.kind"] for name, changes in script.VARIANTS.items()}
    assert set(kinds.values()) == {"plain", "leave_one_out", "max_at_k", "entropic"}
    for name, changes in script.VARIANTS.items():
        assert changes["diversity.archive"] == ("SQD" in name or "archive" in name), name
        assert changes["diversity.promotion"] == ("SQD" in name or "stages" in name), name


def test_variants_that_are_named_measure_as_many_kernels_in_a_step_with_every_seed(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedules = script.Setting(
        BENCHMARKS.parent / "configs" / "schedule.toml", tmp_path, TableBench(), lambda note: None
    )
    usual = schedules.config({}).grpo
    for name in script.NAMED:
        told = schedules.config(script.changes_of(name))
        assert told.grpo.generations + told.grpo.explore == usual.generations, name
        assert (told.grpo.explore > 0, told.diversity.go_on) == ("explore" in name, "go on" in name)
        assert told.imitation.elites == ("elites" in name)
    made = lambda setting, name, make, given=None: {"variant": name, "seed": 0, "kernels": 9}  # noqa: E731
    monkeypatch.setattr(script, "kept", made)
    first, second = script.DEFAULT, f"{script.DEFAULT}+explore"
    both = script.rows(schedules, [first, second, "plain"], [1, 2], [])
    names = [f"{name}-{seed}" for name in (first, second) for seed in (1, 2)]
    assert [row["variant"] for row in both["rows"]] == ["base", *names, "plain-1"]


# ------------------------------------------------------------------------------------------------------------ transfer


@pytest.mark.slow
def test_a_policy_of_several_kernels_proposes_for_one_that_is_held_out(script: Any, tmp_path: Path) -> None:
    changes = {"completion": "schedule"}
    setting = script.Setting(toy_config(tmp_path), tmp_path / "out", any_kernel(), lambda note: None, changes)
    held = script.Held((str(SYRK),), (2, 4), 1)
    found = script.transferred(setting, held, 0)
    assert [Path(name).name for name in found["trained on"]] == ["gemm", "nest00"]
    (row,) = found["rows"]
    assert row["problem"] == "syrk"
    assert row["measured"] == dict.fromkeys(("policy", "pre-trained", "random", "search"), 4)
    assert all(best["4"] >= best["2"] > 0 for best in row["best"].values())
    assert "policy after 2 over search after 4: " in script.summary([found])
    before = len(setting.bench.training.asked)
    assert script.transferred(setting, held, 0) == found
    assert len(setting.bench.training.asked) == before


@pytest.mark.parametrize("name", [str(DEMO / "gemm"), "polybench:gemm"])
def test_a_kernel_that_is_trained_on_is_not_held_out_in_another_version(name: str, script: Any, tmp_path: Path) -> None:
    setting = script.Setting(toy_config(tmp_path), tmp_path / "out", any_kernel(), lambda note: None)
    with pytest.raises(InputError, match="gemm would be trained on and held out"):
        script.transferred(setting, script.Held((name,), (2,), 1), 0)
    in_suite = script.Setting(
        setting.path, tmp_path / "other", any_kernel(), setting.say, {"problems": ["polybench:gemm"]}
    )
    with pytest.raises(InputError, match="gemm would be trained on and held out"):
        script.transferred(in_suite, script.Held((name,), (2,), 1), 0)


def test_generated_nests_are_problems_and_the_same_for_one_seed(module: Any, tmp_path: Path) -> None:
    nests = module("learning.nests")
    paths = nests.written(tmp_path / "one", 16)
    problems = [load(path).problem for path in paths]
    assert [one.id for one in problems] == [f"nest{number:02}" for number in range(16)]
    for one in problems:
        assert offers(one.language, one.program.text, Permitted(templates=False), one.program.text)
    again = nests.written(tmp_path / "two", 16)
    assert [load(path).problem.program for path in again] == [one.program for one in problems]


async def taken_and_long_enough(sandbox: Sandbox, builder: Builder, problem: Problem) -> None:
    """It is admitted with two calls, because an admission makes as many on a dozen sorts of values; those of a timed
    pass are made twice, as where one run is barely long enough."""
    few = replace(problem, spec=replace(problem.spec, function=replace(spec_of(problem), calls=2)))
    _, admitted, _ = await LocalMachine().prepare(few)
    assert any(shape_of(one).habits for one in admitted.inputs), admitted.notes
    original = await build_original(builder, problem)
    assert original.artefact is not None
    (shape,) = timed_shapes(problem)
    for plan in await Inputs(sandbox, problem).fresh_each([shape, shape]):
        given = Input(shape.name, plan, None, "generated", workload=shape)
        (found,) = (await verify(sandbox, problem, original.artefact, [given])).results
        assert (found.outcome, found.seconds >= shape.floor_s) == (Outcome.CORRECT, True), (problem.id, found)


@pytest.mark.sandbox
def test_the_compiler_takes_every_kind_of_nest_and_it_writes_what_it_says(
    module: Any, sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    nests = module("learning.nests")
    seed = 9  # draws no nest that hardly takes long enough
    for path in nests.written(tmp_path, len(nests.KINDS), seed):
        anyio.run(taken_and_long_enough, sandbox, builder, load(path).problem)


# -------------------------------------------------------------------------------------------------------------- a prior


def test_a_prior_without_weights_proposes_what_the_policy_kernels_proposes(module: Any) -> None:
    prior = module("learning.prior")
    for draw in range(30):
        asked = Observation((), State(GEMM), draw)
        mine, theirs = (anyio.run(policy.propose, asked) for policy in (prior.Fitted({}), Kernels()))
        assert mine.program == theirs.program, draw


def test_a_fit_makes_likelier_what_led_to_a_gain(module: Any) -> None:
    prior = module("learning.prior")
    may = steps_on_one_core(GEMM, templates=False)
    labels, priors, options = prior.decisions(GEMM.language, GEMM.program.text, may)
    good = [label for label in labels if label.startswith("accumulate(")]
    assert 0 < len(good) < len(labels)
    drawn = random.Random(0).choices(labels, prior.probabilities(priors, options, {}), k=100)
    chains = [
        prior.Chain(GEMM.id, GEMM.language, (label,), (GEMM.program.text,), (4.0 if label in good else 1.0,))
        for label in drawn
    ]
    weights = prior.fitted(prior.choices(chains, {GEMM.id: may}))

    def share(found: dict[str, float]) -> float:
        shares = prior.probabilities(priors, options, found)
        return float(sum(one for one, label in zip(shares, labels, strict=True) if label in good))

    assert share(weights) > 1.5 * share({})
    assert prior.led_to(prior.Chain("", "c", ("a", "b", "c"), ("", "", ""), (0.5, 2.0, 0.0))) == [
        math.log(2.0),
        math.log(2.0),
        0.0,
    ]


@pytest.mark.slow
def test_a_prior_is_fitted_on_nests_and_tested_on_kernels_that_are_held_out(module: Any, tmp_path: Path) -> None:
    tuner, cells = module("tuner"), module("learning.cells")
    setting = cells.Setting(tuner.DEMO, tmp_path / "out", any_kernel(), lambda note: None)
    options = argparse.Namespace(nests=2, chains=2, at=[2, 4], seeds=[0], held_out=[SYRK])
    found, told = tuner.tuned(setting, options)
    (row,) = found["tests"][0]
    assert row["measured"] == {"fitted": 4, "by hand": 4}
    assert "fitted after 2 over by hand after 4: " in told
    assert json.loads((tmp_path / "out" / "weights.json").read_text()) == found["fit"]["weights"] != {}
