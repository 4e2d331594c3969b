"""Imitation of the fastest answers that are measured so far, after each step of GRPO.

    archive -> its fastest kernels -> their prompts and completions -> updates by likelihood, with GRPO's optimizer

This is priority queue training (arXiv 1801.03526), an expert iteration whose expert is the archive.  GRPO forgets a
fast answer that its policy does not write again; the archive does not.  Many kernels are imitated, so the policy does
not narrow to the best one.  The fastest may be one kernel in many spellings; with ``elites`` only the best of each cell
counts.  It costs no measurement.  The share and the number of updates are ours.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any, final

from maxcode.core.types import Problem
from maxcode.search.archive import Kept, open_to
from maxcode.train.batches import Padded, encoded
from maxcode.train.config import TrainConfig
from maxcode.train.diversity import ArchiveProgress
from maxcode.train.prompts import Prompts

_NORM = 1.0  # the largest norm of a gradient, as in GRPO


@final
@dataclass(frozen=True, slots=True)
class Imitation:
    """Updates a policy toward the fastest kernels of the archives, which it draws by the seed and the step alone."""

    config: TrainConfig
    progress: ArchiveProgress
    prompts: Prompts
    tokenizer: Any

    def after(self, step: int, model: Any, optimizer: Any) -> float:
        """The updates after ``step``; returns the largest norm of their gradients, 0 without an update."""
        from torch.nn.utils import clip_grad_norm_

        table, norms = self.config.imitation, [0.0]
        rows = self._rows(random.Random(f"imitation {self.config.seed} {step}")) if table.updates else []
        batches = [rows[at : at + table.batch] for at in range(0, len(rows), table.batch)]
        for batch in batches:
            padded = Padded(self.tokenizer.pad_token_id)(batch)
            model(**{name: tensor.to(model.device) for name, tensor in padded.items()}).loss.backward()
            norms.append(float(clip_grad_norm_(model.parameters(), _NORM)))
            optimizer.step()
            optimizer.zero_grad()
        return max(norms, key=lambda norm: math.inf if math.isnan(norm) else norm)

    def _rows(self, draw: random.Random) -> list[dict[str, list[int]]]:
        """The examples of all updates of a step, the problems in turn."""
        table, problems = self.config.imitation, list(self.progress.problems.values())
        known = {problem.id: self._fastest(problem) for problem in problems}
        asked = []
        for number in range(table.updates * table.batch):
            problem = problems[number % len(problems)]
            if known[problem.id]:
                asked.append(self._example(problem, draw.choice(known[problem.id]), draw))
        return encoded(asked, self.tokenizer, self.config.corpus.most_tokens)

    def _fastest(self, problem: Problem) -> list[Kept]:
        table, archive = self.config.imitation, self.progress.archive(problem.id)
        elites = sorted(archive.elites().values(), key=lambda one: -one.quality)
        found = elites if table.elites else archive.fastest()
        return found[: max(table.least, math.ceil(table.share * len(found)))]

    def _example(self, problem: Problem, one: Kept, draw: random.Random) -> tuple[str, str]:
        """A kernel as the answer to a prompt of a stage that permits it."""
        staged = [self.progress.staged(problem, stage) for stage in range(len(self.progress.stages))]
        permits = [each for each in staged if open_to(each, {one.cell: one})] or staged[-1:]
        return self.prompts.ask(draw.choice(permits)), one.schedule or one.program.text
