"""The evaluator of the kind ``module``: rounds against the reference, and torch.compile beside."""

from __future__ import annotations

from typing import final

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Problem
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.module.compiled import compiled_only
from maxcode.evaluate.module.gpu import find_gpu
from maxcode.evaluate.module.sides import ModuleSide
from maxcode.evaluate.module.staging import ModuleStages, Staged
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
        keeps: bool = False,
    ) -> None:
        """``beside_compiled``: a confirmation is followed by a comparison with torch.compile, which finds what earlier
        commands have kept if ``keeps``; ``prompts``: find out what prompts tell of a program."""
        super().__init__(sandbox, ModuleStages(sandbox, beside_compiled, prompts, keeps), rule)

    async def compiled(self, problem: Problem, action: Action) -> tuple[Admitted, Evaluation] | None:
        """A GPU candidate on a machine without a GPU: compiled, not verified; None if there is a GPU."""
        found = await find_gpu(self._sandbox, problem)
        return await compiled_only(self._sandbox, problem, action, found) if isinstance(found, str) else None
