"""Reward-to-go: models of V(s, u), the best class of speed-up that a state may still lead to.

    state -> situation (what the model sees of it) -> numbers or text -> expected class

``Value`` scores executed states, ``PriorValue`` candidates before execution: the two readings of the paper.  Nothing
here trains, and only ``generative/`` needs more than the core; ``train/`` makes the models.
"""

from __future__ import annotations

from maxcode.search.value.baselines import BusiestLoop, Constant, FastestSoFar, Random
from maxcode.search.value.blend import Blend
from maxcode.search.value.classes import OF_PAPER, PRESETS, QUANTILE, RELATIVE, Edges, papers, preset, quantile_edges
from maxcode.search.value.model_folder import Model, Saved, described, read, save
from maxcode.search.value.predict import ValueRoles, digest, load, predictor
from maxcode.search.value.settings import SMALL, Generative, NetworkShape
from maxcode.search.value.situation import Predictor, Reading, Situation, drawn, had, situation
from maxcode.search.value.trees import Tree, Trees

__all__ = [
    "OF_PAPER",
    "PRESETS",
    "QUANTILE",
    "RELATIVE",
    "SMALL",
    "Blend",
    "BusiestLoop",
    "Constant",
    "Edges",
    "FastestSoFar",
    "Generative",
    "Model",
    "NetworkShape",
    "Predictor",
    "Random",
    "Reading",
    "Saved",
    "Situation",
    "Tree",
    "Trees",
    "ValueRoles",
    "described",
    "digest",
    "drawn",
    "had",
    "load",
    "papers",
    "predictor",
    "preset",
    "quantile_edges",
    "read",
    "save",
    "situation",
]
