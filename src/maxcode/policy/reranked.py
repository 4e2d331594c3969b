"""Reranking: more candidates are sampled than run, and a value model chooses *before* execution.

The abstract of MaxCode (arXiv 2601.05475) has the model choose what is executed; its text has it score executed nodes.
This wrapper is the first reading, the searches ``+value`` are the second; both may be combined.  The number of samples
and the rule of choice are not published: both are ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import anyio

from maxcode.core.roles import Policy, PriorValue
from maxcode.core.stats import draw
from maxcode.core.types import Action, Observation, Sample, Usage
from maxcode.errors import InputError, MaxcodeError, first_of


@final
@dataclass(frozen=True, slots=True)
class Reranked:
    """A policy that samples ``factor`` candidates and proposes the one with the highest prediction, of equals the
    first.

    In a share ``unranked`` of the proposals it takes the first sample regardless of the predictions; without these
    nobody could check whether the predictions hold.  The action keeps all samples.

    Pure in the observation, as the policy is.  The draws are hashes of the observation's draw; the first one is that
    draw, so an unranked proposal is the one that the policy alone would make.  Whether to rank is a hash of the draw
    and the problem's original: by the draw alone it would be the same slots in every run.
    """

    policy: Policy
    foresight: PriorValue
    factor: int = 4
    unranked: float = 0.1

    def __post_init__(self) -> None:
        if self.factor < 2:
            raise InputError(f"a reranker with {self.factor} samples has no choice; use at least 2 (--draw 2)")
        if not 0 <= self.unranked <= 1:
            raise InputError(f"the unranked share is {self.unranked}; it must be from 0 to 1 (--unranked 0.1)")

    async def propose(self, observation: Observation) -> Action:
        """The chosen candidate; its usage is that of all samples."""
        draws = [observation.draw, *(draw(observation.draw, "drawn", n) for n in range(1, self.factor))]
        actions = await self._drawn(observation, draws)
        foreseen = await self.foresight.foresee(observation.state, actions)
        original = observation.state.problem.program.digest
        ranked = draw(observation.draw, "drawn", "ranked", original) / 2**64 >= self.unranked
        chosen = _first_best(actions, foreseen) if ranked else 0
        drawn = tuple(
            Sample(action.program, value, at == chosen)
            for at, (action, value) in enumerate(zip(actions, foreseen, strict=True))
        )
        usage = sum((action.usage for action in actions), Usage())
        return replace(actions[chosen], usage=usage, drawn=drawn, ranked=ranked)

    async def _drawn(self, observation: Observation, draws: list[int]) -> list[Action]:
        """The samples, asked for at once, in the order of their draws."""
        found: dict[int, Action] = {}

        async def one(draw: int) -> None:
            found[draw] = await self.policy.propose(replace(observation, draw=draw))

        try:
            async with anyio.create_task_group() as group:
                for draw in draws:
                    group.start_soon(one, draw)
        except* MaxcodeError as errors:
            raise first_of(errors) from errors
        return [found[draw] for draw in draws]


def _first_best(actions: list[Action], foreseen: list[float]) -> int:
    """The index of the best; samples without a program come last, because they cannot be run."""
    return max(range(len(actions)), key=lambda at: (actions[at].program is not None, foreseen[at], -at))
