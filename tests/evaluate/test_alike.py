"""What a program sees of its run is the same whether it is verified or timed."""

from __future__ import annotations

import os
import time
import unittest.mock
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from maxcode.core.types import Checker, Problem, Program, ProgramSpec
from maxcode.evaluate.ladder.indistinguishable import RUNS_A_SESSION, in_parts
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.race import RaceInputs, RaceSide, Track
from maxcode.evaluate.ladder.verify import job_for, verify
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Sandbox, Session

ROUNDS = 3


def world(text: bytes, sign: str) -> list[str]:
    return [line for line in text.decode().splitlines() if line.startswith(sign)]


def value(text: bytes, name: str) -> int:
    return int(next(line.split()[-1] for line in world(text, "~") if name in line))


@pytest.fixture(scope="module")
def inputs() -> list[Input]:
    """Three seen and two held-out ones; the original took 20 ms on each, so that limits are derived from it."""
    origins = ("seen", "seen", "seen", "held_out", "held_out")
    return [Input(f"{at}", Blob.of(f"{at}\n".encode()), b"any", one, 0.02) for at, one in enumerate(origins)]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Every answer is right, so that runs may print what they see."""
    spec = ProgramSpec(checker=Checker("command", command=("true",)))
    return Problem("world", "program", "c", Program({"world.c": ""}), spec)


@pytest.fixture(scope="module")
def verified(sandbox: Sandbox, program: Callable[[str], Blob], problem: Problem, inputs: list[Input]) -> list[bytes]:
    """What verified runs wrote, each round's in the order of the inputs."""
    found = []
    for _ in range(ROUNDS):
        one = anyio.run(verify, sandbox, problem, program("world"), inputs)
        assert [result.outcome.value for result in one.results] == ["correct"] * len(inputs)
        found += [one.outputs[given.name] for given in inputs]
    return found


@pytest.fixture(scope="module")
def timed(sandbox: Sandbox, program: Callable[[str], Blob], problem: Problem, inputs: list[Input]) -> list[bytes]:
    """What timed runs of the candidate wrote."""

    async def passes() -> list[bytes]:
        entry = RaceSide(program("world"), {})
        track = Track(RaceInputs(sandbox, problem), {"original": entry, "candidate": entry}, inputs[-2:])
        found = [await track._pass() for _ in range(2 * ROUNDS)]
        return [ran.stdout for one in found for (side, _), ran in one.items() if side == "candidate"]

    return anyio.run(passes)


def test_all_that_can_be_printed_is_the_same_verified_and_timed(verified: list[bytes], timed: list[bytes]) -> None:
    seen = {"\n".join(world(text, "=")) for text in verified}
    assert len(seen) == 1
    assert {"\n".join(world(text, "=")) for text in timed} == seen
    for word in ("= limit 0 ", "= descriptor 0 ", "= environment PADDING", "= mask ", "= folder /"):
        assert word in next(iter(seen))
    assert "its own file is not seen" in next(iter(seen)), "its age would tell a long session from a short one"


def test_a_profile_and_the_figure_on_one_core_are_what_can_be_told_from_other_runs(
    sandbox: Sandbox, program: Callable[[str], Blob], problem: Problem, inputs: list[Input]
) -> None:
    """What remains (``alike.py``): nothing else differs, and the page shows what does, with /proc to ask."""
    job = job_for(problem, program("world"), inputs[0])

    async def runs() -> list[bytes]:
        async with sandbox.session(job.blobs) as session:
            jobs = (job, replace(job, profile=True), replace(job, one_core=True))
            return [(await session.run(one)).stdout for one in jobs]

    first, *others = anyio.run(runs)
    plain = set(world(first, "="))
    for text, told in zip(others, (("TracerPid",), ("Cpus_allowed", "= mask")), strict=True):
        other = set(world(text, "=")) - plain
        assert all(any(word in line for word in told) for line in other), other
    assert any("TracerPid" in line for line in plain)


def test_process_numbers_begin_anywhere_verified_and_timed(verified: list[bytes], timed: list[bytes]) -> None:
    for found in (verified, timed):
        numbers = {value(text, "number") for text in found}
        assert len(numbers) > 2
        assert max(numbers) - min(numbers) > len(numbers)  # no mere count of the runs


def test_the_file_of_a_program_is_new_in_every_session(sandbox: Sandbox, problem: Problem, inputs: list[Input]) -> None:
    """Asked in Python: a compiled program finds no name of its own file."""
    problem = replace(problem, language="python")
    artefact = Blob.of(b"import os, sys\nprint('~ made', os.stat(sys.argv[0]).st_ctime_ns)\n")
    time.sleep(0.1)  # the clock of files ticks every few milliseconds
    before = time.time_ns()
    time.sleep(0.1)
    one = anyio.run(verify, sandbox, problem, artefact, inputs)
    assert all(value(output, "made") > before for output in one.outputs.values())

    async def single() -> bytes:
        entry = RaceSide(artefact, {})
        found = await Track(RaceInputs(sandbox, problem), {"original": entry}, inputs[:1])._pass()
        return next(iter(found.values())).stdout

    time.sleep(0.1)
    middle = time.time_ns()
    time.sleep(0.1)
    assert value(anyio.run(single), "made") > middle


def test_verified_runs_come_in_random_order_the_seen_first_in_sessions_as_long_as_a_pass() -> None:
    with Blob.of(b"") as empty:
        given = [Input(f"{at}", empty, b"", "seen" if at < 10 else "generated") for at in range(30)]
        orders = [in_parts(given) for _ in range(60)]
        for order in orders:
            assert sorted(one.name for _, one in order) == sorted(one.name for one in given)
            assert [one.seen for _, one in order] == [True] * 10 + [False] * 20
            parts = [part for part, _ in order]
            assert parts == sorted(parts)
            assert max(parts.count(part) for part in parts) == RUNS_A_SESSION
            assert len({(part, one.seen) for part, one in order}) == len(set(parts))
        assert len({order[0][1].name for order in orders}) > 5
        assert len({order[10][1].name for order in orders}) > 5


def test_programs_that_run_at_the_same_time_have_no_lock_to_tell_each_other_a_number_by(
    sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    """In two sessions over the same input: one holds locks at an agreed place, the other looks for them."""
    with Blob.of(b"7\n") as given:
        job = Job(("{artefact}",), program("locks"), given, cpu_s=1.0, wall_s=8.0)
        said: dict[str, bytes] = {}

        async def run(name: str, *words: str) -> None:
            async with sandbox.session(job.blobs, bare=True) as session:
                said[name] = (await session.run(replace(job, argv=("{artefact}", *words)))).stdout

        async def both() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(run, "speaker", "say")
                await anyio.sleep(0.7)
                group.start_soon(run, "listener")

        anyio.run(both)
    assert said == {"speaker": b"0\n", "listener": b"0\n"}


def test_every_session_has_copies_of_its_inputs(sandbox: Sandbox, problem: Problem, inputs: list[Input]) -> None:
    """Who waits at a file that another session has open, too, can be seen from there."""
    seen: list[int] = []
    session = sandbox.session

    @asynccontextmanager
    async def watched(blobs: Sequence[Blob], mounts: Mounts, **more: Any) -> AsyncIterator[Session]:
        seen.extend(os.fstat(blob.fd).st_ino for blob in blobs)
        async with session(blobs, mounts, **more) as opened:
            yield opened

    problem = replace(problem, language="python", spec=replace(problem.spec, checker=Checker()))
    with Blob.of(b"print(7)\n") as artefact:
        own = [os.fstat(blob.fd).st_ino for blob in (artefact, *(given.stdin for given in inputs))]
        given = [replace(one, expected=b"7\n") for one in inputs]
        with unittest.mock.patch.object(Sandbox, "session", lambda _, *both, **more: watched(*both, **more)):
            anyio.run(verify, sandbox, problem, artefact, given)
            anyio.run(Track(RaceInputs(sandbox, problem), {"original": RaceSide(artefact, {})}, given[:1])._pass)
    assert len(seen) == len(set(seen)) == 2 + len(inputs) + 2
    assert not set(seen) & set(own)
