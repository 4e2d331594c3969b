"""The evaluator of the kind ``module``: rounds against the reference, and torch.compile beside."""

from __future__ import annotations

from typing import final

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Problem
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.module.admission import Staged
from maxcode.evaluate.module.compiled import compiled_only
from maxcode.evaluate.module.gpu import find_gpu
from maxcode.evaluate.module.sides import ModuleSide
from maxcode.evaluate.module.staging import ModuleStages
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.sandbox.sandbox import Sandbox


@final
class ModuleEvaluator(RoundsEvaluator[Staged, ModuleSide]):
    """Evaluates candidates of admitted module problems.  The speed-up is over the reference in eager mode."""

    def __init__(
        self,
        sandbox: Sandbox,
        rule: RaceRule = RaceRule(),  # noqa: B008
        beside_compiled: bool = True,
        prompts: bool = True,
        kept: KeptAdmissions = KeptAdmissions(),  # noqa: B008
    ) -> None:
        """``beside_compiled``: a confirmation has a comparison with torch.compile beside it; ``prompts``: find out what
        prompts tell of a program; ``kept``: what earlier commands have kept."""
        stages = ModuleStages(sandbox, beside_compiled, prompts, kept)
        super().__init__(sandbox, stages, rule)
        self._work_ahead = stages.work_ahead

    async def work_ahead(self, problem: Problem, action: Action, pairs: int) -> None:
        """The role ``WorksAhead``: builds the candidate while the reference is being called, and draws weights."""
        if action.program is not None and await self.refused_early(problem, action) is None:
            await self._work_ahead(problem, action.program)

    async def compiled(self, problem: Problem, action: Action) -> tuple[Admitted, Evaluation] | None:
        """A GPU candidate on a machine without a GPU: compiled, not verified; None if there is a GPU."""
        found = await find_gpu(self._sandbox, problem)
        return await compiled_only(self._sandbox, problem, action, found) if isinstance(found, str) else None
