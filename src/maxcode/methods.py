"""Named compositions of search and observation; plain, or ``+maxcode``.

Plain methods show the task, the program and its raw feedback.  ``+maxcode`` adds the paper's three parts: the best of
the path (u), the trajectory, and the critiques; ours adds what failed in the whole run.  The budget is the one dial:
width and depth follow from it, so that 64 candidates give the paper's 8 x 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from maxcode.batch import Method
from maxcode.critique import RuleCritic
from maxcode.errors import unknown
from maxcode.observe import (
    best,
    compose,
    critiques,
    failures,
    feedback,
    machine,
    program,
    run_best,
    statement,
    trajectory,
)
from maxcode.roles import Policy, Search
from maxcode.search import Beam, BestOfN, CudaLlm, Elites, Refine, Tree
from maxcode.types import Machine

PLUS = "+maxcode"


@final
@dataclass(frozen=True, slots=True)
class Scene:
    """What a method may tell its policy beside the states: where it runs, and the diagnosis of the original."""

    machine: Machine
    original: str = ""


def _best_of_n(budget: int) -> Search:
    return BestOfN(n=budget, width=min(8, budget))


def _refine(budget: int) -> Search:
    return Refine(depth=budget)


def _cuda_llm(budget: int) -> Search:
    width = max(1, round(math.sqrt(budget)))
    return CudaLlm(width=width, depth=math.ceil(budget / width))


def _beam(budget: int) -> Search:
    side = max(1, round(budget ** (1 / 3)))
    return Beam(width=side, children=side)


def _tree(budget: int) -> Search:
    return Tree(width=_generation(budget))


def _elites(budget: int) -> Search:
    return Elites(width=_generation(budget))


def _generation(budget: int) -> int:
    """As many batches as candidates in one, and no more than 8 of those."""
    return max(1, min(8, round(math.sqrt(budget))))


SEARCHES: dict[str, tuple[Callable[[int], Search], str]] = {
    "best-of-n": (_best_of_n, "independent proposals from the original"),
    "refine": (_refine, "one path, each proposal from the last"),
    "cuda-llm": (_cuda_llm, "greedy beam with repair: the fastest correct child of each level goes on"),
    "beam": (_beam, "the best few correct ones of each level go on together"),
    "tree": (_tree, "UCT on the best reward below a node, with progressive widening"),
    "elites": (_elites, "MAP-Elites: one elite per set of techniques, parents drawn over all of them"),
}


def names() -> dict[str, str]:
    """Every method's name with one line about it."""
    plain = {name: line for name, (_, line) in SEARCHES.items()}
    more = {name + PLUS: f"{line}; shows best, trajectory, critiques, failures" for name, line in plain.items()}
    return {**plain, **more}


def method(name: str, policy: Policy, budget: int, scene: Scene) -> Method:
    """The method called ``name`` for a budget of candidates; InputError with the nearest spelling otherwise."""
    if name not in names():
        raise unknown("method", name, names())
    search = SEARCHES[name.removesuffix(PLUS)][0](budget)
    parts = [statement(), program(), machine(scene.machine), feedback()]
    if name.endswith(PLUS):
        parts += [best(), run_best(), trajectory(), critiques(scene.original), failures()]
    return Method(policy, search, compose(*parts), RuleCritic())
