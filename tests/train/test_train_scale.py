"""The configuration for a large model, as far as that goes without weights: read, and a step of a tiny random model of
the same architecture, asked and understood in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from maxcode.core.types import Problem
from maxcode.problems import load
from maxcode.testing import Table
from maxcode.train.assess import device_of, generator
from maxcode.train.config import ScratchModel, TrainConfig, read_config
from maxcode.train.grpo import Learner, arguments, build_trainer, new_judge, train
from maxcode.train.judge import StepLine
from maxcode.train.measuring import Measuring
from maxcode.train.model import new_model, train_tokenizer

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]

CONFIG = Path(__file__).parents[2] / "configs" / "qwen2.5-coder-14b.toml"
# The template of Qwen2.5's tokenizers, for messages without tools.
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TINY = {
    "model.path": "",
    "model.dtype": "float32",
    "model.device": "cpu",
    "grpo.steps": 1,
    "grpo.prompts": 1,
    "grpo.generations": 2,
    "grpo.at_once": 0,
    "grpo.max_completion": 8,
    "grpo.warmup_steps": 0,
    "grpo.threads": 1,
}


def test_the_configuration_says_what_the_paper_does_where_the_paper_says_it() -> None:
    config = read_config(CONFIG)
    assert config.model.path.startswith("Qwen/Qwen2.5-Coder-14B")
    assert config.grpo.beta == 0.0
    assert config.rules.promotion and config.rules.archive
    assert [stage.name for stage in config.rules.stages.stages] == ["orders", "tiles", "blocks", "all"]  # type: ignore[union-attr]
    assert config.grpo.vllm is not None and config.grpo.vllm.mode == "server"


def learner(problem: Problem) -> Learner:
    tokenizer = train_tokenizer([problem.program.text], 400)
    tokenizer.chat_template = TEMPLATE
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    return Learner(new_model(ScratchModel(hidden=16, layers=1, heads=2), tokenizer, 0, length=8192), tokenizer)


@pytest.mark.parametrize("name", [CONFIG.name, "hpc-paper.toml"])
def test_trl_takes_the_options_of_the_large_runs(name: str, tmp_path: Path) -> None:
    """All of them but bfloat16 and the devices, which need a GPU; the server is not asked before training starts."""
    found: Any = arguments(
        read_config(CONFIG.with_name(name), {"model.dtype": "float32", "model.device": "cpu"}), tmp_path
    )
    assert (found.use_vllm, found.vllm_mode) == (True, "server")
    assert found.vllm_server_base_url == "http://127.0.0.1:8000"
    assert found.generation_batch_size == 64
    assert found.steps_per_generation == 8
    assert found.activation_checkpointing is True
    of_paper = (found.loss_type, found.importance_sampling_level, found.beta)
    assert of_paper == (("grpo", "sequence", 0.04) if name == "hpc-paper.toml" else ("dapo", "token", 0.0))


@pytest.mark.parametrize(("heads", "shared"), [(1, 1), (3, 1), (5, 1), (6, 3), (8, 4)])
def test_every_number_of_heads_shares_keys_and_values_evenly(heads: int, shared: int) -> None:
    import torch

    tokenizer = train_tokenizer(["int main() { return 0; }"], 300)
    model = new_model(ScratchModel(hidden=16 * heads, layers=1, heads=heads), tokenizer, 0, attention="sdpa")
    assert model.config.num_key_value_heads == shared
    with torch.no_grad():
        assert model(torch.tensor([[1, 2, 3]])).logits.shape[:2] == (1, 3)


@pytest.mark.slow
def test_a_step_of_a_tiny_model_of_the_same_architecture_runs_with_adapters_and_chat(tmp_path: Path) -> None:
    config = read_config(CONFIG, TINY)
    config = without_server(config)
    problem = load(CONFIG.parent.parent / "examples" / "gemm").problem
    asked: list[str] = []

    async def note(text: str) -> None:
        asked.append(text)

    judge = new_judge(config, [problem], Measuring(Table(rule=lambda text: 2.0, before=note)), tmp_path)
    made = learner(problem)
    lines: list[StepLine] = []
    final = train(config, made, judge, tmp_path, lines.append)
    assert (final / "adapter_model.safetensors").exists()
    assert lines[0].samples == 2
    assert asked == [], "random words hold no program, so nothing was built"
    assert lines[0].valid == 0.0 and lines[0].scored == 2


def without_server(config: TrainConfig) -> TrainConfig:
    from dataclasses import replace

    return replace(config, grpo=replace(config.grpo, vllm=None))


def test_all_weights_are_trained_where_no_adapters_are_named(tmp_path: Path) -> None:
    from dataclasses import replace

    config = without_server(read_config(CONFIG, TINY))
    config = replace(config, model=replace(config.model, lora=None))
    problem = load(CONFIG.parent.parent / "examples" / "gemm").problem
    made = learner(problem)
    judge = new_judge(config, [problem], Measuring(Table(rule=lambda text: 2.0)), tmp_path)
    trainer = build_trainer(config, made, judge, tmp_path)
    assert all(one.requires_grad for one in trainer.model.parameters())
    prompts = trainer.train_dataset[0]["prompt"]
    text = made.tokenizer.apply_chat_template(prompts, tokenize=False, add_generation_prompt=True)
    assert text.count("<|im_start|>") == 3
    assert "permitted techniques, all others are refused:\n- restrict: " in text


def test_answers_are_assessed_as_training_samples_them_whatever_the_weights_ask_for() -> None:
    """Chat models come with settings of their own, as a penalty for repetitions, which TRL does not use."""
    config = without_server(read_config(CONFIG, {**TINY, "grpo.max_completion": 24}))
    problem = load(CONFIG.parent.parent / "examples" / "gemm").problem
    made, told = learner(problem), [{"role": "user", "content": "for for for"}]
    usual = generator(config, made)(told, 3, 1)
    made.model.generation_config.update(repetition_penalty=30.0, top_p=0.1, min_p=0.5)
    assert generator(config, made)(told, 3, 1) == usual
    greedy = read_config(CONFIG, {**TINY, "grpo.max_completion": 24, "grpo.more.top_k": 1})
    assert len(set(usual)) == 3 and len(set(generator(without_server(greedy), made)(told, 3, 1))) == 1


def test_answers_are_assessed_on_the_gpu_of_training() -> None:
    auto, cpu = (read_config(CONFIG, {"model.device": device}).model for device in ("auto", "cpu"))
    assert [device_of(auto, has_gpu=True), device_of(auto, has_gpu=False)] == ["cuda", "cpu"]
    assert device_of(cpu, has_gpu=True) == "cpu"
