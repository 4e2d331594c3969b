"""Random legal schedules that are measured beside the policy's answers in every step of GRPO.

    a row's problem -> schedules as the corpus draws them (``corpus.at_random``) -> measured -> archive

A policy stops writing what pays little at first, and its measurements never go there again.  These keep every legal
schedule possible in every step.  They are no answers of the policy: it did not draw them, so the ratio of its
probabilities, which GRPO takes as 1, is not, and a negative advantage would push down texts that it hardly writes, for
nothing.  So they have no advantage and belong to no group.  The policy learns of the fast ones through the archive: by
``[imitation]``, a likelihood that needs no ratio, and where its prompts begin with them (``diversity.go_on``).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from maxcode.core.types import Action, Problem
from maxcode.policy.rules.kernels.schedule import written
from maxcode.train.config import CorpusTable
from maxcode.train.corpus import at_random

_IN_VAIN = 20  # draws of known programs, one after the other: there are hardly any new ones


@final
@dataclass(frozen=True, slots=True)
class Explore:
    """Draws ``count`` schedules for every group, by the seed, the row, and what is measured before the step."""

    count: int
    table: CorpusTable
    seed: int

    def beside(self, row: int, problem: Problem, known: Callable[[str, str], bool], others: set[str]) -> list[Action]:
        """New programs, as answers: neither ``known`` nor among the texts of ``others``, to which they are added."""
        generator, found, idle = random.Random(f"explore {self.seed} {row}"), list[Action](), 0
        while len(found) < self.count and idle < _IN_VAIN:
            taken = at_random(problem, self.table, generator)
            text = taken[-1].program if taken else problem.program.text
            idle += 1
            if taken and text not in others and not known(problem.id, text):
                found.append(Action(problem.program.with_text(text), written(one.label for one in taken)))
                others.add(text)
                idle = 0
        return found
