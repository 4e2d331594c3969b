"""More candidates are drawn than run: the paper's other reading, in which the value model works *before* execution.

The abstract of MaxCode (arXiv 2601.05475) has it choose what is executed, its text has it score nodes that were
executed.  This wrapper is the first; the searches ``+value`` are the second; both may be used at once.  How many are
drawn and how one is chosen is not published: both are ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.roles import Policy, PriorValue
from maxcode.core.types import Action, Observation, Sample, Usage
from maxcode.errors import InputError


@final
@dataclass(frozen=True, slots=True)
class Reranked:
    """A policy that draws ``factor`` candidates and proposes the one of which most is foreseen, of equals the first.

    A share ``unranked`` of the proposals takes the first draw whatever is foreseen, else nobody could tell whether
    what is foreseen holds.  All that was drawn is kept in the action.  Pure in the observation, as the policy is: the
    draws are hashes of the observation's draw, the first one is that draw, so a proposal taken unranked is the one the
    policy would have made.  Whether ranking is left out is a hash of the draw and the problem's original: by the draw
    alone, which does not know the problem, it would be at the same places of every run.
    """

    policy: Policy
    foresight: PriorValue
    factor: int = 4
    unranked: float = 0.1

    def __post_init__(self) -> None:
        if self.factor < 2:
            raise InputError(f"a reranker that draws {self.factor} has nothing to choose; draw at least 2 (--draw 2)")
        if not 0 <= self.unranked <= 1:
            raise InputError(f"the share left unranked is {self.unranked}; give one from 0 to 1 (--unranked 0.1)")

    async def propose(self, observation: Observation) -> Action:
        """The chosen candidate; its usage is that of all that were drawn."""
        draws = [observation.draw, *(_hash(observation.draw, str(n)) for n in range(1, self.factor))]
        actions = [await self.policy.propose(replace(observation, draw=draw)) for draw in draws]
        foreseen = await self.foresight.foresee(observation.state, actions)
        original = observation.state.problem.program.digest
        ranked = _hash(observation.draw, f"ranked/{original}") / 2**64 >= self.unranked
        chosen = _first_best(actions, foreseen) if ranked else 0
        drawn = tuple(
            Sample(action.program, value, at == chosen)
            for at, (action, value) in enumerate(zip(actions, foreseen, strict=True))
        )
        usage = sum((action.usage for action in actions), Usage())
        return replace(actions[chosen], usage=usage, drawn=drawn, ranked=ranked)


def _first_best(actions: list[Action], foreseen: list[float]) -> int:
    """The place of the best; what could not be read comes last, since nothing can be run of it."""
    return max(range(len(actions)), key=lambda at: (actions[at].program is not None, foreseen[at], -at))


def _hash(draw: int, word: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{draw}/drawn/{word}".encode()).digest()[:8])
