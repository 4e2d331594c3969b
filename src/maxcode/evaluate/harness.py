"""Which harness a kind of problem has: one row of a table for each kind, and one way to open it.

A new kind of problem is a package beside ``program/``, ``function/`` and ``module/`` that answers
``harness_protocol.Harness``, and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from maxcode.core.types import Action, Evaluation, Kind, Problem
from maxcode.errors import UnsafeError
from maxcode.evaluate.harness_protocol import Harness
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.selftest import open_safe


@final
@dataclass(frozen=True, slots=True)
class HarnessTerms:
    """``seed``: of the inputs that nobody is shown, drawn by the system where it is None, and the SHA-256 of those that
    were proven ``before``.  ``beside_compiled``: whether a module is also compared with torch.compile."""

    seed: int | None = None
    before: frozenset[str] = frozenset()
    beside_compiled: bool = True


def _programs(sandbox: Sandbox, builder: Builder, terms: HarnessTerms) -> ProgramEvaluator:
    return ProgramEvaluator(sandbox, builder, seed=terms.seed, before=terms.before)


def _modules(sandbox: Sandbox, builder: Builder, terms: HarnessTerms) -> ModuleEvaluator:
    if sandbox.tier.name != "1":
        raise UnsafeError(
            f"PyTorch modules are run in tier 1 of the sandbox (bubblewrap) alone, and this is {sandbox.describe()}; "
            "see `maxcode doctor`"
        )
    return ModuleEvaluator(sandbox, beside_compiled=terms.beside_compiled)


HARNESSES: Mapping[Kind, Callable[[Sandbox, Builder, HarnessTerms], Harness]] = {
    "program": _programs,
    "function": _programs,
    "module": _modules,
}


def make_harness(problem: Problem, sandbox: Sandbox, builder: Builder, terms: HarnessTerms) -> Harness:
    """The harness for the problem's kind on a sandbox that is open; UnsafeError where it is not enough for the kind."""
    return HARNESSES[problem.kind](sandbox, builder, terms)


async def open_harness(problem: Problem, terms: HarnessTerms = HarnessTerms()) -> Harness:
    """The harness for the problem's kind on this machine's sandbox; UnsafeError where none holds."""
    sandbox = await open_safe()
    return make_harness(problem, sandbox, Builder(sandbox, sandbox.cache), terms)


async def open_modules() -> ModuleEvaluator:
    """The harness of modules; UnsafeError where the tier that they need does not hold."""
    sandbox = await open_safe()
    return _modules(sandbox, Builder(sandbox, sandbox.cache), HarnessTerms())


async def compiled_without_gpu(problem: Problem, action: Action) -> tuple[str, Admitted, Evaluation] | None:
    """A candidate for a GPU as far as it can be judged where there is none (the sandbox in words, the problem, what was
    found); None for any other problem, and where there is a GPU."""
    if not problem.spec.on_gpu:
        return None
    evaluator = await open_modules()
    found = await evaluator.compiled(problem, action)
    return None if found is None else (evaluator.sandbox, *found)
