"""A candidate runs on the first inputs of an admission while it goes on: a wrong one is told then, a right one once."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

import anyio
import pytest

from maxcode.code.languages import language
from maxcode.core.ahead import started
from maxcode.core.types import Evaluation, Interval, Outcome, Problem, Program, ProgramSpec, Timing
from maxcode.evaluate.harness_protocol import FreshRace
from maxcode.evaluate.ladder.build import Builder, Built
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.ladder.verify import Verified, verify
from maxcode.evaluate.program import early
from maxcode.evaluate.program.admission import Admissions
from maxcode.evaluate.program.early import EarlyLooks, FreshAhead
from maxcode.sandbox.jobs import Blob
from maxcode.sandbox.lanes import free_place
from maxcode.sandbox.sandbox import Sandbox
from tests.support.counting import FAST, SLOW

pytestmark = pytest.mark.sandbox

GIVEN = tuple(
    Input(str(n), Blob.of(f"{n}\n".encode()), f"{n * (n - 1) // 2}\n".encode(), "seen", 0.01) for n in (5, 6, 7)
)


def tried(
    sandbox: Sandbox, problem: Problem, built: Built, inputs: tuple[Input, ...]
) -> tuple[tuple[Admitted, Evaluation] | None, Verified]:
    """The look on the first two inputs, and the verification on ``inputs`` after it."""
    begun = Admitted(problem, GIVEN[:2], (), built, Evaluation(Outcome.CORRECT))

    async def work() -> tuple[tuple[Admitted, Evaluation] | None, Verified]:
        looks, admissions = EarlyLooks(sandbox), Admissions(sandbox, Builder(sandbox, sandbox.cache), 1)
        admissions._tell(problem, begun)
        refused = await looks.refused(admissions, problem, problem.program, built)
        assert built.artefact is not None
        return refused, await looks.verified(problem, built.artefact, inputs)

    return anyio.run(work)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The inputs of all runs, in order."""
    found: list[str] = []

    async def noting(
        sandbox: Sandbox, problem: Problem, artefact: Blob, inputs: list[Input], every: bool = False
    ) -> Verified:
        found.extend(given.name for given in inputs)
        return await verify(sandbox, problem, artefact, inputs, every)

    monkeypatch.setattr(early, "verify", noting)
    return found


def compiled(builder: Builder, text: str) -> tuple[Problem, Built]:
    spec = ProgramSpec(flags=language("c").default_flags)
    problem = Problem("sum", "program", "c", Program({"sum.c": text}), spec)
    return problem, anyio.run(builder.build, problem, problem.program)


def test_a_right_candidate_does_not_run_again_on_the_first_inputs(
    sandbox: Sandbox, builder: Builder, ran: list[str]
) -> None:
    refused, verified = tried(sandbox, *compiled(builder, FAST), GIVEN)
    assert refused is None and ran == ["5", "6", "7"]
    assert [one.name for one in verified.results] == ["5", "6", "7"] and verified.outcome is Outcome.CORRECT
    assert verified.outputs == {given.name: given.expected for given in GIVEN}


def test_a_candidate_that_is_right_on_the_first_inputs_alone_is_wrong(
    sandbox: Sandbox, builder: Builder, ran: list[str]
) -> None:
    text = FAST.replace("sum = n * (n - 1) / 2;", "sum = n * (n - 1) / 2 + (n == 7);")
    refused, verified = tried(sandbox, *compiled(builder, text), GIVEN)
    assert refused is None and ran == ["5", "6", "7"]
    assert [one.outcome for one in verified.results] == [Outcome.CORRECT, Outcome.CORRECT, Outcome.WRONG]


def test_a_candidate_that_is_verified_already_is_not_looked_at(
    sandbox: Sandbox, builder: Builder, ran: list[str]
) -> None:
    """With a kept admission there may be no time for a look before the evaluation has the place to build."""
    problem, made = compiled(builder, FAST)
    begun = Admitted(problem, GIVEN[:2], (), made, Evaluation(Outcome.CORRECT))

    async def work() -> tuple[Admitted, Evaluation] | None:
        looks, admissions = EarlyLooks(sandbox), Admissions(sandbox, builder, 1)
        admissions._tell(problem, begun)
        assert made.artefact is not None
        look = partial(looks.refused, admissions, problem, problem.program, made)
        async with AsyncExitStack() as stack:
            async with AsyncExitStack() as places:
                while await places.enter_async_context(free_place()):
                    pass
                refused = await stack.enter_async_context(started(look))
                await anyio.wait_all_tasks_blocked()
                assert (await looks.verified(problem, made.artefact, GIVEN)).outcome is Outcome.CORRECT
            return await refused()

    assert anyio.run(work) is None
    assert ran == ["5", "6", "7"]


def test_a_candidate_that_runs_out_of_time_beside_an_admission_is_not_refused_for_that(
    sandbox: Sandbox, builder: Builder, ran: list[str]
) -> None:
    text = FAST.replace("sum = n * (n - 1) / 2;", "for (volatile int i = 0; n == 6; i = i) {} sum = n * (n - 1) / 2;")
    refused, verified = tried(sandbox, *compiled(builder, text), GIVEN)
    assert refused is None and ran == ["5", "6", "5", "6", "7"]
    assert verified.outcome is Outcome.TIMEOUT


def test_an_input_that_has_changed_since_runs_again(sandbox: Sandbox, builder: Builder, ran: list[str]) -> None:
    changed = (GIVEN[0], replace(GIVEN[1], expected=b"16\n"))
    _, verified = tried(sandbox, *compiled(builder, SLOW), changed)
    assert ran == ["5", "6", "6"]
    assert [one.outcome for one in verified.results] == [Outcome.CORRECT, Outcome.WRONG]


def test_a_wrong_candidate_is_refused_with_what_is_known_of_the_problem(
    sandbox: Sandbox, builder: Builder, ran: list[str]
) -> None:
    refused, verified = tried(sandbox, *compiled(builder, SLOW.replace("sum += i", "sum -= i")), GIVEN)
    assert refused is not None
    admitted, found = refused
    assert found.outcome is Outcome.WRONG and len(found.feedback.cases) == admitted.count("seen") == 2
    assert verified.outcome is Outcome.WRONG and len(ran) == 5, "it runs on all of them"


def test_a_race_on_fresh_inputs_is_run_once_as_soon_as_the_gain_is_confirmed() -> None:
    raced: list[int] = []

    async def race(program: Program, pairs: int) -> FreshRace:
        raced.append(pairs)
        return FreshRace(why="no inputs")

    async def work() -> None:
        program, equal = Program({"a.c": ""}), Interval(1.0, 1.0, 1.0, 0.95)
        ahead, tie = FreshAhead(program, 9, race), Timing("cpu", equal, False, "tie", 9)
        async with started(ahead.work):
            for found in (Evaluation(Outcome.WRONG), Evaluation(Outcome.CORRECT, timing=tie)):
                ahead.told(found)
                await anyio.wait_all_tasks_blocked()
                assert raced == []
            ahead.told(Evaluation(Outcome.CORRECT, timing=replace(tie, significant=True)))
            await anyio.wait_all_tasks_blocked()
            assert raced == [9]
            assert (await ahead.race.get()).why == "no inputs" and raced == [9]
        assert ahead.is_of(program, 9)
        assert not ahead.is_of(program, 3) and not ahead.is_of(Program({"a.c": " "}), 9)

    anyio.run(work)
