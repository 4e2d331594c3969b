"""One timing lane for the whole machine, and everybody gets their turn in it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import anyio
import pytest

from maxcode.sandbox import lanes
from maxcode.sandbox.lanes import (
    accounted,
    also_in_timing_lane,
    build_lane,
    free_place,
    holder,
    no_builds,
    on_cores,
    timing_lane,
)
from tests.support.processes import wait_until

GREEDY = """
import anyio, pathlib, sys
from maxcode.sandbox.lanes import timing_lane

async def main():
    while True:
        async with timing_lane(pathlib.Path(sys.argv[1])):
            with open(sys.argv[2], "ab") as turns:
                turns.write(b".")
            await anyio.sleep(0.02)

anyio.run(main)
"""

BUILDING = """
import anyio, os, pathlib, sys
from maxcode.sandbox.lanes import build_lane, share_builds

async def main(folder):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # one place
    share_builds(folder / "places")
    for _ in range(15):
        async with build_lane():
            os.close(os.open(folder / "alone", os.O_CREAT | os.O_EXCL))
            await anyio.sleep(0.01)
            (folder / "alone").unlink()
        print("built", flush=True)

anyio.run(main, pathlib.Path(sys.argv[1]))
"""


def test_a_process_that_always_comes_back_at_once_does_not_keep_the_others_out(tmp_path: Path) -> None:
    lock, theirs = tmp_path / "lock", tmp_path / "turns"
    waited: list[int] = []

    async def turns() -> None:
        for _ in range(5):
            await anyio.sleep(0.05)  # the other is in again
            before = theirs.stat().st_size
            async with timing_lane(lock):
                waited.append(theirs.stat().st_size - before)

    words = [sys.executable, "-c", GREEDY, str(lock), str(theirs)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as greedy:
        assert wait_until(theirs.exists, 60)
        anyio.run(turns)
        greedy.kill()
    assert sorted(waited)[2] <= 5, waited  # without a queue each of ours waits for some dozens


def test_nobody_is_in_the_lane_twice(tmp_path: Path) -> None:
    inside: list[int] = []

    async def one(number: int) -> None:
        async with timing_lane(tmp_path / "lock"):
            inside.append(number)
            await anyio.sleep(0.005)
            assert inside == [number]
            inside.clear()

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(one, number)

    anyio.run(all_at_once)


def test_whoever_asks_is_told_how_long_its_tasks_worked_and_waited_in_the_lanes(tmp_path: Path) -> None:
    lock = tmp_path / "lock"

    async def build() -> None:
        async with build_lane():
            await anyio.sleep(0.01)

    async def time() -> None:
        async with timing_lane(lock):
            await anyio.sleep(0.02)

    async def work() -> tuple[float, float, float]:
        await build()  # nobody asks
        with accounted() as ledger:
            async with anyio.create_task_group() as group:
                for task in (build, build, time, time):
                    group.start_soon(task)
        await build()
        return ledger.build_s, ledger.time_s, ledger.wait_s

    built, timed, waited = anyio.run(work)
    assert built >= 0.02
    assert timed >= 0.04
    assert waited >= 0.02, "one of the two timings waited for the other"


def building(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", BUILDING, str(folder)], stdout=subprocess.PIPE)


@pytest.mark.heavy
def test_processes_that_share_their_places_build_no_more_than_one_of_them_would(tmp_path: Path) -> None:
    several = [building(tmp_path) for _ in range(3)]
    assert [(one.communicate(timeout=60)[0].count(b"built"), one.returncode) for one in several] == [(15, 0)] * 3


def test_who_wants_no_builds_waits_for_those_of_others_who_share_its_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "_shared", tmp_path / "places")

    async def look() -> list[bool]:
        seen = []
        for _ in range(5):
            async with no_builds():
                before = (tmp_path / "alone").exists()
                await anyio.sleep(0.03)
                seen.append(before or (tmp_path / "alone").exists())
        return seen

    with building(tmp_path) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"built\n"
        assert anyio.run(look) == [False] * 5
        assert other.wait(60) == 0


def test_a_place_that_is_free_at_once_is_taken_and_given_back_and_nobody_waits_for_one() -> None:
    async def taken() -> list[bool]:
        async with AsyncExitStack() as stack:
            found = [await stack.enter_async_context(free_place()) for _ in range(lanes._all_cores_but_one())]
            found.append(await stack.enter_async_context(free_place()))
            found.append(lanes._places().available_tokens == 0)
        return [*found, lanes._places().available_tokens == lanes._all_cores_but_one()]

    *places, last, is_full, is_empty = anyio.run(taken)
    assert (all(places), last, is_full, is_empty) == (True, False, True, True)


def test_the_last_work_takes_the_timing_lane_only_while_nobody_wants_it(tmp_path: Path) -> None:
    lane = tmp_path / "lane.lock"

    async def builds(within_s: float = 0.3) -> bool:
        """Whether it gets a place in time, and then nobody else the lane."""
        with anyio.move_on_after(within_s):
            async with build_lane():
                assert not is_free(lane)
                return True
        return False

    async def tried() -> list[bool]:
        found = []
        async with AsyncExitStack() as stack:
            while await stack.enter_async_context(free_place()):
                pass
            found.append(await builds())
            with also_in_timing_lane(lane):
                found.append(await builds(20))
                async with free_place() as is_taken, free_place() as is_taken_again:
                    assert (is_taken, is_taken_again, is_free(lane)) == (True, False, False)
                async with anyio.create_task_group() as group, timing_lane(lane):
                    group.start_soon(builds_into, found)
                    await anyio.sleep(0.5)
                with held_elsewhere(lane):
                    found.append(await builds())
                found.append(await builds(20))
        return found

    async def builds_into(found: list[bool]) -> None:
        found.append(await builds())

    assert anyio.run(tried) == [False, True, False, False, True]
    assert is_free(lane)


def is_free(lane: Path) -> bool:
    return subprocess.run(["flock", "--nonblock", str(lane), "true"], check=False).returncode == 0


@contextmanager
def held_elsewhere(lane: Path) -> Iterator[None]:
    holding = ["flock", str(lane), "sh", "-c", "echo held; cat"]
    with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline()
        yield  # then its input ends


def test_other_users_can_open_the_locks_whatever_the_umask_of_the_first_is(tmp_path: Path) -> None:
    path = tmp_path / "lane.lock"
    path.touch(0o600)

    async def taken() -> None:
        with on_cores(frozenset({0})):
            async with timing_lane(path):
                pass

    before = os.umask(0o077)
    try:
        anyio.run(taken)
    finally:
        os.umask(before)
    found = {one.name: oct(one.stat().st_mode & 0o777) for one in tmp_path.iterdir()}
    assert {"lane.lock", "lane.turn", "lane.core0"} <= found.keys() and set(found.values()) == {"0o644"}, found


def test_who_holds_the_lane_is_known(tmp_path: Path) -> None:
    path = tmp_path / "lane.lock"

    async def held_by() -> int:
        async with timing_lane(path):
            return holder(path)

    assert anyio.run(held_by) == os.getpid()
    assert holder(path) == holder(tmp_path / "none") == 0


def test_a_lock_whose_file_somebody_removed_is_not_taken_for_that_of_the_lane(tmp_path: Path) -> None:
    path = tmp_path / "lane.lock"
    old, began = lanes._lock_file(path), []
    fcntl.flock(old, fcntl.LOCK_EX)

    async def waits() -> None:
        async with timing_lane(path):
            began.append(True)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(waits)
            await anyio.sleep(0.1)
            path.unlink()
            new = lanes._lock_file(path)
            fcntl.flock(new, fcntl.LOCK_EX)
            os.close(old)
            await anyio.sleep(0.2)
            assert not began  # another one times
            os.close(new)

    anyio.run(main)
    assert began
