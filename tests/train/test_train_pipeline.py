"""The whole run at toy size on a table of rates: corpus, pre-training, assessments, GRPO, report, resumed anywhere."""

from __future__ import annotations

import json
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from maxcode.code.techniques import used
from maxcode.core.types import Interval, Outcome
from maxcode.errors import InputError, MachineError, RecordError
from maxcode.problems import load
from maxcode.search.archive import Archive, Kept
from maxcode.search.stages import USUAL, read_stages
from maxcode.testing import Table
from maxcode.train import corpus as kernels
from maxcode.train import pipeline
from maxcode.train.assess import AnswerLine, Assessment, figures, stages_to_ask
from maxcode.train.config import CorpusTable, ModelTable, read_config
from maxcode.train.measuring import Measuring
from maxcode.train.model import load_model, size
from maxcode.train.pipeline import Note, run
from maxcode.train.prompts import plain_layout
from tests.support.toy_run import DEMO, Died, Rated, TableBench, toy

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("toy") / "run"
    notes: list[Note] = []
    run(toy(), out, TableBench(), notes.append)
    assert [*dict.fromkeys(note.phase for note in notes)] == ["corpus", "pretrain", "before", "grpo", "after"]
    return out


@pytest.mark.slow
def test_a_run_ends_with_figures_an_archive_the_best_kernel_and_a_report(finished: Path) -> None:
    told = json.loads((finished / "result.json").read_text())
    assert set(told["before"]) == {"gemm/0", "gemm/1", "gemm/2", "gemm/3", "all"}
    assert told["before"]["all"]["answers"] == told["after"]["all"]["answers"] == 16
    assert {"corpus", "pretrain", "before", "grpo", "after", "best"} == set(told["seconds"])
    assert told["parameters"] > 10_000
    assert set(told["beyond"]["gemm"]) == {"kernels", "of_kernels", "cells", "of_cells", "best"}
    page = (finished / "report.html").read_text()
    for word in ("Before and after", "While it learned", "Where the time went", "Archive", "Best of 16", "<svg"):
        assert word in page
    assert "<script" not in page and "http://" not in page.replace("http://www.w3.org", "")


def test_a_finished_run_is_only_reported_again(finished: Path) -> None:
    before = (finished / "result.json").read_text()
    bench = TableBench()
    again = run(toy(), finished, bench)
    assert bench.training.asked == bench.afresh.asked == []
    assert json.loads(before)["after"] == again.after
    assert len(bench.assessing.asked) <= 1, "the best kernel alone is measured anew"


def test_what_training_held_is_freed_before_its_weights_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a GPU holds the policy twice, and its optimizer, while answers of the last weights are sampled."""
    trained: list[weakref.ref[object]] = []
    held: list[bool] = []

    def sized(model: Any) -> int:
        trained.append(weakref.ref(model))
        return size(model)

    def read(path: str, table: ModelTable) -> Any:
        held.extend(one() is not None for one in trained)
        return load_model(path, table)

    monkeypatch.setattr(pipeline, "size", sized)
    monkeypatch.setattr(pipeline, "load_model", read)
    few: dict[str, object] = {
        "pretrain": {"steps": 2},
        "grpo": {"steps": 1, "prompts": 2, "generations": 4, "max_completion": 60},
        "assess": {"samples": 1, "before": False},
        "diversity": {"stages": "none"},
    }
    run(toy(**few), tmp_path / "run", TableBench())
    assert held == [False]


def test_a_run_of_another_configuration_is_refused(finished: Path) -> None:
    with pytest.raises(RecordError, match="holds another run"):
        run(toy(seed=1), finished, TableBench())


def test_a_run_that_is_broken_off_in_any_phase_ends_as_the_unbroken_one(finished: Path, tmp_path: Path) -> None:
    """Broken off while the corpus is evaluated, while answers are assessed, and while it learns."""
    breaks: list[Callable[[TableBench], None]] = [
        lambda bench: setattr(bench.training, "dies_after", 1),
        lambda bench: setattr(bench.assessing, "dies_after", 2),
        lambda bench: setattr(bench.training, "dies_after", 4),
    ]
    for at in breaks:
        bench = TableBench()
        at(bench)
        with pytest.raises(Died):
            run(toy(), tmp_path, bench)
    run(toy(), tmp_path, TableBench())
    for name in (
        "corpus.jsonl",
        "before/answers.jsonl",
        "grpo/samples.jsonl",
        "after/answers.jsonl",
        "grpo/archive.json",
    ):
        assert (tmp_path / name).read_bytes() == (finished / name).read_bytes(), name


def test_two_problems_of_one_name_are_refused_because_one_would_be_left_out(tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    shutil.copytree(DEMO / "gemm", twin)
    with pytest.raises(InputError, match=r"two problems have the id 'gemm'.*twin"):
        run(toy(problems=["gemm", str(twin)]), tmp_path / "run", TableBench())


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    import fcntl

    with open(tmp_path / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(RecordError, match="in use"):
            run(toy(), tmp_path, TableBench())


# -------------------------------------------------------------------------------------------------------------- corpus


def test_the_corpus_holds_legal_kernels_within_what_their_prompts_permit() -> None:
    problem = load(DEMO / "gemm").problem
    found = list(kernels.examples([problem], CorpusTable(kernels=120, steps=4), seed=1))
    assert len(found) == 120
    assert list(kernels.examples([problem], CorpusTable(kernels=120, steps=4), seed=1)) == found
    for one in found:
        permitted = {line[2:] for line in one.prompt.split("//from")[0].splitlines() if line.startswith("//")}
        assert used("c", one.kernel) <= permitted
        assert "void gemm(" in one.kernel
    shown = sum("//from" in one.prompt for one in found)
    assert 30 < shown < 90
    assert len(kernels.distinct(found)) > 40


def test_a_corpus_with_a_wrong_kernel_is_refused() -> None:
    problem = load(DEMO / "gemm").problem
    wrong = [kernels.Example("gemm", "", "int x;\n")]
    with pytest.raises(MachineError, match="a legal transformation is wrong"):
        anyio.run(kernels.verify, wrong, [problem], Measuring(Rated()), 1, 0)


def test_a_machine_that_fails_leaves_kernels_of_the_corpus_out_and_what_it_measured_is_kept(tmp_path: Path) -> None:
    problem = load(DEMO / "gemm").problem
    found = list(kernels.examples([problem], CorpusTable(kernels=60, steps=3), seed=1))

    def verified(rule: Table) -> int:
        measuring = Measuring(rule, None, tmp_path)
        measuring.resume(1)
        return len(anyio.run(kernels.verify, found, [problem], measuring, 6, 0))

    async def away(text: str) -> None:
        raise MachineError("the node went away")

    asked: list[str] = []

    async def flaky(text: str) -> None:
        asked.append(text)
        if len(asked) in (2, 5):
            raise MachineError("the node went away")

    with pytest.raises(MachineError, match="none of 6 kernels"):
        verified(Table(rule=lambda text: 2.0, before=away))
    assert verified(Table(rule=lambda text: 2.0, before=flaky)) == 4
    assert verified(Table(rule=lambda text: 2.0, before=flaky)) == 6
    assert len(asked) == 6 + 2


def test_what_an_archive_holds_beyond_its_corpus_is_counted_up_to_layout() -> None:
    problem = load(DEMO / "gemm").problem
    text = problem.program.text
    new = text.replace("double sum", "double total").replace("sum", "total")
    corpus = [kernels.Example("gemm", "", plain_layout(text), ()), kernels.Example("other", "", new, ("simd",))]
    archive = Archive([Kept((), problem.program, 1.0, 0), Kept(("simd",), problem.program.with_text(new), 2.0, 1)])
    assert kernels.beyond(corpus, archive, problem) == kernels.Beyond(1, 2, 1, 2, best=True)


def test_plain_layout_keeps_the_code_alone() -> None:
    assert plain_layout("// why\nint f(void) {\n    return 1; // one\n\n}\n") == "int f(void) {\nreturn 1; // one\n}"


# -------------------------------------------------------------------------------------------------------------- figures


def answer(value: float | None, mark: str = "m", stage: int = 0) -> AnswerLine:
    rate = Interval(value, value, value) if value is not None else None
    outcome = Outcome.CORRECT if value is not None else Outcome.WRONG
    return AnswerLine(problem="p", stage=stage, mark=mark, outcome=outcome, rate=rate, text="")


def test_failures_count_as_nothing_and_answers_that_the_machine_failed_do_not_count() -> None:
    lost = AnswerLine(problem="p", stage=0, mark="x", outcome=None, rate=None, text="")
    found = figures([answer(4.0, "a"), answer(None, "b"), answer(8.0, "a"), lost])
    assert (found.answers, found.mean.value, found.median.value, found.best) == (3, 4.0, 4.0, 8.0)
    assert found.valid.value == pytest.approx(2 / 3)
    assert found.unique == pytest.approx(2 / 3)
    assert found.best_of[8].value == 8.0, "with fewer than eight answers it is the best of all"
    assert found.mean.low <= found.mean.value <= found.mean.high


def test_the_best_of_k_over_all_stages_is_the_mean_of_the_stages() -> None:
    found = Assessment((answer(2.0, stage=0), answer(2.0, stage=0), answer(10.0, stage=1), answer(10.0, stage=1))).whole
    assert found.best_of[8].value == 6.0
    assert found.mean.value == 6.0


def test_every_problem_is_asked_at_every_stage() -> None:
    config = toy()
    problem = load(DEMO / "gemm").problem
    asked = stages_to_ask([problem], config.rules.stages)
    assert [stage for _, stage in asked] == [0, 1, 2, 3]
    assert asked[0][0].permitted == frozenset({"restrict", "simd"})
    assert stages_to_ask([problem], None) == [(problem, 0)]


# -------------------------------------------------------------------------------------------------------- configuration


@pytest.mark.parametrize(
    "path",
    [*DEMO.glob("*.toml"), ROOT / "configs" / "qwen2.5-coder-14b.toml", ROOT / "configs" / "schedule.toml"],
    ids=lambda p: p.stem,
)
def test_the_configurations_that_ship_can_be_read(path: Path) -> None:
    config = read_config(path)
    assert all((folder / "problem.toml").exists() for folder in config.paths)
    stages = config.rules.stages
    assert stages is None if path.stem == "schedule" else len(stages or ()) >= 1


def test_the_stages_that_ship_are_the_usual_ones() -> None:
    assert read_stages(ROOT / "configs" / "stages.toml") == USUAL


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"grpo.step": 3}, "did you mean 'steps'"),
        ({"model.scratch.hiden": 3}, "did you mean 'hidden'"),
        ({"model.scratch.heads": 5}, "multiple of twice the heads"),
        ({"model.scratch.layers": 0}, "multiple of twice the heads"),
        ({"model.lora": {"rr": 3}}, "Known: "),
        ({"reward.kind": "paperr"}, "reward"),
        ({"grpo.generations": 1}, "at least"),
        ({"grpo.at_once": 12}, "whole groups"),
        ({"grpo.save_limit": 1}, "needs 2"),
        ({"grpo.more": {"beta": 1.0}}, "grpo.more.beta is set by maxcode"),
        ({"advantage.k": 1}, "plain mean"),
        ({"diversity.stages": "nowhere.toml"}, "cannot read the stages"),
        ({"problems": []}, "name at least one"),
        ({"corpus.steps": 0}, r"`corpus\.steps`: expected a whole number >= 1"),  # its walks would hang
        ({"pretrain.steps": 0}, r"`pretrain\.steps`: expected a whole number >= 1"),  # which would mean three epochs
        ({"assess.at_once": 0}, r"`assess\.at_once`: expected a whole number >= 1"),
        ({"grpo.prompts": 0}, r"`grpo\.prompts`: expected a whole number >= 1"),
        ({"diversity.shown": 50}, r"`diversity\.shown`: expected a number <= 1.0"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused_with_the_cure(changes: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        read_config(DEMO / "demo.toml", changes)
