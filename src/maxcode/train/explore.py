"""Random legal schedules that are measured beside the policy's answers in every step of GRPO.

    a row: its problem, and what its answers begin with -> steps as the corpus draws them -> measured -> archive

A policy stops writing what pays little at first, and its measurements never go there again.  These keep going there: a
group whose answers begin with lines of the archive (``diversity.go_on``) explores from these, any other from the
original, where every legal schedule stays possible in every step.

They are no answers of the policy.  It did not draw them, so the ratio of its probabilities, which GRPO takes as 1, is
another; and a negative advantage would push down texts that it hardly writes, for nothing.  So they have no advantage
and belong to no group.  The policy learns of the fast ones through the archive: by ``[imitation]``, a likelihood that
needs no ratio, and where its answers begin with lines of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from maxcode.core.types import Action
from maxcode.policy.rules.kernels.schedule import written
from maxcode.train.config import CorpusTable
from maxcode.train.corpus import at_random
from maxcode.train.diversity import PromptRow

Known = Callable[[str, str], bool]  # of a problem's id and a program: whether it is measured already
_IN_VAIN = 20  # draws of known programs, one after the other: there are hardly any new ones


@final
@dataclass(frozen=True, slots=True)
class Explore:
    """Draws ``count`` schedules for every group, by the seed, the row, and what is measured before the step."""

    count: int
    table: CorpusTable
    seed: int

    def beside(self, number: int, row: PromptRow, known: Known, others: set[str]) -> list[Action]:
        """New programs, as answers to the row ``number``: neither ``known`` nor among the texts of ``others``, to which
        they are added."""
        generator, problem = random.Random(f"explore {self.seed} {number}"), row.problem
        found, idle = list[Action](), 0
        while len(found) < self.count and idle < _IN_VAIN:
            taken = at_random(problem, self.table, generator, row.beginning)
            text = taken[-1].program if taken else problem.program.text
            idle += 1
            if taken and text not in others and not known(problem.id, text):
                schedule = row.beginning + written(one.label for one in taken)
                found.append(Action(problem.program.with_text(text), schedule))
                others.add(text)
                idle = 0
        return found
