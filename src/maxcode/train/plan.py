"""What a training run will do, before it does it: its prompt, its ladder of rewards, its sizes.  Loads no weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import msgspec

from maxcode.core.types import Evaluation, Interval, Machine, Outcome, Timing
from maxcode.problems import load
from maxcode.train.assess import stages_to_ask
from maxcode.train.config import TrainConfig
from maxcode.train.grpo import prompts_of
from maxcode.train.rewards import REWARDS, USUAL_PEAK

_RUNGS = (
    Outcome.UNPARSED,
    Outcome.REJECTED,
    Outcome.UNBUILT,
    Outcome.TIMEOUT,
    Outcome.CRASHED,
    Outcome.WRONG,
)
_RATES = (1.0, 10.0, 100.0)  # GFLOPS of a correct kernel


@final
@dataclass(frozen=True, slots=True)
class TrainPlan:
    """``prompt``: the first one, a text or messages; ``ladder``: rewards by outcome, and of correct kernels by their
    GFLOPS (without a machine: on one of ``USUAL_PEAK``); ``sizes``: what the run counts."""

    prompt: Any
    ladder: dict[str, float]
    sizes: dict[str, Any]

    def as_json(self) -> str:
        """One object."""
        return msgspec.json.encode({"prompt": self.prompt, "ladder": self.ladder, "sizes": self.sizes}).decode()

    def as_text(self) -> str:
        """The prompt, then the ladder and the sizes."""
        shown = self.prompt if isinstance(self.prompt, str) else _messages(self.prompt)
        return "\n".join([shown, "----- rewards", *_lines(self.ladder), "----- sizes", *_lines(self.sizes)])


def plan_of(config: TrainConfig, machine: Machine) -> TrainPlan:
    """The plan of a configuration; ``machine``: the one that the prompt describes."""
    problems = [load(path).problem for path in config.paths]
    asked = stages_to_ask(problems, config.rules.stages)
    reward = REWARDS[config.reward.kind]()
    ladder = {one.value: reward(Evaluation(one)) for one in _RUNGS}
    ladder |= {f"correct, {rate:g} GFLOPS": reward(_correct(rate)) for rate in _RATES}
    return TrainPlan(
        prompts_of(config, machine).ask(asked[0][0]),
        {name: round(value, 4) for name, value in ladder.items() if value is not None},
        _sizes(config, asked),
    )


def _correct(rate: float) -> Evaluation:
    found = Interval(rate, rate, rate)
    return Evaluation(Outcome.CORRECT, timing=Timing("wall", found, True, "faster", 1, gflops=found))


def _sizes(config: TrainConfig, asked: Sequence[object]) -> dict[str, Any]:
    grpo, each = config.grpo, config.grpo.prompts * config.grpo.generations
    return {
        "model": config.model.path or "from random weights",
        "adapters": f"rank {config.model.lora.r}" if config.model.lora is not None else "none: all weights",
        "completion": config.completion,
        "advantage": config.advantage.kind,
        **({} if config.reward.kind == "paper" else {"roofline of these rewards, assumed": f"{USUAL_PEAK:g} GFLOPS"}),
        "weight of the KL term": grpo.beta,
        "problems and stages": len(asked),
        "steps": grpo.steps,
        "answers of a step": f"{grpo.prompts} groups of {grpo.generations}",
        "answers": grpo.steps * each,
        "tokens of answers, at most": grpo.steps * each * grpo.max_completion,
    }


def _messages(prompt: Sequence[dict[str, str]]) -> str:
    return "\n".join(f"----- {said['role']}\n{said['content']}" for said in prompt)


def _lines(table: dict[str, Any]) -> list[str]:
    width = max(len(name) for name in table)
    return [f"{name:<{width}}  {value}" for name, value in table.items()]
