"""The harness of each kind of problem: one table row per kind, and the functions that open a harness.

A new kind of problem is a package like ``program/``, ``function/`` and ``module/`` that implements
``harness_protocol.Harness``, and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Kind, Problem
from maxcode.errors import UnsafeError
from maxcode.evaluate.harness_protocol import Harness, HarnessTerms
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.kept_admissions import KeptAdmissions
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.learned_contract import FOLDER as CONTRACTS
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.evaluate.program.learned import FOLDER as ADMISSIONS
from maxcode.evaluate.program.learned import MOST_S
from maxcode.evaluate.python.admission import FOLDER as CALLS
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.evaluate.repo.first_runs import FOLDER as BASES
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.selftest import open_safe


def _programs(sandbox: Sandbox, builder: Builder, terms: HarnessTerms) -> ProgramEvaluator:
    return ProgramEvaluator(sandbox, builder, terms=terms, kept=_kept(sandbox, ADMISSIONS, terms))


def _kept(sandbox: Sandbox, name: str, terms: HarnessTerms) -> KeptAdmissions:
    """The admissions in this folder of the cache, each used for a day; none where nothing is to be kept."""
    reads = terms.goes_on or terms.single
    return KeptAdmissions.below(sandbox, name, reads, MOST_S) if terms.keeps else KeptAdmissions()


def _require_tier_1(sandbox: Sandbox, what: str) -> None:
    if sandbox.tier.name != "1":
        raise UnsafeError(
            f"{what} run only in tier 1 of the sandbox (bubblewrap), and this is {sandbox.describe()}; "
            "see `maxcode doctor`"
        )


def _python_functions(sandbox: Sandbox, builder: Builder, terms: HarnessTerms) -> Harness:
    _require_tier_1(sandbox, "Python functions")
    return RoundsEvaluator(sandbox, PythonStages(sandbox, not terms.single, _kept(sandbox, CALLS, terms)))


def _modules(sandbox: Sandbox, builder: Builder, terms: HarnessTerms) -> ModuleEvaluator:
    _require_tier_1(sandbox, "PyTorch modules")
    rule = RaceRule()
    rule = replace(rule, evident=rule.gross) if terms.single else rule
    beside, prompts, kept = terms.beside_compiled, not terms.single, _kept(sandbox, CONTRACTS, terms)
    return ModuleEvaluator(sandbox, rule, beside_compiled=beside, prompts=prompts, kept=kept)


def _repositories(sandbox: Sandbox, builder: Builder, terms: HarnessTerms) -> RepoEvaluator:
    is_run = terms.keeps and not terms.single
    kept = KeptAdmissions.below(sandbox, BASES, terms.goes_on) if is_run else KeptAdmissions()
    return RepoEvaluator(sandbox, keeps=terms.keeps, kept=kept, prompts=not terms.single)


HARNESSES: Mapping[Kind, Callable[[Sandbox, Builder, HarnessTerms], Harness]] = {
    "program": _programs,
    "function": _programs,
    "module": _modules,
    "repo": _repositories,
    "python": _python_functions,
}


def make_harness(problem: Problem, sandbox: Sandbox, builder: Builder, terms: HarnessTerms) -> Harness:
    """The harness for the problem's kind on an open sandbox.  UnsafeError if the sandbox is too weak for the kind."""
    return HARNESSES[problem.kind](sandbox, builder, terms)


async def open_harness(problem: Problem, terms: HarnessTerms = HarnessTerms()) -> Harness:  # noqa: B008
    """The harness for the problem's kind on this machine's sandbox.  UnsafeError if no sandbox is safe."""
    sandbox = await open_safe()
    return make_harness(problem, sandbox, Builder(sandbox, sandbox.cache, terms.keeps), terms)


async def open_modules() -> ModuleEvaluator:
    """The harness of modules.  UnsafeError if the tier that they need is not safe."""
    sandbox = await open_safe()
    return _modules(sandbox, Builder(sandbox, sandbox.cache), HarnessTerms())


async def compiled_without_gpu(problem: Problem, action: Action) -> tuple[str, Admitted, Evaluation] | None:
    """Evaluate a GPU candidate on a machine without a GPU, as far as compilation.

    Returns the sandbox tier, the admitted problem and the evaluation; None for any other problem, and if there is a
    GPU.
    """
    if not problem.spec.on_gpu:
        return None
    evaluator = await open_modules()
    found = await evaluator.compiled(problem, action)
    return None if found is None else (evaluator.sandbox, *found)
