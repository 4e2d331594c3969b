"""A prior over the steps of the policy `kernels`, fitted to measured gains: the smallest tuner that could work.

    P(edit | program) ~ prior of its step / number of its edits * exp(sum of the weights of its features)

With all weights 0 these are the priors of `kernels`, which were set by hand.  A feature is a word: the step, each of
its parameters, the place of its loop, and the step with a fact of the program (depth, sums, branches, techniques).
The weights are fitted by advantage-weighted regression (arXiv 1910.00177): the likelihood of the steps of random
schedules, each weighted by exp(what it led to, over the usual) in logarithms of the rate, and held near 0.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.techniques import used
from maxcode.core.types import Action, Observation, Problem
from maxcode.policy.rules.kernels.kernel import kernels
from maxcode.policy.rules.kernels.nest import loops
from maxcode.policy.rules.kernels.outline import outline
from maxcode.policy.rules.kernels.policy import propose
from maxcode.policy.rules.kernels.schedule import after, more_than
from maxcode.policy.rules.kernels.steps import Permitted, offered

BETA, MOST = 2.0, 20.0  # how strongly a gain counts; the largest weight of a step
HELD, ROUNDS, RATE = 1.0, 60, 0.3  # pull to 0; rounds of the fit, and its first rate
FAILED = -2.0  # the logarithm of the rate of a kernel that is not correct, over that of the original
Weights = Mapping[str, float]


# ------------------------------------------------------------------------------------------------------------ features


def facts(unit: Unit) -> list[str]:
    """What is known of a program: its loop nests, and the techniques it uses."""
    lines = outline(unit)
    depth = max((len(line) - len(line.lstrip(".")) for line in lines), default=0)
    bodies = [line.lstrip(".") for line in lines]
    known = [
        f"depth {min(depth, 5)}",
        f"nests {min(3, sum(line.startswith('.') and line[1:2] != '.' for line in lines))}",
    ]
    known += ["branch"] if "if" in bodies else []
    known += ["sum"] if any(" += " in body or " -= " in body for body in bodies) else []
    return known + [f"has {name}" for name in sorted(used(unit.language, unit.text))]


def places(unit: Unit) -> dict[str, str]:
    """The loops by their names in labels: loops inside, and loops around."""
    found = {}
    for kernel in kernels(unit):
        for spot in kernel.spots:
            inside = max((len(above) + 1 for _, _, above in loops(spot.loop.body)), default=0)
            found[spot.name] = f"{min(inside, 3)} in, {min(len(spot.above), 3)} out"
    return found


def features(edit: Edit, known: Sequence[str], where: Mapping[str, str]) -> tuple[str, ...]:
    """The features of an edit of a program."""
    name = edit.rule
    values = dict(edit.params)
    params = [f"{name} {key}={value}" for key, value in edit.params]
    params += [f"{name} sums={values['MR']} x {values['NV']}"] if {"MR", "NV"} <= values.keys() else []
    site = [f"{name} at {where[edit.site]}"] if edit.site in where else []
    site += (
        [f"{name} {edit.site}", *(f"{name} {edit.site}={value}" for _, value in edit.params)]
        if name == "retune"
        else []
    )
    return (name, *params, *site, *(f"{name} if {fact}" for fact in known))


# ------------------------------------------------------------------------------------------------------------- choices


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """One decision: the logarithms of the priors of all edits, their features, which was taken, and its weight."""

    priors: tuple[float, ...]
    options: tuple[tuple[str, ...], ...]
    taken: int
    weight: float


@lru_cache(maxsize=4000)
def decisions(
    language: str, text: str, may: Permitted
) -> tuple[tuple[str, ...], tuple[float, ...], tuple[tuple[str, ...], ...]]:
    """The labels of all edits of a program, the logarithms of their priors, and their features."""
    unit = Unit(language, text)
    known, where = facts(unit), places(unit)
    labels, priors, options = [], [], []
    for step, edits in offered(unit, may):
        for edit in edits:
            labels.append(edit.label)
            priors.append(math.log(step.rule.prior / len(edits)))
            options.append(features(edit, known, where))
    return tuple(labels), tuple(priors), tuple(options)


@final
@dataclass(frozen=True, slots=True)
class Chain:
    """A random schedule of a problem: its labels, the program before each step, and the rate after it over that of the
    original (0: not correct)."""

    problem: str
    language: str
    labels: tuple[str, ...]
    before: tuple[str, ...]
    gains: tuple[float, ...]


def led_to(chain: Chain) -> list[float]:
    """For each step, by how much the best from it on is better than the best before it, in logarithms; at least 0."""
    logs = [math.log(one) if one > 0 else FAILED for one in chain.gains]
    return [max(0.0, max(logs[at:]) - max([0.0, *logs[:at]])) for at in range(len(logs))]


def choices(chains: Iterable[Chain], may: Mapping[str, Permitted]) -> list[Choice]:
    """The decisions of chains, weighted by what they led to over the mean of the same problem and place."""
    chains = list(chains)
    reached: dict[tuple[str, int], list[float]] = defaultdict(list)
    for chain in chains:
        for at, one in enumerate(led_to(chain)):
            reached[chain.problem, at].append(one)
    found = []
    for chain in chains:
        for at, one in enumerate(led_to(chain)):
            usual = reached[chain.problem, at]
            weight = min(MOST, math.exp(BETA * (one - sum(usual) / len(usual))))
            labels, priors, options = decisions(chain.language, chain.before[at], may[chain.problem])
            if chain.labels[at] in labels:
                found.append(Choice(priors, options, labels.index(chain.labels[at]), weight))
    mean = sum(one.weight for one in found) / max(1, len(found))
    return [replace(one, weight=one.weight / mean) for one in found]


# ------------------------------------------------------------------------------------------------------------- the fit


def fitted(found: Sequence[Choice]) -> dict[str, float]:
    """The weights of the features, by AdaGrad on all decisions at once; pure Python."""
    weights: dict[str, float] = defaultdict(float)
    seen: dict[str, float] = defaultdict(float)
    for _ in range(ROUNDS):
        slope: dict[str, float] = defaultdict(float)
        for choice in found:
            _add_slope(choice, weights, slope)
        for name, one in slope.items():
            one -= HELD * weights[name]
            seen[name] += one * one
            weights[name] += RATE * one / (1e-9 + math.sqrt(seen[name]))
    return {name: round(weight, 4) for name, weight in sorted(weights.items()) if abs(weight) >= 0.01}


def _add_slope(choice: Choice, weights: Weights, slope: dict[str, float]) -> None:
    shares = probabilities(choice.priors, choice.options, weights)
    for name in choice.options[choice.taken]:
        slope[name] += choice.weight
    for share, option in zip(shares, choice.options, strict=True):
        part = choice.weight * share
        for name in option:
            slope[name] -= part


def probabilities(priors: Sequence[float], options: Sequence[Sequence[str]], weights: Weights) -> list[float]:
    """The probability of each edit."""
    get = weights.get
    scores = [prior + sum([get(name, 0.0) for name in option]) for prior, option in zip(priors, options, strict=True)]
    most = max(scores)
    powers = [math.exp(one - most) for one in scores]
    whole = sum(powers)
    return [one / whole for one in powers]


def log_likelihood(found: Sequence[Choice], weights: Weights) -> float:
    """The weighted mean of the logarithms of the probabilities of what was taken."""
    logs = [one.weight * math.log(probabilities(one.priors, one.options, weights)[one.taken]) for one in found]
    return sum(logs) / sum(one.weight for one in found)


# ----------------------------------------------------------------------------------------------------------- proposing


def walked(
    problem: Problem, may: Permitted, draw: random.Random, steps: int, weights: Weights
) -> Iterator[tuple[str, str, str]]:
    """A random schedule by the prior: label, program before, program after."""
    text = original = problem.program.text
    for _ in range(steps):
        labels, priors, options = decisions(problem.language, text, may)
        if not labels:
            return
        label = draw.choices(labels, probabilities(priors, options, weights))[0]
        unit = Unit(problem.language, text)
        edit = next(one for _, edits in offered(unit, may) for one in edits if one.label == label)
        made = after(unit, edit)
        if not more_than(may, problem.language, made, original):
            yield label, text, made
            text = made


@final
@dataclass(frozen=True, slots=True)
class Fitted:
    """The policy `kernels` with a fitted prior in place of its own; experience and critiques act as there."""

    weights: Weights
    templates: bool = True

    async def propose(self, observation: Observation) -> Action:
        return propose(observation, self.templates, self._likelier, "Kernel policy with a fitted prior")

    def _likelier(self, unit: Unit) -> Callable[[Edit], float]:
        known, where = facts(unit), places(unit)
        get = self.weights.get
        return lambda edit: math.exp(sum(get(name, 0.0) for name in features(edit, known, where)))
