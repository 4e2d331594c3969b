"""GRPO through TRL at toy size: a killed run goes on bit by bit, advantages arrive unchanged, failures are left out."""

from __future__ import annotations

import ast
import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from maxcode.core.types import Problem, Program, ProgramSpec
from maxcode.errors import InputError, MachineError
from maxcode.testing import Table
from maxcode.train import grpo
from maxcode.train.config import GrpoTable, PretrainTable, config_of
from maxcode.train.corpus import Example
from maxcode.train.grpo import (
    PromptMaker,
    Steps,
    arguments,
    build_trainer,
    callback,
    last_whole,
    new_judge,
    portions,
    step_of,
    train,
)
from maxcode.train.judge import Judge, StepLine
from maxcode.train.measuring import Measuring
from maxcode.train.model import load_tokenizer, new_model, train_tokenizer
from maxcode.train.pipeline import run
from maxcode.train.pretrain import last_checkpoint, pretrained
from tests.support.selection import some

SUPPORT = Path(__file__).parents[1] / "support"
from tests.support import grpo_driver, toy_run  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]


def driven(folder: Path, kill_at: int | None = None) -> subprocess.CompletedProcess[str]:
    words = [str(kill_at)] if kill_at is not None else []
    return subprocess.run(
        [sys.executable, str(SUPPORT / "grpo_driver.py"), str(folder), *words],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_run_that_is_killed_and_taken_up_again_equals_the_unbroken_one_bit_by_bit(tmp_path: Path) -> None:
    """Weights, answers, advantages and archive: killed by SIGKILL in step 4, after the checkpoint of step 4 steps."""
    whole = driven(tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    killed = driven(tmp_path / "killed", kill_at=4)
    assert killed.returncode == -signal.SIGKILL
    checkpoint = last_whole(tmp_path / "killed")
    assert checkpoint is not None and step_of(checkpoint) == 4
    resumed = driven(tmp_path / "killed")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout == whole.stdout
    told = [(tmp_path / name / "steps.jsonl").read_text().splitlines() for name in ("whole", "killed")]
    assert (
        [json.loads(line)["step"] for line in told[1]]
        == list(range(6))
        == [json.loads(line)["step"] for line in told[0]]
    )


@pytest.mark.slow  # three more starts of torch; the kill before is the fast one
def test_a_finished_run_keeps_its_weights_and_one_killed_while_writing_them_gets_them_again(tmp_path: Path) -> None:
    first = driven(tmp_path)
    assert first.returncode == 0, first.stderr
    weights = tmp_path / "final" / "model.safetensors"
    learned = weights.read_bytes()
    again = driven(tmp_path)
    assert again.returncode == 0, again.stderr
    assert weights.read_bytes() == learned
    weights.write_bytes(b"torn")
    (tmp_path / "archive.json").unlink()
    mended = driven(tmp_path)
    assert mended.returncode == 0, mended.stderr
    assert weights.read_bytes() == learned
    assert mended.stdout == first.stdout


def test_a_checkpoint_of_pre_training_that_a_kill_tore_is_passed_over(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path / "none") is None
    for step, state in ((5, "{}"), (10, "{}"), (15, '{"global_st'), (20, None)):
        (tmp_path / f"checkpoint-{step}").mkdir()
        if state is not None:
            (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(state)
    assert last_checkpoint(tmp_path) == str(tmp_path / "checkpoint-10")


def together(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """The driver in two processes that train together."""
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*start, str(SUPPORT / "grpo_driver.py"), str(folder), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow  # half a minute of starting processes
def test_two_processes_keep_one_archive_and_are_taken_up_again_as_one(tmp_path: Path) -> None:
    whole = together(tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    one, other = whole.stdout.splitlines()
    assert one == other, "the same weights, samples and archive in both"
    lines = (tmp_path / "whole" / "steps.jsonl").read_text().splitlines()
    assert [json.loads(line)["samples"] for line in lines] == [8] * 6
    assert (tmp_path / "whole" / "measurements-1.jsonl").exists()
    assert together(tmp_path / "killed", 4).returncode != 0
    resumed = together(tmp_path / "killed")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.splitlines() == [one, other]


@pytest.mark.parametrize(
    ("prompts", "at_once", "count", "found"),
    [(4, 0, 1, (16, 1)), (4, 8, 1, (8, 2)), (4, 0, 4, (4, 1)), (8, 4, 2, (4, 4))],
)
def test_a_step_is_shared_by_processes_in_whole_groups(
    prompts: int, at_once: int, count: int, found: tuple[int, int]
) -> None:
    assert portions(GrpoTable(prompts=prompts, generations=4, at_once=at_once), count) == found


def test_a_step_that_processes_cannot_share_is_refused() -> None:
    with pytest.raises(InputError, match="3 processes"):
        portions(GrpoTable(prompts=4, generations=4), 3)
    with pytest.raises(InputError, match="whole groups"):
        portions(GrpoTable(prompts=2, generations=4), 4)


def toy(folder: Path, table: Table, **grpo: object) -> tuple[Any, Judge, Any]:
    told = grpo_driver.config(steps=2, **grpo)
    judge = new_judge(told, [grpo_driver.PROBLEM], Measuring(table, None, folder), folder)
    return told, judge, grpo_driver.learner(told)


@pytest.mark.slow
def test_advantages_reach_the_loss_as_they_are_and_a_failure_of_the_machine_has_none(tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    async def flaky(text: str) -> None:
        if len(text) % 4 == 1:
            raise MachineError("the node went away")

    told, judge, learner = toy(tmp_path, Table(rule=grpo_driver.worth, before=flaky), more={"log_completions": True})
    lines: list[StepLine] = []
    train(told, learner, judge, tmp_path, lines.append)
    ours = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    failed = [one for one in ours if one["outcome"] is None]
    assert failed and all(one["score"] is None and one["advantage"] is None for one in failed)
    assert sum(line.scored for line in lines) == len(ours) - len(failed)
    tables = [parquet.read_table(path) for path in sorted((tmp_path / "completions").glob("*.parquet"))]
    theirs = [value for table in tables for value in table.column("advantage").to_pylist()]
    assert theirs == pytest.approx([one["advantage"] or 0.0 for one in ours], abs=1e-5)
    logged = [value for table in tables for value in table.column("score").to_pylist()]
    assert [one is None for one in logged] == [one["score"] is None for one in ours]
    assert [one or 0.0 for one in logged] == pytest.approx([one["score"] or 0.0 for one in ours])


@pytest.mark.parametrize("kind", some(["max_at_k", "plain"], 1))
def test_a_policy_learns_to_write_what_is_worth_more(kind: str, tmp_path: Path) -> None:
    """From random bytes to letters: a wrong sign anywhere between reward and loss would unlearn them."""
    more = {"steps": 30, "generations": 8, "max_completion": 6, "learning_rate": 0.02, "warmup_steps": 0}
    told = config_of(
        {**grpo_driver.TABLE, "advantage": {"kind": kind, "k": 3}, "diversity": {"archive": False, "stages": "none"},
         "grpo": {**grpo_driver.TABLE["grpo"], **more}}, "learns")  # type: ignore[dict-item]  # fmt: skip
    table = Table(rule=lambda text: 1.0 + 4.0 * sum(one.isascii() and one.isalpha() for one in text))
    judge = new_judge(told, [grpo_driver.PROBLEM], Measuring(table), tmp_path)
    lines: list[StepLine] = []
    train(told, grpo_driver.learner(told), judge, tmp_path, lines.append)
    first, last = (sum(line.mean for line in some) / 5 for some in (lines[:5], lines[-5:]))
    assert last > 1.5 * first


def test_every_measured_kernel_is_kept_and_the_archive_is_a_result_of_the_run(tmp_path: Path) -> None:
    told, judge, learner = toy(tmp_path, Table(rule=grpo_driver.worth))
    final = train(told, learner, judge, tmp_path)
    texts = {line["text"] for line in map(json.loads, (tmp_path / "measurements.jsonl").read_text().splitlines())}
    kept = {one.program.text for one in judge.progress.archive("scale")}
    assert kept <= texts
    assert len(judge.measuring) == len(texts)
    best = json.loads((tmp_path / "archive.json").read_text())["scale"][0]
    assert best["quality"] == max(grpo_driver.worth(text) or 0.0 for text in texts)
    assert (final / "model.safetensors").exists()


def test_trackers_are_told_of_rates_seconds_stages_and_cells(tmp_path: Path) -> None:
    """What transformers' `report_to` passes on is what the trainer logs."""
    told, judge, learner = toy(tmp_path, Table(rule=grpo_driver.worth))
    train(told, learner, judge, tmp_path)
    logged = json.loads((tmp_path / "checkpoint-2" / "trainer_state.json").read_text())["log_history"][1]
    line = judge.steps[1]
    assert logged["kernels/best"] == line.best
    assert logged["kernels/unique"] == line.unique
    assert logged["seconds/generate"] == pytest.approx(line.generate_s)
    assert (logged["stage/scale"], logged["cells/scale"]) == (line.stages["scale"], line.cells["scale"])
    assert logged["rewards/score/mean"] == pytest.approx(line.score, abs=1e-6)


def test_prompts_of_later_steps_show_kernels_of_earlier_ones(tmp_path: Path) -> None:
    _, judge, _ = toy(tmp_path, Table(rule=grpo_driver.worth))
    texts = [f"void f{'x' * number}();" for number in range(8)]
    best = max(texts, key=lambda text: grpo_driver.worth(text) or 0.0)
    judge.begin()
    judge.judge([0] * 4 + [1] * 4, texts)
    rows = [judge.progress.row(number) for number in range(4, 30)]
    assert {row.shown.program.text for row in rows if row.shown is not None} == {best}
    asked = PromptMaker(judge)({"row": list(range(4, 30))})
    assert [best in prompt for prompt in asked["prompt"]] == [row.shown is not None for row in rows]


def test_adapters_and_batches_in_pieces_train_too(tmp_path: Path) -> None:
    _, judge, learner = toy(tmp_path, Table(rule=grpo_driver.worth))
    with_lora = config_of(
        {**grpo_driver.TABLE, "model": {**grpo_driver.TABLE["model"], "lora": {"r": 2}},  # type: ignore[dict-item]
         "grpo": {**grpo_driver.TABLE["grpo"], "steps": 1, "at_once": 4}}, "t")  # type: ignore[dict-item]  # fmt: skip
    lines: list[StepLine] = []
    final = train(with_lora, learner, judge, tmp_path, lines.append)
    assert (final / "adapter_model.safetensors").exists()
    assert [line.samples for line in lines] == [8], "pieces of the backward pass, one step of the judge"


def test_a_tokenizer_read_back_gives_the_same_tokens(tmp_path: Path) -> None:
    """The class that a Qwen2 folder asks for would replace the pre-tokenizer, and the policy would write garbage."""
    text = "//scale\n//simd\n//to\n" + grpo_driver.KERNEL
    tokenizer = train_tokenizer([text] * 9, 320)
    tokenizer.save_pretrained(tmp_path)
    new_model(grpo_driver.config().model.scratch, tokenizer, 0).save_pretrained(tmp_path)
    again = load_tokenizer(str(tmp_path), "compact")
    assert again.encode(text) == tokenizer.encode(text)
    assert again.decode(again.encode(text)) == text
    assert len(tokenizer.encode("1234567")) > len(tokenizer.encode("2")), "numbers are tokens of their own"


def test_the_kl_term_of_a_policy_from_scratch_holds_it_to_its_pre_training(tmp_path: Path) -> None:
    """The reference is read from the folder, also by the process that has just written it."""
    told = replace(grpo_driver.config(beta=0.04), pretrain=PretrainTable(steps=2, batch=2))
    made = pretrained(told, [Example("scale", "//scale\n", grpo_driver.KERNEL)] * 9, tmp_path / "pretrained")
    judge = new_judge(told, [grpo_driver.PROBLEM], Measuring(Table(rule=grpo_driver.worth)), tmp_path)
    trainer: Any = build_trainer(told, made, judge, tmp_path)
    theirs = trainer.ref_model.state_dict()
    assert theirs and all(theirs[name].equal(one) for name, one in made.model.state_dict().items())


def test_a_corpus_of_examples_that_are_all_too_long_is_refused_with_the_cure(tmp_path: Path) -> None:
    config = grpo_driver.config()
    config = replace(config, corpus=replace(config.corpus, most_tokens=3))
    corpus = [Example("scale", "//scale\n", grpo_driver.KERNEL)] * 9
    with pytest.raises(InputError, match=r"has 3 tokens or fewer; raise corpus\.most_tokens"):
        pretrained(config, corpus, tmp_path / "pretrained")


def test_a_training_that_diverged_ends_before_a_checkpoint_keeps_it(tmp_path: Path) -> None:
    wild = PretrainTable(steps=4, batch=2, save_steps=1, learning_rate=1e30)
    told = replace(grpo_driver.config(), pretrain=wild)
    with pytest.raises(MachineError, match=r"diverged: .* after step 2; lower pretrain\.learning_rate"):
        pretrained(told, [Example("scale", "//scale\n", grpo_driver.KERNEL)] * 9, tmp_path / "pretrained")
    assert [path.name for path in (tmp_path / "pretrained-checkpoints").iterdir()] == ["checkpoint-1"]
    _, judge, _ = toy(tmp_path, Table(rule=grpo_driver.worth))
    marks = callback(Steps(judge, lambda line: None))
    marks.on_log(None, SimpleNamespace(global_step=3), None, {"grad_norm": 0.5, "loss": 0.0})
    with pytest.raises(MachineError, match=r"gradient of \[grpo\] is nan after step 3"):
        marks.on_log(None, SimpleNamespace(global_step=3), None, {"grad_norm": float("nan")})


def test_what_diverged_is_kept_by_no_checkpoint_that_comes_before_the_next_line_of_the_log(tmp_path: Path) -> None:
    seldom = PretrainTable(steps=100, batch=2, save_steps=4, learning_rate=1e30)  # a line after 5 steps
    told = replace(grpo_driver.config(), pretrain=seldom)
    with pytest.raises(MachineError, match=r"after step 4; lower pretrain\.learning_rate"):
        pretrained(told, [Example("scale", "//scale\n", grpo_driver.KERNEL)] * 9, tmp_path / "pretrained")
    assert not list((tmp_path / "pretrained-checkpoints").iterdir())
    _, judge, _ = toy(tmp_path, Table(rule=grpo_driver.worth))
    for saves in (True, False):
        control = SimpleNamespace(should_save=saves, should_log=False)
        callback(Steps(judge, lambda line: None)).on_step_end(None, None, control)
        assert control.should_log is saves


def test_a_corpus_of_which_most_is_left_out_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = grpo_driver.config()
    config = replace(config, corpus=replace(config.corpus, most_tokens=60), pretrain=PretrainTable(steps=1, batch=1))
    corpus = [Example("scale", "//scale\n", text) for text in ["int x;", *[grpo_driver.KERNEL * 20] * 3]]
    pretrained(config, corpus, tmp_path / "pretrained")
    assert "3 of 4 examples of the corpus have more than 60 tokens" in caplog.text


def test_an_option_that_trl_does_not_take_is_refused_with_its_name(tmp_path: Path) -> None:
    told = grpo_driver.config(more={"epsilonn": 3})
    with pytest.raises(InputError, match="epsilonn"):
        arguments(told, tmp_path)


def test_what_trl_does_not_take_is_refused_before_any_phase(tmp_path: Path) -> None:
    told = toy_run.toy(grpo={**toy_run.TABLE["grpo"], "more": {"epsilonn": 3}})  # type: ignore[dict-item]
    bench = toy_run.TableBench()
    with pytest.raises(InputError, match="epsilonn"):
        run(told, tmp_path / "run", bench)
    assert bench.training.asked == [] and not (tmp_path / "run").exists()


def test_every_option_of_trl_is_a_key_of_ours_or_may_be_given(tmp_path: Path) -> None:
    call = next(
        node for node in ast.walk(ast.parse(Path(grpo.__file__).read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "GRPOConfig"
    )  # fmt: skip
    for name in sorted(one.arg for one in call.keywords if one.arg is not None):
        with pytest.raises(InputError, match=f"more.{name} is set by maxcode"):
            grpo_driver.config(more={name: 1})
    found = arguments(grpo_driver.config(more={"lr_scheduler_type": "cosine", "logging_steps": 5}), tmp_path)
    assert (found.lr_scheduler_type, found.logging_steps) == ("cosine", 5)
    usual = arguments(grpo_driver.config(), tmp_path)
    assert (usual.lr_scheduler_type, usual.logging_steps) == ("constant_with_warmup", 1)


def test_a_checkpoint_without_its_archive_is_no_checkpoint(tmp_path: Path) -> None:
    for step, whole in ((2, True), (4, True), (6, False)):
        (tmp_path / f"checkpoint-{step}").mkdir()
        if whole:
            (tmp_path / f"checkpoint-{step}" / "diversity.json").write_text("{}")
    found = last_whole(tmp_path)
    assert found is not None and step_of(found) == 4


def test_a_checkpoint_is_complete_only_after_every_process_has_written_its_part(tmp_path: Path) -> None:
    _, judge, _ = toy(tmp_path, Table(rule=grpo_driver.worth))
    part = tmp_path / "checkpoint-2" / "rng_state_1.pth"

    def slower(rows: list[Any]) -> list[Any]:
        assert last_whole(tmp_path) is None
        part.write_bytes(b"of the other process")
        return rows + rows

    judge.share = slower
    part.parent.mkdir()
    marks = callback(Steps(judge, lambda line: None))
    marks.on_save(SimpleNamespace(output_dir=str(tmp_path)), SimpleNamespace(global_step=2), None)
    assert part.exists() and last_whole(tmp_path) == part.parent


def test_the_trainer_asks_as_many_prompts_and_answers_as_configured(tmp_path: Path) -> None:
    told, judge, learner = toy(tmp_path, Table(rule=grpo_driver.worth))
    trainer = build_trainer(told, learner, judge, tmp_path)
    assert trainer.args.generation_batch_size == 8
    assert trainer.args.scale_rewards == "none"
    assert trainer.beta == 0.0
    assert Problem("x", "program", "c", Program({"x.c": ""}), ProgramSpec()) != grpo_driver.PROBLEM
