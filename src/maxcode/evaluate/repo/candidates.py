"""The rungs of a candidate of a repository: reject, build from base's build tree, run the tests, run the benchmark."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import final

import anyio.to_thread

from maxcode.core.types import Action, CaseResult, Evaluation, Feedback, Outcome, Program
from maxcode.evaluate.repo.admission import BENCHMARK, Base, fails_with_canary
from maxcode.evaluate.repo.allowed import outside
from maxcode.evaluate.repo.barred import asked, barred, doubtful, redefined
from maxcode.evaluate.repo.commands import SEED, ended, now, output_of, said
from maxcode.evaluate.repo.failing import failing_in_words, first_error, telling
from maxcode.evaluate.repo.installed import concerns, in_place_of_others, names_of
from maxcode.evaluate.repo.layers import BuildError, Layers
from maxcode.evaluate.repo.shadows import WHY_STARTED, is_started, strange_packages
from maxcode.evaluate.repo.summaries import counted, difference
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Ran

SOURCE_AT_MOST = 8 << 20  # bytes of all files that may be edited
TESTS = "tests"
_SHOWN = 5  # reasons
DOUBTFUL = "a reader must look at this"
FORGED = "one of the tests must fail, and the tests say that all is well: the patch keeps them from reporting"


@final
@dataclass(frozen=True, slots=True)
class Ready:
    """A candidate that may be raced.  ``build_s``: wall seconds until it was built."""

    side: Layers
    build_s: float


def rejected(base: Base, action: Action) -> Evaluation | None:
    """The evaluation of a candidate that must not run; None if it may."""
    program, own = action.program, base.problem.program
    if program is None:
        return _failed(Outcome.UNPARSED, action.unread or "no program could be read from the completion")
    spec = base.problem.spec.repo_spec
    if missing := sorted(own.files.keys() - program.files.keys()):
        return _failed(Outcome.REJECTED, f"the patch removes {missing[0]}; a candidate may change and add files only")
    changed = [path for path, text in program.files.items() if own.files.get(path) != text]
    started = [f"{path} ({WHY_STARTED})" for path in changed if is_started(path, spec, base.taken)]
    if wrong := [*outside(changed, spec, base.files.keys()), *started][:_SHOWN]:
        return _failed(Outcome.REJECTED, f"the patch changes files that must stay as in base: {'; '.join(wrong)}")
    if wrong := list(islice(_hiding(base, [path for path in changed if path not in base.files]), _SHOWN)):
        return _failed(Outcome.REJECTED, f"the patch adds files in the place of others: {'; '.join(wrong)}")
    try:
        size = sum(len(text.encode()) for text in program.files.values())
    except UnicodeEncodeError as error:
        return _failed(Outcome.REJECTED, f"not text: it holds {error.object[error.start]!r}")
    if size > SOURCE_AT_MOST:
        return _failed(Outcome.REJECTED, f"{size} bytes of source; at most {SOURCE_AT_MOST}")
    words = (*barred(own, program), *redefined(own, program, base.texts), *asked(own, program, base.texts))
    if why := (*words, *strange_packages(own, program, base.taken)):
        return Evaluation(Outcome.REJECTED, Feedback(why))
    return None


def _hiding(base: Base, new: Sequence[str]) -> Iterator[str]:
    """One line for each new file that commands may find in the place of another."""
    spec = base.problem.spec.repo_spec
    has_more = (spec.setup or spec.build) and any(map(concerns, new))
    made = set(base.contents or names_of(base.side.base)) - base.files.keys() if has_more else set[str]()
    return in_place_of_others(new, base.problem, base.taken, made)


async def built(base: Base, program: Program) -> Ready | Evaluation:
    """The candidate after its build, which starts from base's build tree."""
    began, second = time.monotonic(), max(now(), base.second + 1)
    edited = Blob.of(base.edited(program, second).archive())
    side = Layers(base.side.base, (edited,))
    if not base.problem.spec.repo_spec.build:
        return Ready(side, time.monotonic() - began)
    try:
        ran, packed = await base.place.built(side, 10 * base.build_s + 60)
        if not ran.ok:
            error = first_error(output_of(ran))
            why = f"the build fails: {said(ran)}{f'; the first error: {error}' if error else ''}"
            return Evaluation(Outcome.UNBUILT, Feedback((why,), telling(output_of(ran))))
        files = base.edited(program, base.second)  # older than what was built from them
        change = await anyio.to_thread.run_sync(files.archive, packed, base.contents, base.made)
    except BuildError as error:
        return _failed(Outcome.UNBUILT, str(error))
    return Ready(Layers(base.side.base, (Blob.of(change),)), time.monotonic() - began)


async def verified(base: Base, side: Layers, with_canary: bool = False, tests: bool = True) -> Evaluation:
    """The evaluation after the tests, if they are to run, and one run of the benchmark.

    ``with_canary``: the tests must be able to fail.
    """
    try:
        return await _verified(base, side, with_canary, tests)
    except BuildError as error:
        return _failed(Outcome.UNBUILT, str(error))


async def _verified(base: Base, side: Layers, with_canary: bool, tests: bool) -> Evaluation:
    spec, cases = base.problem.spec.repo_spec, []
    if spec.tests and tests:
        ran = await base.place.run(side, spec.tests, 10 * base.test_s + 60)
        if not ran.ok:
            which = failing_in_words(output_of(ran))
            return _of_run(ran, TESTS, f"the tests fail: {said(ran)}{f'; {which}' if which else ''}")
        if why := difference(base.counts, counted(ran.stdout + b"\n" + ran.stderr)):
            return _of_run(ran, TESTS, why)
        cases.append(CaseResult(TESTS, Outcome.CORRECT, ran.cpu_s, seen=True))
        if with_canary and base.canary and not await fails_with_canary(base, side, base.canary):
            return _failed(Outcome.REJECTED, FORGED)
    ran = await base.place.run(side, spec.benchmark.replace(SEED, "1"), base.run_s, measured=True)
    if not ran.ok:
        return _of_run(ran, BENCHMARK, f"the benchmark fails: {said(ran)}")
    if why := base.expected.difference(ran.stdout):
        return _of_run(ran, BENCHMARK, why)
    cases.append(CaseResult(BENCHMARK, Outcome.CORRECT, ran.cpu_s, seen=True))
    seconds = ran.wall_s if base.problem.goal == "wall" else ran.cpu_s
    return Evaluation(Outcome.CORRECT, Feedback(cases=tuple(cases)), measures={BENCHMARK: seconds}, trust=base.trust)


async def ready(base: Base, program: Program, with_canary: bool = False) -> tuple[Ready | None, Evaluation]:
    """A candidate that is built and right, with its evaluation so far; None if it is not."""
    if (refused := rejected(base, Action(program))) is not None:
        return None, refused
    async with build_lane():
        found = await built(base, program)
        if isinstance(found, Evaluation):
            return None, found
        evaluation = await verified(base, found.side, with_canary)
    return (found if evaluation.outcome is Outcome.CORRECT else None), evaluation


def doubts(base: Base, program: Program) -> tuple[str, ...]:
    """What a reader must look at before the patch is trusted."""
    return tuple(f"{DOUBTFUL}: {words}" for words in doubtful(base.problem.program, program))


def _of_run(ran: Ran, name: str, why: str) -> Evaluation:
    outcome = Outcome.WRONG
    if ran.ending == "timeout":
        outcome = Outcome.TIMEOUT
    elif ran.ending == "signal" or ran.ending == "output":
        outcome = Outcome.CRASHED
    case = CaseResult(name, outcome, ran.cpu_s, seen=True, detail=ended(ran))
    return Evaluation(outcome, Feedback((why,), telling(output_of(ran)), (case,)))


def _failed(outcome: Outcome, why: str) -> Evaluation:
    return Evaluation(outcome, Feedback((why,)))
