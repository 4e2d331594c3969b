"""The checks on a request that need no build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maxcode.code.techniques import reads
from maxcode.core.budget import MANY
from maxcode.core.types import Problem
from maxcode.errors import InputError, NoRuleError, UnmeasurableError
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.python.runtime import has_package
from maxcode.llm.clients.connect import is_priced
from maxcode.policy.rules.python.njit import NJIT, NUMBA
from maxcode.policy.rules.rewriter import LANGUAGES, can_edit, chosen_rules, rules_seen, unit_of
from maxcode.run.changes import differences
from maxcode.run.names import C_ONLY, CALLED, REWRITER, RULE_BASED, models_asked
from maxcode.run.record import HEADER, read_header
from maxcode.run.request import Request
from maxcode.search.value import digest
from maxcode.search.value_guided import RERANK, base

_BY_TECHNIQUE = ("elites", "sqd")


def asks_model(request: Request) -> bool:
    """Whether the request names a language model."""
    return any(name.startswith(CALLED) for name in (request.policy, request.critic))


def refuse_unpriced(request: Request) -> None:
    """Raises InputError for a cap on money if a price is not known: a price is never guessed."""
    names = models_asked(request.policy, request.critic)
    for name in sorted({*names}) if request.caps.dollars is not None and request.replay is None else ():
        if not is_priced(name, request.models):
            raise InputError(
                f"the price of '{name}' is not known, so --max-dollars cannot hold; give --prices FILE with a line "
                f'"{name}" = {{ input = DOLLARS, output = DOLLARS }} per million tokens, or use --max-tokens'
            )


def refuse_unpaid(request: Request) -> None:
    """Raises InputError if only model calls use up the budget and no model is called: the run would not end."""
    if request.budget >= MANY and request.caps.seconds is None and not asks_model(request):
        raise InputError(
            f"--budget counts the cost of language models, and neither --policy {request.policy} nor --critic "
            f"{request.critic} is one, so the run would never end; give a budget of candidates, or of seconds"
        )


def refuse_replay(request: Request, out: Path) -> None:
    """Raises InputError if a replay has no model to replace, or would write to the run that it replays."""
    if request.replay is None:
        return
    if not asks_model(request):
        if not (request.replay / HEADER).is_file():
            raise InputError(f"{request.replay} is no run folder; give --replay a run that asked a language model")
        recorded = read_header(request.replay).get("policy", "llm:MODEL")
        raise InputError(
            f"--replay replaces language models, and neither --policy {request.policy} nor --critic "
            f"{request.critic} is one; {request.replay} was made with --policy {recorded}"
        )
    if out.resolve() == request.replay.resolve():
        raise InputError(f"--replay {request.replay} would write to the run that it replays; choose another --out")


def guided_by(request: Request) -> dict[str, Any]:
    """The value model in a record: its digest and its settings; empty without one."""
    if request.value is None:
        return {}
    asked = {"draw": request.draw, "unranked": request.unranked} if RERANK in request.method else {}
    return {"value": {"digest": digest(request.value), **asked}}


def asked_as(request: Request) -> dict[str, Any]:
    """How the models are asked, where it is not as usual."""
    tables = {"ask_policy": request.ask_policy.given, "ask_critic": request.ask_critic.given}
    return {name: table for name, table in tables.items() if table}


def rules_of(request: Request) -> frozenset[str]:
    """The rules of the rewriter that a request allows; InputError for a name that is no rule, or another policy."""
    found = chosen_rules(request.with_rules, request.without_rules)
    if (request.with_rules or request.without_rules) and request.policy != REWRITER:
        raise InputError(
            f"--with-rule and --without-rule choose rules of the built-in rewriter, and --policy is {request.policy}; "
            f"leave them out, or give --policy {REWRITER}"
        )
    return found


def refuse_without_rules(request: Request, problem: Problem) -> None:
    """Raises NoRuleError if the policy is built in and knows no rule for the language or for the program."""
    if request.anyway or request.replay is not None or request.policy not in RULE_BASED:
        return
    known = ("c", "cpp") if request.policy in C_ONLY else LANGUAGES
    if problem.language not in known:
        told = "C and C++" if request.policy in C_ONLY else "C, C++ and Python"
        raise NoRuleError(
            f"--policy {request.policy} has rules for {told} only, and {problem.program.name} is "
            f"{problem.language.capitalize()}: no candidate would differ from it; use a language model (--policy "
            "llm:MODEL), answer the prompts yourself (--policy ask), judge a version of your own (maxcode evaluate NEW "
            "--against OLD), or add --anyway to run it all the same"
        )
    if request.policy == REWRITER:
        _refuse_without_numba(problem, rules_of(request))
        inexact = problem.spec.checker.kind == "float"
        if not can_edit(problem, inexact, rules_of(request)):
            seen = rules_seen(unit_of(problem), rules_of(request)) if problem.spec.repo is None else ()
            by_function = "".join(f"\n{line}" for line in seen)
            where = problem.program.name if problem.spec.repo is None else "the files of `edit` in C and C++"
            raise NoRuleError(
                f"no rule of the built-in rewriter applies to {where}: no candidate would differ from "
                "it; use a language model (--policy llm:MODEL), answer the prompts yourself (--policy ask), or add "
                f"--anyway to run it all the same{by_function}"
            )


def _refuse_without_numba(problem: Problem, rules: frozenset[str]) -> None:
    """Raises InputError if the rule that needs numba is asked for, and the program's environment does not have it."""
    venv = problem.spec.python.venv if problem.spec.python is not None else problem.spec.venv
    if problem.language != "python" or NJIT not in rules or (venv and has_package(Path(venv), NUMBA)):
        return
    where = f"the virtual environment {venv}" if venv else "the system's Python, as no virtual environment is named,"
    raise InputError(
        f"--with-rule {NJIT} needs {NUMBA}, and {where} does not have it; install {NUMBA} there and name it with "
        "--venv DIR, or leave the rule out"
    )


def refuse_unread_techniques(request: Request, problem: Problem) -> None:
    """Raises InputError if the method tells programs apart by techniques, which are not read in the language."""
    name = base(request.method).partition("+")[0]
    if name in _BY_TECHNIQUE and not reads(problem.language):
        raise InputError(
            f"--method {request.method} keeps one program for each set of techniques, and techniques are read in C and "
            f"C++ only, not in {problem.language.capitalize()}; choose another method, for example cuda-llm+maxcode"
        )


def refuse_unmeasurable(request: Request, admitted: Admitted) -> None:
    """Raises UnmeasurableError if no test of the original runs long enough to time."""
    if (why := unmeasurable(admitted)) and not request.anyway:
        raise UnmeasurableError(f"{why}.  Or add --anyway to run it all the same: candidates are verified, not timed")


def unmeasurable(admitted: Admitted) -> str:
    """Why nothing of the original can be timed; empty if something can."""
    if admitted.timed:
        return ""
    return next((note for note in admitted.notes if "not measurable" in note), "not measurable: no test can be timed")


_REPLAYED = frozenset({"digest", "seed", "method", "policy", "critic", "answer", "without"})


def refuse_other_run(request: Request, header: Mapping[str, Any]) -> None:
    """Raises InputError if the replayed run had another problem or search: a draw identifies only a slot.  Its prompts
    may be those of another version of maxcode; the result says how many answers answered other prompts."""
    if request.replay is None:
        return
    then = read_header(request.replay)
    if differ := differences(then, header, frozenset(then.keys() | header.keys()) - _REPLAYED):
        raise InputError(f"{request.replay} cannot be replayed here ({'; '.join(differ)}); use the options of that run")
