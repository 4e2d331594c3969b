"""Maps names of value models to fitted models."""

from __future__ import annotations

from collections import Counter

from maxcode.errors import unknown
from maxcode.search.value import (
    Blend,
    BusiestLoop,
    Constant,
    FastestSoFar,
    Model,
    Predictor,
    Random,
    Trees,
)
from maxcode.train.to_go.boosting import fit_trees
from maxcode.train.to_go.dataset import Dataset
from maxcode.train.to_go.fit import Fit, rows

MODELS = {
    "blend": "the mean of trees and busiest-loop, or trees alone if there is no machine code (the default)",
    "trees": "gradient-boosted trees on features of code and feedback, u and depth; seconds on a CPU",
    "generative": "a causal language model with LoRA that reads (x0, xt, et, ct, u); its label tokens are the classes",
    "constant": "the mean class of the training data",
    "random": "by chance",
    "fastest-so-far": "the class of u, by which a greedy search selects",
    "busiest-loop": "the static throughput estimate of the busiest loop; learns nothing",
}
BASELINES = ("constant", "random", "fastest-so-far", "busiest-loop")


def check_model(name: str) -> None:
    """Raises InputError, with the nearest spelling, for an unknown model."""
    if name not in MODELS:
        raise unknown("value model", name, MODELS)


def fit(name: str, data: Dataset, how: Fit) -> tuple[Model, Predictor]:
    """The model ``name`` fitted on the training side, and its predictor."""
    check_model(name)
    if name == "generative":
        from maxcode.train.to_go.network_tuning import tune

        return tune(data, how)
    model = _fitted(name, data, how.seed)
    return model, model


def _fitted(name: str, data: Dataset, seed: int) -> Trees | Blend | Constant | Random | FastestSoFar | BusiestLoop:
    match name:
        case "trees":
            return fit_trees(*rows(data, data.train), seed)
        case "blend":
            return Blend(fit_trees(*rows(data, data.train), seed), BusiestLoop(data.main.bounds))
        case "constant":
            counts = Counter(data.label(pair) for pair in data.train)
            return Constant(sum(at * count for at, count in counts.items()) / counts.total())
        case "random":
            return Random(seed)
        case "busiest-loop":
            return BusiestLoop(data.main.bounds)
        case _:
            return FastestSoFar(data.main.bounds)
