"""Compares models on held-out problems: every family is held out once, for several seeds.

A seed shuffles the families into folds and seeds the models, so the spread covers both.
"""

from __future__ import annotations

import math
import random
import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.core.files import read_file, write_whole
from maxcode.search.value import Predictor
from maxcode.train.to_go.dataset import Dataset, assembled, families
from maxcode.train.to_go.fit import Fit
from maxcode.train.to_go.fitting import fit
from maxcode.train.to_go.model_figures import Curve, ModelFigures, ScoredPair, figures, needed
from maxcode.train.to_go.pairs import Pair

FOLDS = 5
PERFECT = "perfect"  # an imaginary model that knows the result: the most that any prediction can save
LITTLE = 1e-6  # the weight of a state's own reward: it orders states with equal targets


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """``models`` by name, ``seeds``, the kind of ``edges``, how many ``folds``; ``how`` fits a network."""

    models: tuple[str, ...]
    seeds: tuple[int, ...] = (0, 1, 2)
    edges: str = "quantile"
    folds: int = FOLDS
    how: Fit = field(default_factory=lambda: Fit(Path()))


def evaluate(pairs: Sequence[Pair], plan: Plan) -> dict[str, dict[int, ModelFigures]]:
    """Figures by model and seed; raises InputError if a fold cannot be trained on."""
    found: dict[str, dict[int, ModelFigures]] = {name: {} for name in plan.models}
    for seed in plan.seeds:
        told: dict[str, list[ScoredPair]] = {name: [] for name in plan.models}
        for held_out in folded(pairs, plan.folds, seed):
            data = assembled(pairs, held_out, plan.edges)
            for name in plan.models:
                plan.how.say(f"seed {seed}, {name}, held out: {', '.join(sorted(held_out))}")
                told[name] += asked(name, data, data.held_out, replace(plan.how, seed=seed))
        for name in plan.models:
            found[name][seed] = figures(told[name])
    return found


def transferred(
    train: Callable[[Pair], bool], put: Callable[[Pair], bool], pairs: Sequence[Pair], plan: Plan
) -> dict[str, dict[int, ModelFigures]]:
    """As ``evaluate``, but the model is trained on the pairs that ``train`` accepts and evaluated on those of held-out
    problems that ``put`` accepts: this shows how well it transfers between two kinds of search."""
    found: dict[str, dict[int, ModelFigures]] = {name: {} for name in plan.models}
    for seed in plan.seeds:
        told: dict[str, list[ScoredPair]] = {name: [] for name in plan.models}
        for held_out in folded(pairs, plan.folds, seed):
            side = [pair for pair in pairs if pair.problem in held_out or train(pair)]
            data = assembled(side, held_out, plan.edges)
            chosen = [pair for pair in data.held_out if put(pair)]
            for name in plan.models:
                told[name] += asked(name, data, chosen, replace(plan.how, seed=seed))
        for name in plan.models:
            found[name][seed] = figures(told[name])
    return found


def folded(pairs: Sequence[Pair], folds: int, seed: int) -> list[frozenset[str]]:
    """The problems of every fold: whole families, the largest first, each to the smallest fold so far."""
    groups = families(pairs)
    order = random.Random(f"folds/{seed}").sample(groups, len(groups))
    found: list[set[str]] = [set() for _ in range(min(folds, len(groups)))]
    for group in sorted(order, key=len, reverse=True):
        min(found, key=len).update(group)
    return [frozenset(fold) for fold in found]


def asked(name: str, data: Dataset, pairs: Sequence[Pair], how: Fit) -> list[ScoredPair]:
    """A model's predictions for pairs.  ``random`` predicts the same for all, because equal pairs are measured in
    random order; ``perfect`` knows the result, which no model can."""
    if name == "random":
        return [ScoredPair(pair, data.label(pair), 0.0, 0.0) for pair in pairs]
    if name == PERFECT:
        return [ScoredPair(pair, data.label(pair), pair.target + LITTLE * pair.reward, pair.target) for pair in pairs]
    path = how.kept / f"{_job(name, data, pairs, how)}.json" if how.kept is not None else None
    if path is not None and path.exists():
        return _scored(data, pairs, *msgspec.json.decode(read_file(path), type=_Predictions))
    with tempfile.TemporaryDirectory() as folder:
        _, predictor = fit(name, data, replace(how, folder=Path(folder)))
        found = _predictions(predictor, pairs)
    if path is not None:
        write_whole(path, msgspec.json.encode(found))
    return _scored(data, pairs, *found)


_Predictions = tuple[list[float], list[float]]  # before and after execution, in the order of the pairs


def _job(name: str, data: Dataset, pairs: Sequence[Pair], how: Fit) -> str:
    """Equal for the same predictions: a hash of the model, its settings, and what it is trained on and asked."""
    settings = f"{version('maxcode')}/{name}/{how.seed}/{how.base}/{how.shape}/{how.context}/{data.main}"
    seen = [(pair.situation, data.label(pair)) for pair in data.train], [pair.situation for pair in pairs]
    return sha256(settings.encode() + msgspec.json.encode(seen, order="deterministic")).hexdigest()


def told_of(predictor: Predictor, data: Dataset, pairs: Sequence[Pair]) -> list[ScoredPair]:
    """A predictor's predictions for pairs, before and after execution."""
    return _scored(data, pairs, *_predictions(predictor, pairs))


def _predictions(predictor: Predictor, pairs: Sequence[Pair]) -> _Predictions:
    after = predictor.expected([pair.situation for pair in pairs])
    return list(predictor.expected([pair.situation.unseen() for pair in pairs])), list(after)


def _scored(data: Dataset, pairs: Sequence[Pair], before: list[float], after: list[float]) -> list[ScoredPair]:
    return [
        ScoredPair(pair, data.label(pair), first, then) for pair, first, then in zip(pairs, before, after, strict=True)
    ]


# -------------------------------------------------------------------------------------------------------------- table

Spread = tuple[float, float, float]  # mean, least, largest over seeds


def summary(found: Mapping[str, Mapping[int, ModelFigures]]) -> dict[str, dict[str, Any]]:
    """By model, every figure with its spread over seeds; ``saved`` is relative to ``random`` if that is there."""
    chance = found.get("random", {})
    return {name: _summed(by_seed, chance) for name, by_seed in found.items()}


def _summed(by_seed: Mapping[int, ModelFigures], chance: Mapping[int, ModelFigures]) -> dict[str, Any]:
    runs = list(by_seed.values())
    against = [(one, chance[seed]) for seed, one in by_seed.items() if seed in chance]
    return {
        "regret@25%": _spread(at(one.regret, 0.25) for one in runs),
        "regret@50%": _spread(at(one.regret, 0.5) for one in runs),
        "saved": _spread(1 - needed(one.regret) / needed(other.regret) for one, other in against),
        "siblings@25%": _spread(at(one.siblings, 0.25) for one in runs),
        "siblings, saved": _spread(1 - needed(one.siblings) / needed(other.siblings) for one, other in against),
        "choice": _spread(one.choice for one in runs),
        "spearman": _spread(one.spearman_after for one in runs),
        "spearman, open": _spread(one.spearman_open for one in runs),
        "spearman, before": _spread(one.spearman_before for one in runs),
        "calibration": _spread(one.calibration for one in runs),
        "states": runs[0].states,
        "seeds": [asdict(one) for one in runs],
    }


def at(regret: Curve, share: float) -> float | None:
    """The mean regret if ``share`` of the candidates is measured, interpolated between the tested shares; None for
    shares that are too small, because the best of every batch is always measured."""
    points = sorted(regret.values())
    for (a, missed), (b, less) in pairwise(points):
        if a <= share <= b:
            return missed if a == b else missed + (less - missed) * (share - a) / (b - a)
    return None


def _spread(values: Iterable[float | None]) -> Spread | None:
    known = [one for one in values if one is not None and not math.isnan(one)]
    return (statistics.fmean(known), min(known), max(known)) if known else None


COLUMNS = (
    "regret@25%",
    "regret@50%",
    "saved",
    "siblings@25%",
    "siblings, saved",
    "choice",
    "spearman",
    "spearman, open",
    "spearman, before",
    "calibration",
)


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The summary as lines: mean [smallest, largest] over seeds."""
    lines = [f"{'model':16}" + "".join(f"{name:>20}" for name in COLUMNS)]
    for model, row in found.items():
        lines.append(f"{model:16}" + "".join(f"{_shown(row[name]):>20}" for name in COLUMNS))
    return "\n".join(lines)


def _shown(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    mean, least, largest = spread
    return f"{mean:.2f}" if least == largest else f"{mean:.2f} [{least:.2f}, {largest:.2f}]"
