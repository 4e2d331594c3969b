"""The recorder of stages and activities: what counts, and when."""

from __future__ import annotations

import time

import anyio
import anyio.lowlevel
import pytest

from maxcode.core.ahead import started
from maxcode.core.phases import OTHER, Phase, activity, charge_cpu, during, in_stage, recording, stage
from maxcode.sandbox.jobs import Job
from maxcode.sandbox.sandbox import Mounts, Sandbox

SHORT_S = 0.02


def test_the_innermost_phase_counts_and_the_outer_one_only_outside_of_it() -> None:
    with recording() as recorder, stage("outer"):
        with activity("inner"):
            time.sleep(SHORT_S)
            charge_cpu(2.0)
        with stage("part"), activity("named"), activity("unnamed", unless_named=True):
            charge_cpu(3.0)
    phases = {(one.stage, one.activity): one for one in recorder.profile().phases}
    assert phases["outer", "inner"].wall_s >= SHORT_S
    assert (phases["outer", "inner"].cpu_s, phases["outer/part", "named"].cpu_s) == (2.0, 3.0)
    assert ("outer/part", "unnamed") not in phases


def test_work_of_two_tasks_counts_for_both_and_ends_with_an_error() -> None:
    @during("slow")
    async def slow() -> None:
        await anyio.sleep(SHORT_S)

    @in_stage("broken")
    async def broken() -> None:
        await anyio.sleep(SHORT_S)
        raise ValueError("broken")

    async def both() -> None:
        async with started(slow) as result:
            await broken()
            await result()

    with recording() as recorder, pytest.raises(ValueError, match="broken"):
        anyio.run(both)
    profile = recorder.profile()
    together: dict[str, Phase] = {f"{one.stage} {one.activity}": one for one in profile.phases}
    for name in ("outside slow", f"broken {OTHER}"):
        assert together[name].wall_s >= SHORT_S * 0.9
    assert sum(one.wall_s for one in profile.phases) > profile.wall_s
    assert profile.table()["phases"][0] == {
        "stage": "outside", "activity": OTHER, "count": 1, "wall_s": together[f"outside {OTHER}"].wall_s, "cpu_s": 0.0
    }  # fmt: skip


def test_a_session_tells_its_start_and_the_cpu_time_of_its_run(sandbox: Sandbox) -> None:
    async def run() -> None:
        async with sandbox.session([], Mounts({"x": ""})) as session:
            await session.run(Job(("/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")))

    with recording() as recorder:
        anyio.run(run)
    phases = {one.activity: one for one in recorder.profile().phases}
    assert phases["process start"].count == 1
    assert phases["build"].cpu_s > 0


def test_work_that_was_started_ahead_is_cancelled_with_its_block_and_its_error_is_raised_only_to_who_asks() -> None:
    seen: list[str] = []

    async def endless() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            seen.append("cancelled")

    async def broken() -> int:
        raise ValueError("ahead")

    async def run() -> None:
        async with started(endless), started(broken) as result:
            await anyio.lowlevel.checkpoint()
            with pytest.raises(ValueError, match="ahead"):
                await result()
        async with started(broken):
            await anyio.lowlevel.checkpoint()

    anyio.run(run)
    assert seen == ["cancelled"]


def test_work_that_may_not_overlap_starts_when_its_result_is_asked_for() -> None:
    seen: list[str] = []

    async def note() -> str:
        seen.append("work")
        return "result"

    async def run() -> None:
        async with started(note, now=False) as result:
            await anyio.lowlevel.checkpoint()
            seen.append("block")
            assert await result() == "result"

    anyio.run(run)
    assert seen == ["block", "work"]
