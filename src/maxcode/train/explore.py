"""Legal schedules that are measured beside the policy's answers in every step of GRPO.

    a row: its problem, and what its answers begin with -> steps as the corpus draws them    -> measured -> archive
    a row: the schedule that it shows                   -> one of its lines is another, or gone

A policy stops writing what pays little at first, and its measurements never go there again.  These keep going there: a
group whose answers begin with lines of the archive (``diversity.go_on``) explores from these, any other from the
original, where every legal schedule stays possible in every step.  A group with a schedule of the archive also changes
one line of it, the mutation of Quality-Diversity (Ansor, arXiv 2006.06762, does it to schedules): a policy that goes on
from a schedule never changes what an early line has done.

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

from maxcode.code.cpp.unit import Unit
from maxcode.core.types import Action, Problem
from maxcode.policy.rules.kernels.schedule import Taken, again, read, walk, written
from maxcode.policy.rules.kernels.steps import NAMED, Permitted, edits_of
from maxcode.train.config import CorpusTable
from maxcode.train.corpus import at_random
from maxcode.train.diversity import PromptRow
from maxcode.train.prompts import steps_on_one_core

Known = Callable[[str, str], bool]  # of a problem's id and a program: whether it is measured already
CHANGED = 0.5  # share of the schedules of a group that shows one
_WAYS = {"value": 0.4, "other": 0.2, "more": 0.25, "without": 0.15}
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
            near = row.shown.schedule if row.shown is not None and generator.random() < CHANGED else ""
            begin = "" if near else row.beginning
            drawn = changed(problem, self.table, generator, near) if near else None
            taken = at_random(problem, self.table, generator, begin) if drawn is None else drawn
            text = taken[-1].program if taken else problem.program.text
            idle += 1
            if taken and text not in others and not known(problem.id, text):
                schedule = begin + written(one.label for one in taken)
                found.append(Action(problem.program.with_text(text), schedule))
                others.add(text)
                idle = 0
        return found


def changed(problem: Problem, table: CorpusTable, generator: random.Random, schedule: str) -> list[Taken]:
    """A schedule of which one line has another value, is another step, has one before it, or is left out.

    The lines after it stay where they are still possible."""
    allowed = steps_on_one_core(problem, table.templates)
    original, language = problem.program.text, problem.language
    labels = [line.label for line in read(schedule)]
    at, way = generator.randrange(len(labels)), generator.choices([*_WAYS], [*_WAYS.values()])[0]
    taken = list(again(original, language, original, labels[:at], allowed))
    text = taken[-1].program if taken else original
    if way == "value":
        values = _values(Unit(language, text), labels[at], allowed)
        taken += again(text, language, original, [generator.choice(values)] if values else [], allowed)
    elif way != "without":
        taken += walk(original, language, generator, 1, allowed, written(one.label for one in taken))
    text = taken[-1].program if taken else original
    return [*taken, *again(text, language, original, labels[at + (way != "more") :], allowed)]


def _values(unit: Unit, label: str, allowed: Permitted) -> list[str]:
    """The labels of the same step at the same place with other values."""
    step = NAMED.get(label.partition("(")[0])
    found = [edit.label for edit in edits_of(step, unit, allowed)] if step is not None else []
    return [one for one in found if one != label and one.partition(",")[0] == label.partition(",")[0]]
