"""Distinct kernels of one problem, measured as in training, from every source that is compared.

A kernel is counted once however often it is proposed, other texts that compile to the same among them, and no source
counts what was not measured.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import final

import anyio
import msgspec

from learning.cells import Row, Setting
from maxcode.code.source import fingerprint
from maxcode.core.files import read_text
from maxcode.core.history import Reached
from maxcode.core.jsonl import Lines
from maxcode.core.roles import Policy, Search
from maxcode.core.types import Action, Evaluation, Outcome, Problem, State
from maxcode.run.optimize import Run, optimize
from maxcode.search import methods
from maxcode.search.scene import admitted_scene
from maxcode.train import corpus as kernels
from maxcode.train.assess import generator
from maxcode.train.config import TrainConfig
from maxcode.train.decoding import kept_legal
from maxcode.train.evaluators import TrainTarget
from maxcode.train.grpo import Learner, prompts_of
from maxcode.train.measuring import Measurement, MeasureRequest, Measuring, pooled
from maxcode.train.model import load_model, load_tokenizer
from maxcode.train.rewards import rate

METHOD = "elites+maxcode"
IN_VAIN = 10  # times as many proposals as are wanted, in a row and none of them new: there are no more


@final
@dataclass(frozen=True, slots=True)
class Tried:
    """A kernel, its rate by the measurement on the way, 0 if it failed, and ``code``: equal for kernels that compile to
    the same; of one that was not built, for texts that differ only in layout."""

    text: str
    rate: float
    code: str


def mark(problem: Problem, text: str) -> str:
    """Equal for kernels that differ only in layout."""
    return _mark(problem.language, problem.program.with_text(text).name, text)


@lru_cache(maxsize=20_000)
def _mark(language: str, name: str, text: str) -> str:
    return fingerprint({name: text}, language)


def speed(evaluation: Evaluation | None) -> float:
    """The rate of an evaluation; 0 without one."""
    found = rate(evaluation)
    return found.value if found is not None else 0.0


def code(problem: Problem, text: str, evaluation: Evaluation | None) -> str:
    """``Tried.code`` of a kernel."""
    return (evaluation.digest if evaluation is not None else "") or mark(problem, text)


def fastest(found: Sequence[Tried], count: int) -> list[Row]:
    """The fastest that did not fail, as a cell keeps them."""
    ordered = sorted(found, key=lambda one: -one.rate)[:count]
    return [{"text": one.text, "rate": one.rate} for one in ordered if one.rate]


def measured(bench: TrainTarget, problem: Problem, texts: Sequence[str]) -> list[Tried]:
    """The kernels, measured like the answers of a step."""
    asked = [MeasureRequest(problem, Action(problem.program.with_text(text))) for text in texts]
    batch = anyio.run(Measuring(bench.training).measure, 0, asked, range(len(asked)))
    return [
        Tried(text, speed(one), code(problem, text, one)) for text, one in zip(texts, batch.evaluations, strict=True)
    ]


def first_measured(bench: TrainTarget, problem: Problem, texts: Iterator[str], count: int) -> list[Tried]:
    """The first ``count`` distinct kernels, measured; fewer if no new text comes for long."""
    new, found = distinct(problem, texts, IN_VAIN * count), dict[str, Tried]()
    while len(found) < count and (some := list(islice(new, count - len(found)))):
        for one in measured(bench, problem, some):
            found.setdefault(one.code, one)
    return list(found.values())


def distinct(problem: Problem, texts: Iterator[str], in_vain: int) -> Iterator[str]:
    """The distinct texts, until more than so many in a row are known."""
    known, idle = set[str](), 0
    for text in texts:
        key = mark(problem, text)
        idle = idle + 1 if key in known else 0
        if idle > in_vain:
            return
        if not idle:
            known.add(key)
            yield text


# ------------------------------------------------------------------------------------------------------------ training


def in_training(config: TrainConfig, folder: Path, problem: Problem) -> list[Tried]:
    """What a run has measured in training, in order, every kernel with all its timings as one; also the kernels of the
    corpus, if its archive began with them."""
    found = {mark(problem, one.text): one for one in _begun_with(config, folder, problem)}
    texts: dict[str, str] = {}
    known: dict[str, Evaluation] = {}
    for line in Lines(folder / "grpo" / "measurements.jsonl", Measurement).read():
        text = texts.setdefault(line.key, line.text)
        if line.problem != problem.id or not text:
            continue
        key = mark(problem, text)
        if line.evaluation.outcome is Outcome.CORRECT:
            known[key] = pooled(known[key], line.evaluation) if key in known else line.evaluation
        if key in known or key not in found:
            one = known.get(key)
            found[key] = Tried(text, speed(one), code(problem, text, one or line.evaluation))
    return list(found.values())


def _begun_with(config: TrainConfig, folder: Path, problem: Problem) -> list[Tried]:
    if config.diversity.begin != "corpus":
        return []
    known = msgspec.json.decode(read_text(folder / "corpus.json"), type=kernels.Verified)
    begun = ((one.program.text, one.quality) for one in known.measured.get(problem.id, []))
    return [Tried(text, quality, mark(problem, text)) for text, quality in begun]


# ----------------------------------------------------------------------------------------------------- other proposals


def answers(config: TrainConfig, folder: Path, asked: Sequence[tuple[Problem, int]]) -> Iterator[str]:
    """The programs of a policy's answers without end, the staged problems in turn."""
    learner = Learner(load_model(str(folder), config.model), load_tokenizer(str(folder), config.model.prompts))
    learner = kept_legal(config, learner, [problem for problem, _ in asked])
    ask, prompts = generator(config, learner), prompts_of(config)
    number = 0
    while True:
        for problem, stage in asked:
            seed = 10_000 * config.seed + 31 * number + stage
            for completion in ask(prompts.ask(problem), config.assess.at_once, seed):
                action = prompts.read(problem, completion)
                if action.program is not None:
                    yield action.program.text
        number += 1


def from_corpus(setting: Setting, problem: Problem, seed: int) -> Iterator[str]:
    """The kernels of the corpus in random order: of random legal schedules."""
    found = kernels.distinct(kernels.load(setting.base / "corpus.jsonl"))
    for one in random.Random(seed).sample(found, len(found)):
        if one.problem == problem.id:
            yield one.kernel


def from_generator(config: TrainConfig, problem: Problem, seed: int) -> Iterator[str]:
    """New draws of the generator of the corpus."""
    endless = replace(config.corpus, kernels=10**9)
    for one in kernels.examples([problem], endless, 1_000_000 + seed):
        yield one.kernel


def at_random(config: TrainConfig, problem: Problem, seed: int) -> Iterator[str]:
    """Kernels of independent random legal schedules, of one step up to as many as the corpus has."""
    draw = random.Random(f"{seed} {problem.id}")
    while True:
        if taken := kernels.at_random(problem, config.corpus, draw):
            yield taken[-1].program


# ---------------------------------------------------------------------------------------------------------- the search


@final
@dataclass(frozen=True, slots=True)
class Until:
    """A search that ends when it has reached ``count`` distinct programs."""

    search: Search
    count: int

    def select(self, reached: Reached) -> list[State]:
        return [] if len(programs(reached)) >= self.count else self.search.select(reached)


def programs(reached: Reached) -> dict[str, State]:
    """The first state of every distinct program other than the original, in order."""
    problem = reached.root.problem
    found: dict[str, State] = {mark(problem, problem.program.text): reached.root}
    for state in reached:
        if state.step is not None and state.step.action.program is not None:
            text = state.step.action.program.text
            if mark(problem, text) not in found:
                found.setdefault(code(problem, text, state.step.evaluation), state)
    return dict(list(found.items())[1:])


def searched(bench: TrainTarget, problem: Problem, policy: Policy, count: int, seed: int) -> list[Tried]:
    """The first ``count`` distinct programs of the search as ``maxcode optimize`` makes it, each with its own race.

    Its width is that of a budget of ``count`` candidates; candidates that are no new program are not counted."""
    original = anyio.run(bench.training.evaluate, problem, Action(problem.program))
    scene = admitted_scene(bench.machine, problem, original)
    method = methods.method(METHOD, policy, count, scene)
    method = replace(method, search=Until(method.search, count))
    result = optimize(problem, method, bench.training, Run(IN_VAIN * count, seed, machine=bench.machine))
    found = list(programs(result.reached).values())[:count]
    evaluations = [one.step.evaluation if one.step else None for one in found]
    return [
        Tried(state.program.text, speed(one), code(problem, state.program.text, one))
        for state, one in zip(found, evaluations, strict=True)
    ]
