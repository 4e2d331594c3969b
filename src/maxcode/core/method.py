"""A method: the roles that one run combines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from maxcode.core.reward import speedup
from maxcode.core.roles import Critic, Observe, Policy, Reward, Search, Value


@final
@dataclass(frozen=True, slots=True)
class Method:
    """The parts of a search method: policy, search, observation, critic, value model, reward and its discount.

    ``critiques``: of all candidates, as in the paper, or only of those that are expanded, which no other is shown.
    """

    policy: Policy
    search: Search
    observe: Observe
    critic: Critic | None = None
    value: Value | None = None
    reward: Reward = speedup
    gamma: float = 1.0
    critiques: Literal["all", "expanded"] = "all"
