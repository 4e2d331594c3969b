"""What the best program changes, what is left to do where little was won, and what hindered candidates, in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from textwrap import shorten
from typing import final

from maxcode.code.prose import prose
from maxcode.core.budget import MANY
from maxcode.core.history import Result
from maxcode.core.printable import printable
from maxcode.core.types import Evaluation, Hotspot, Outcome, Program, State
from maxcode.core.wording import number_of
from maxcode.evaluate.inputs.fresh import FAILED, MADE
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.observe.known import is_near_floor
from maxcode.policy.rules.rewriter import rules_seen, unit_of
from maxcode.run.names import POLICIES, REWRITER
from maxcode.run.request import Request
from maxcode.run.request_checks import rules_of
from maxcode.search.methods import candidates

LITTLE = 1.2  # times as fast: below it a result says what is left to do
_SHOWN_STEPS, _SHOWN = 2, 230  # steps of the path, and characters of each
_RULES_AT_MOST = 100  # edits of one step
_SHOWN_REASONS = 3
_NOT_RUN = frozenset({Outcome.REJECTED, Outcome.UNBUILT})
_HOT = 0.2  # share of the samples from which on a line is named
_STEP = re.compile(
    r"^- (?P<rule>\w+)\((?P<site>[^()\n]*)\): (?P<what>[^\n]*?)(?: \((?P<why>[^()\n]*)\))?$", re.MULTILINE
)
_AFRESH = "starts at the original again"
_TABLE = 'docs/reference/results.md, "When the answer is no"'


@final
@dataclass(frozen=True, slots=True)
class AppliedRule:
    """One edit of a built-in policy: its rule, and its words with the place."""

    rule: str
    what: str
    site: str


def applied_rules(best: State) -> list[AppliedRule]:
    """All edits from the original to a program, in order; none if a language model wrote it."""
    return [one for step in counted_steps(best) for one in _rules_of(step)]


def change_lines(best: State | None) -> tuple[str, ...]:
    """The change of the winner: the rules, or its author's words, of the steps that gained the most."""
    if best is None or best.step is None:
        return ()
    steps = counted_steps(best)
    shown = sorted(sorted(steps, key=_gain, reverse=True)[:_SHOWN_STEPS], key=lambda one: one.depth)
    told = [f"{_at(one) if len(steps) > 1 else ''}{_words(one)}" for one in shown]
    if (more := len(steps) - len(shown)) > 0:
        told[-1] += f" (and {more} {'step' if more == 1 else 'steps'} with less effect)"
    return tuple(told)


def left_lines(found: Result, admitted: Admitted, request: Request) -> tuple[str, ...]:
    """What is left to do; empty where enough was won, or nothing could be timed."""
    best = found.best
    timing = best.step.evaluation.timing if best is not None and best.step is not None else None
    if not admitted.timed or not found.reached.candidates or (timing is not None and timing.speedup.value >= LITTLE):
        return ()
    seconds = sum(one.seconds for one in admitted.facts.timed)
    if admitted.problem.goal == "cpu" and is_near_floor(admitted.facts, seconds):
        return ("the original takes about as long as a process that only reads its input: nothing is left to gain",)
    program = admitted.problem.program
    hot = _hottest(admitted.baseline.profile, program)
    further = _further(request)
    return (*((hot,) if hot else ()), *_seen(found, request), further, f"all answers of this kind: {_TABLE}")


def _seen(found: Result, request: Request) -> Iterator[str]:
    """What the built-in rules see in the functions of the best Python program."""
    problem = found.problem
    if request.policy == REWRITER and problem.spec.repo is None:
        best = replace(problem, program=found.best.program if found.best is not None else problem.program)
        yield from (f"rules: {line}" for line in rules_seen(unit_of(best), rules_of(request)))


def notes_on_candidates(found: Result) -> Iterator[str]:
    """What became of several candidates and has a cure."""
    yield from _unread(found)
    yield from _made(found)


def refusals(found: Result) -> tuple[str, ...]:
    """Why no candidate was run, most frequent reason first; empty if one was, or if no answer held a program."""
    steps = [state.step for state in found.reached if state.step is not None and state.step.action.program is not None]
    if any(step.evaluation.outcome not in _NOT_RUN for step in steps):
        return ()
    reasons = Counter(_first_reason(step.evaluation) for step in steps)
    told = [f"{count} of {len(steps)} {reason}" for reason, count in reasons.most_common(_SHOWN_REASONS)]
    if (more := len(reasons) - len(told)) > 0:
        told.append(f"{more} more {'reason is' if more == 1 else 'reasons are'} in events.jsonl")
    return tuple(told)


def _first_reason(evaluation: Evaluation) -> str:
    """The outcome and the first line of its first reason."""
    why = next(iter(evaluation.feedback.reasons), "").strip().partition("\n")[0]
    return shorten(printable(f"{evaluation.outcome.value}: {why or 'no reason is recorded'}"), _SHOWN)


def _unread(found: Result) -> Iterator[str]:
    """A note on answers without a program: each used up a candidate."""
    unread = [state.step.action.unread for state in found.reached if state.step and state.outcome is Outcome.UNPARSED]
    if unread:
        many = len(unread) > 1
        first = f": {shorten(printable(unread[0]), _SHOWN)}" if unread[0] else ""
        yield (
            f"{f'{len(unread)} answers' if many else '1 answer'} held no program, and still counted as "
            f"{'candidates' if many else 'a candidate'}{first}"
        )


def _made(found: Result) -> Iterator[str]:
    """A note on candidates that were refused for an input that only the format of the tests allows."""
    steps = [state.step for state in found.reached if state.step is not None]
    failed = sum(FAILED in step.evaluation.feedback.reasons for step in steps)
    if failed and not found.problem.spec.generator:
        yield f"{number_of(failed, 'candidate')}: {FAILED}; {MADE}"


def _further(request: Request) -> str:
    if request.policy in POLICIES:
        return (
            "rules find no new algorithm: let a model (--policy llm:MODEL), a coding agent or yourself (--policy ask) "
            "write versions, or judge one of your own (maxcode evaluate NEW --against OLD)"
        )
    others = "another model, with another --out"
    if request.budget >= MANY:
        return f"a larger --budget goes on with this run; or {others}"
    more = candidates(request.method, 2 * request.budget)
    if more <= request.budget:  # a preset is at its end
        return f"another seed (--seed {request.seed + 1}), another method, or {others}"
    return f"more candidates (--budget {more}) go on with this run; or {others}"


def _hottest(profile: tuple[Hotspot, ...], program: Program) -> str:
    spot = max((one for one in profile if one.line and not one.file), key=lambda one: one.share, default=None)
    if spot is None or spot.share < _HOT:
        return ""
    lines = program.files[program.name].splitlines()
    text = lines[spot.line - 1].strip() if spot.line <= len(lines) else ""
    return f"the original spends {spot.share:.0%} of its time at line {spot.line}: {shorten(text, 80)}"


def counted_steps(best: State) -> list[State]:
    """The states on the path that have a program, from the last one that began at the original again."""
    kept: list[State] = []
    for state in best.ancestry:
        if state.step is None:
            break
        if state.step.action.program is not None:
            kept.append(state)
        if _AFRESH in prose(state.step.action.completion):
            break
    return kept[::-1]


def _rules_of(state: State) -> Iterator[AppliedRule]:
    """The edits that a built-in policy names; none in what a model wrote, whatever it looks like."""
    if state.step is None or state.step.action.usage.calls:
        return
    for match in islice(_STEP.finditer(prose(state.step.action.completion)), _RULES_AT_MOST):
        yield AppliedRule(*(shorten(printable(match[name]), _SHOWN) for name in ("rule", "what", "site")))


def _words(state: State) -> str:
    rules = [f"{one.rule}: {one.what}" for one in _rules_of(state)]
    if rules:
        return shorten("; ".join(rules), _SHOWN)
    said = prose(state.step.action.completion) if state.step is not None else ""
    return shorten(printable(said), _SHOWN) or "its author said nothing of it; see best.diff"


def _at(state: State) -> str:
    value = _speed(state)
    return f"step {state.depth}{f' ({value:.2f}x)' if value else ''}: "


def _gain(state: State) -> float:
    above = _speed(state.parent) if state.parent is not None else 0.0
    return _speed(state) / (above or 1.0)


def _speed(state: State) -> float:
    timing = state.step.evaluation.timing if state.step is not None else None
    return timing.speedup.value if timing is not None else 0.0
