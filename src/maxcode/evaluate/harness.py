"""Which evaluator a problem's kind needs: the one entrance of this room for whoever runs a search."""

from __future__ import annotations

from typing import Protocol

from maxcode.core.roles import Evaluator, Referee
from maxcode.core.types import Action, Evaluation, Problem
from maxcode.errors import UnsafeError
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.program.evaluator import open_evaluator
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.selftest import require_safe


class Harness(Evaluator, Referee, Protocol):
    """An evaluator that is its own referee.  ``sandbox``: its tier in words, part of every result."""

    @property
    def sandbox(self) -> str: ...

    async def admit(self, problem: Problem) -> Admitted:
        """Make the problem ready to be worked on; InputError when it cannot be."""
        ...


async def open_harness(problem: Problem) -> Harness:
    """The evaluator for the problem's kind on this machine's sandbox; UnsafeError where none holds."""
    return await open_modules() if problem.kind == "module" else await open_evaluator()


async def compiled_without_gpu(problem: Problem, action: Action) -> tuple[str, Admitted, Evaluation] | None:
    """A candidate for a GPU as far as it can be judged where there is none (the sandbox in words, the problem, what was
    found); None for any other problem, and where there is a GPU."""
    if problem.spec.module is None or problem.spec.module.device != "cuda":
        return None
    evaluator = await open_modules()
    found = await evaluator.compiled(problem, action)
    return None if found is None else (evaluator.sandbox, *found)


async def open_modules(beside_compiled: bool = True) -> ModuleEvaluator:
    """The evaluator of modules; UnsafeError where the tier that they need does not hold."""
    sandbox = await Sandbox.open()
    if sandbox.tier.name != "1":
        raise UnsafeError(
            f"PyTorch modules are run in tier 1 of the sandbox (bubblewrap) alone, and this is {sandbox.describe()}; "
            "see `maxcode doctor`"
        )
    await require_safe(sandbox)
    return ModuleEvaluator(sandbox, beside_compiled=beside_compiled)
