"""``maxcode train assess``: the answers of a given model, kept apart by what they depend on."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.errors import InputError, RecordError
from maxcode.problems import load
from maxcode.train.config import ModelTable, ScratchModel, TrainConfig
from maxcode.train.model import load_model, load_tokenizer, new_model, save, train_tokenizer
from maxcode.train.pipeline import assess_model, run
from maxcode.train.prompts import BOS
from tests.support.toy_run import DEMO, TableBench, toy

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]


def given(folder: Path, samples: int = 2, **grpo: object) -> TrainConfig:
    return toy(
        model={"path": str(folder)},
        grpo={"max_completion": 6, **grpo},
        diversity={"stages": "none"},
        assess={"samples": samples},
    )


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with random weights, and beside it adapters of two trainings."""
    from peft import LoraConfig, get_peft_model

    folder = tmp_path_factory.mktemp("weights")
    tokenizer = train_tokenizer([load(DEMO / "gemm").problem.program.text], 320)
    for seed, name in enumerate(("one", "other")):
        model = new_model(ScratchModel(hidden=16, layers=1, heads=2), tokenizer, 0)
        save(model, tokenizer, folder / "base")
        lora = LoraConfig(r=1 + seed, target_modules="all-linear", task_type="CAUSAL_LM")
        get_peft_model(model, lora).save_pretrained(folder / name)
    return folder


def test_a_folder_of_answers_belongs_to_one_model(weights: Path, tmp_path: Path) -> None:
    config = given(weights / "base")
    first = assess_model(config, weights / "one", tmp_path, TableBench())
    assert len(first.answers) == 2
    assert assess_model(config, weights / "one", tmp_path, TableBench()) == first
    for adapter, asked in (
        (weights / "other", config),
        (None, config),
        (weights / "one", given(weights / "base", temperature=0.5)),
    ):
        with pytest.raises(RecordError, match="holds another run"):
            assess_model(asked, adapter, tmp_path, TableBench())
    more = given(weights / "base", samples=3, steps=7, learning_rate=1e-6)  # nothing that a given model depends on
    assert assess_model(more, weights / "one", tmp_path, TableBench()).answers[:2] == first.answers


def test_a_folder_without_adapters_is_refused_with_the_cure(weights: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no adapters.*model\.path="):
        assess_model(given(weights / "base"), weights / "base", tmp_path / "out", TableBench())
    assert not (tmp_path / "out").exists()


def test_weights_from_scratch_are_read_as_they_were_trained_and_given_ones_as_asked(weights: Path) -> None:
    """Else the policy after training would have other precision than the one before."""
    import torch

    folder = str(weights / "base")
    assert load_model(folder, ModelTable(dtype="bfloat16")).dtype is torch.float32
    assert load_model(folder, ModelTable(path=folder, dtype="bfloat16")).dtype is torch.bfloat16


def test_a_tokenizer_that_does_not_fit_the_prompts_is_refused_before_any_answer(weights: Path, tmp_path: Path) -> None:
    folder = str(weights / "base")
    assert load_tokenizer(folder, "compact").bos_token == BOS
    with pytest.raises(InputError, match="no chat template"):
        load_tokenizer(folder, "chat")
    foreign = train_tokenizer(["int x;"], 300)
    foreign.bos_token = "<s>"
    foreign.save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r'set model\.prompts = "chat"'):
        load_tokenizer(str(tmp_path), "compact")
    for prompts in ("compact", "chat"):
        with pytest.raises(InputError, match="cannot load the tokenizer of"):
            load_tokenizer(str(tmp_path / "nowhere"), prompts)


def test_a_tokenizer_that_does_not_fit_leaves_no_folder_that_refuses_the_mended_command(
    weights: Path, tmp_path: Path
) -> None:
    wrong = toy(model={"path": str(weights / "base"), "prompts": "chat"}, assess={"samples": 2})
    with pytest.raises(InputError, match="no chat template"):
        assess_model(wrong, None, tmp_path / "answers", TableBench())
    with pytest.raises(InputError, match="no chat template"):
        run(wrong, tmp_path / "run", TableBench())
    assert not (tmp_path / "run").exists()
    assert len(assess_model(given(weights / "base"), None, tmp_path / "answers", TableBench()).answers) == 2
