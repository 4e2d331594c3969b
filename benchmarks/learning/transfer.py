"""Transfer: a policy trained on several kernels proposes for kernels that it has not seen.

    kernels of the configuration, generated nests -> corpus -> pre-training -> GRPO -> draws for each kernel held out

The arms measure equal numbers of distinct kernels: draws of the trained policy, of the pre-trained one (what training
on measured speed adds), random legal schedules, and the search with the same transformations.  The policy sees nothing
of what it measured; the search does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from learning.arms import Tried, answers, at_random, first_measured, searched
from learning.cells import Row, Setting
from learning.held_out import Arm, Test, compared, held_out, table
from learning.nests import written
from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.policy.rules.kernels.policy import Kernels
from maxcode.problems import is_named
from maxcode.train import pipeline
from maxcode.train.config import TrainConfig

ARMS = ("policy", "pre-trained", "random", "search")


@final
@dataclass(frozen=True, slots=True)
class Held:
    """The kernels that are held out, after how many measurements arms are compared, and how many nests are trained
    on."""

    names: tuple[str, ...]
    at: tuple[int, ...]
    nests: int


def transferred(setting: Setting, held: Held, seed: int) -> Row:
    """The policy of one seed and the others on the kernels held out."""
    training = _training(setting, held, seed)
    out = setting.out / "runs" / f"transfer-{seed}"
    pipeline.run(training, out, setting.bench, setting.say)
    testing = setting.config(problems(setting, [placed(name) for name in held.names], seed))
    test = Test(setting.bench.problems(testing), held.at, f"transfer-{seed}", {"trained on": list(training.problems)})
    found = held_out(setting, test, _arms(setting, testing, out, held))
    return {"seed": seed, "at": list(held.at), "trained on": list(training.problems), "rows": found}


def _training(setting: Setting, held: Held, seed: int) -> TrainConfig:
    own = [placed(str(path)) for path in setting.config({}).paths]
    nests = [str(path.resolve()) for path in written(setting.out / "nests", held.nests)]
    if both := sorted({_kernel(name) for name in held.names} & {_kernel(name) for name in own}):
        raise InputError(f"{', '.join(both)} would be trained on and held out; take it out of {setting.path}")
    return setting.config({**problems(setting, [*own, *nests], seed), "assess.samples": 0})


def _kernel(name: str) -> str:
    """The name of a kernel, whose other versions count as the same: polybench:gemm is gemm."""
    return Path(name.rpartition(":")[2]).name


def problems(setting: Setting, names: Sequence[str], seed: int) -> dict[str, Any]:
    """The changes of the configuration for these kernels: every step has a group of answers for each, or several."""
    groups = setting.config({}).grpo.prompts
    share = -(-groups // len(names))
    return {"problems": list(names), "grpo.prompts": share * len(names), "seed": seed}


def placed(name: str) -> str:
    """A folder from anywhere, or the name of a suite's problem."""
    return name if is_named(Path(name)) else str(Path(name).resolve())


def _arms(setting: Setting, config: TrainConfig, out: Path, held: Held) -> dict[str, Arm]:
    most = max(held.at)

    def arm(proposals: Callable[[Problem], Iterator[str]]) -> Arm:
        return lambda problem: first_measured(setting.bench, problem, proposals(problem), most)

    def search(problem: Problem) -> Sequence[Tried]:
        return searched(setting.bench, problem, Kernels(templates=config.corpus.templates), most, config.seed)

    makers: tuple[Arm, ...] = (
        arm(lambda problem: answers(config, out / "grpo" / "final", [(problem, 0)])),
        arm(lambda problem: answers(config, out / "pretrained", [(problem, 0)])),
        arm(lambda problem: at_random(config, problem, config.seed)),
        search,
    )
    return dict(zip(ARMS, makers, strict=True))


def summary(found: Sequence[Row]) -> str:
    """The tables of all seeds, and the ratios over the kernels, of each the mean of its seeds."""
    lines: list[str] = []
    for one in found:
        lines.append(f"seed {one['seed']}, trained on {len(one['trained on'])} kernels")
        lines += table(one["rows"], ARMS, one["at"])
    every = [row for one in found for row in one["rows"]]
    return "\n".join([*lines, "", *compared(every, "policy", ARMS[1:], found[0]["at"])])
