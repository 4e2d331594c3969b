"""Assesses a policy: new answers for every problem and stage, measured apart from training; failures count as 0.

Every policy gets the same prompts, none of which shows a kernel.  So the policies are compared, and not the kernels
that they found in training.  An answer that breaks its stage's rule fails.  Intervals are over answers (a percentile
bootstrap); the best of k is the unbiased expectation over choices of k answers.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Protocol, final

import anyio
import msgspec

from maxcode.code.source import fingerprint
from maxcode.core.jsonl import Lines
from maxcode.core.roles import Evaluator
from maxcode.core.stats import bootstrap
from maxcode.core.types import Action, Evaluation, Interval, Outcome, Problem
from maxcode.search.stages import Stages
from maxcode.train.advantages import best_of
from maxcode.train.config import ModelTable, TrainConfig
from maxcode.train.grpo import Learner
from maxcode.train.measuring import MeasureRequest, Measuring
from maxcode.train.prompts import Prompts
from maxcode.train.rewards import rate

SHOWN = (8, 16)  # the k of best of k


class Generates(Protocol):
    """Generates ``count`` answers to a prompt; the same seed gives the same answers."""

    def __call__(self, prompt: Any, count: int, seed: int) -> list[Any]: ...


class AnswerLine(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of an assessment: its stage, its outcome, its rate (None if it failed)."""

    problem: str
    stage: int
    mark: str
    outcome: Outcome | None
    rate: Interval | None
    text: str


@final
@dataclass(frozen=True, slots=True)
class StageFigures:
    """A policy at one stage (or over several): rates in GFLOPS (or speed-ups) with 95 % intervals.  ``valid`` is the
    share of answers that are correct and keep the rule, ``unique`` the share of different programs."""

    answers: int
    mean: Interval
    median: Interval
    best: float
    best_of: dict[int, Interval]
    valid: Interval
    unique: float


@final
@dataclass(frozen=True, slots=True)
class Assessment:
    """A policy's answers, by (problem, stage)."""

    answers: tuple[AnswerLine, ...]

    def at(self, problem: str, stage: int) -> StageFigures:
        """The figures of one stage."""
        return figures([one for one in self.answers if (one.problem, one.stage) == (problem, stage)])

    @property
    def places(self) -> list[tuple[str, int]]:
        """The assessed (problem, stage), in order."""
        return list(dict.fromkeys((one.problem, one.stage) for one in self.answers))

    @property
    def whole(self) -> StageFigures:
        """The figures over all stages; the best of k is the mean of that of the stages."""
        every = figures(list(self.answers))
        parts = [self.at(*place) for place in self.places]
        of = {k: _mean_interval([part.best_of[k] for part in parts]) for k in SHOWN}
        return replace(every, best_of=of)

    @property
    def fastest(self) -> AnswerLine | None:
        """The fastest answer."""
        timed = [one for one in self.answers if one.rate is not None]
        return max(timed, key=lambda one: one.rate.value if one.rate is not None else 0.0, default=None)


def _mean_interval(parts: Sequence[Interval]) -> Interval:
    """The mean of independent figures; the squares of their half-widths add up."""
    count = max(1, len(parts))
    value = sum(part.value for part in parts) / count
    below = sum((part.value - part.low) ** 2 for part in parts) ** 0.5 / count
    above = sum((part.high - part.value) ** 2 for part in parts) ** 0.5 / count
    return Interval(value, value - below, value + above)


def figures(answers: Sequence[AnswerLine]) -> StageFigures:
    """The figures of answers, without those for which the machine failed."""
    scored = [one for one in answers if one.outcome is not None]
    rates = [one.rate.value if one.rate is not None else 0.0 for one in scored] or [0.0]
    valid = [float(one.rate is not None) for one in scored] or [0.0]
    return StageFigures(
        answers=len(scored),
        mean=bootstrap(rates, lambda some: sum(some) / len(some)),
        median=bootstrap(rates, median),
        best=max(rates),
        best_of={k: bootstrap(rates, lambda some, k=k: best_of(some, k), draws=400) for k in SHOWN},  # type: ignore[misc]
        valid=bootstrap(valid, lambda some: sum(some) / len(some)),
        unique=len({one.mark for one in scored}) / max(1, len(scored)),
    )


@final
@dataclass(frozen=True, slots=True)
class Exam:
    """The assessed (staged problem, stage), the measuring of answers, and the file for them."""

    config: TrainConfig
    asked: Sequence[tuple[Problem, int]]
    evaluator: Evaluator
    folder: Path


def assess(
    exam: Exam, generate: Generates, prompts: Prompts, say: Callable[[int, int], None] = lambda done, whole: None
) -> Assessment:
    """Samples ``config.assess.samples`` answers of a policy for each stage and measures them; answers that are in the
    folder already are not sampled again."""
    config, lines = exam.config, Lines(exam.folder / "answers.jsonl", AnswerLine)
    known = list(lines.read())
    measuring = Measuring(exam.evaluator, None, exam.folder)
    measuring.resume(len(exam.asked))
    for number, (problem, stage) in enumerate(exam.asked):
        done = sum((one.problem, one.stage) == (problem.id, stage) for one in known)
        if done < config.assess.samples:
            seed = random.Random(f"{config.seed}/{problem.id}/{stage}").getrandbits(31)
            completions = generate(prompts.ask(problem), config.assess.samples, seed)
            actions = [prompts.read(problem, one) for one in completions]
            for line in _measured(problem, stage, actions, measuring)[done:]:
                lines.append(line)
        say(number + 1, len(exam.asked))
    return Assessment(tuple(lines.read()))


def _measured(problem: Problem, stage: int, actions: Sequence[Action], measuring: Measuring) -> list[AnswerLine]:
    asked = [MeasureRequest(problem, action) for action in actions]
    batch = anyio.run(measuring.measure, stage, asked, [0] * len(asked))
    return [_line(problem, stage, *one) for one in zip(actions, batch.evaluations, strict=True)]


def _line(problem: Problem, stage: int, action: Action, evaluation: Evaluation | None) -> AnswerLine:
    program = action.program
    return AnswerLine(
        problem=problem.id,
        stage=stage,
        mark=fingerprint(program.files, problem.language)[:16] if program is not None else "unparsed",
        outcome=evaluation.outcome if evaluation is not None else None,
        rate=rate(evaluation),
        text=program.text if program is not None else "",
    )


def stages_to_ask(problems: Sequence[Problem], stages: Stages | None) -> list[tuple[Problem, int]]:
    """Every problem at every stage."""
    if stages is None:
        return [(problem, 0) for problem in problems]
    return [(stages[number].of(problem), number) for problem in problems for number in range(len(stages))]


def generator(config: TrainConfig, learner: Learner) -> Generates:
    """The learner's own answers, sampled as in training, on the device of training."""

    def generate(prompt: Any, count: int, seed: int) -> list[Any]:
        import torch

        torch.set_num_threads(config.grpo.threads)
        tokenizer, model = learner.tokenizer, learner.model
        of_template = config.grpo.more.get("chat_template_kwargs") or {}
        text = prompt if isinstance(prompt, str) else tokenizer.apply_chat_template(
            prompt, tokenize=False, add_generation_prompt=True, **of_template
        )  # fmt: skip
        model.to(device_of(config.model, torch.cuda.is_available()))
        asked = tokenizer(text, return_tensors="pt", add_special_tokens=False).to(model.device)
        torch.manual_seed(seed)
        model.eval()
        found: list[Any] = []
        for size in _pieces(count, config.assess.at_once):
            found += _drawn(sampling(config, learner), learner, asked, size)
        return found

    return generate


def device_of(table: ModelTable, has_gpu: bool) -> str:
    """The device on which transformers' trainers put the weights, as torch names it."""
    return "cuda" if table.device == "auto" and has_gpu else "cpu"


def sampling(config: TrainConfig, learner: Learner) -> dict[str, Any]:
    """How TRL samples answers in training.  It is all said, because what is not said is what the weights' own
    ``generation_config.json`` has, for example a penalty for repetitions."""
    more, tokenizer = config.grpo.more, learner.tokenizer
    ends = learner.model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [] if ends is None else [ends]
    return {
        "do_sample": True,
        "temperature": config.grpo.temperature,
        **{name: more.get(name, usual) for name, usual in _USUAL.items()},
        "max_new_tokens": config.grpo.max_completion,
        "pad_token_id": tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id,
        "eos_token_id": list(dict.fromkeys([tokenizer.eos_token_id, *ends])),
        **(more.get("generation_kwargs") or {}),
    }


_USUAL = {"top_p": 1.0, "top_k": 0, "min_p": None, "repetition_penalty": 1.0}  # TRL's, for what [grpo.more] may change


def _drawn(sampled: dict[str, Any], learner: Learner, asked: Any, count: int) -> list[str]:
    import torch

    with torch.inference_mode():
        made = learner.model.generate(**asked, **sampled, num_return_sequences=count)
    new = made[:, asked["input_ids"].shape[1] :]
    return list(learner.tokenizer.batch_decode(new, skip_special_tokens=True))


def _pieces(count: int, most: int) -> Iterator[int]:
    while count > 0:
        yield min(count, most)
        count -= most


def as_json(found: Assessment) -> str:
    """The figures of each stage and of all together, for scripts."""
    told = {f"{problem}/{stage}": msgspec.to_builtins(found.at(problem, stage)) for problem, stage in found.places}
    return json.dumps({**told, "all": msgspec.to_builtins(found.whole)}, indent=1) + "\n"
