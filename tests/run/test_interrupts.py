"""Work that runs beside an event loop, and Ctrl-C on its way to it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import anyio
import anyio.lowlevel
import pytest

from maxcode.core.ahead import computed
from maxcode.run.interrupts import on_interrupt, outside_loop, run_async


def in_loop(work: Callable[[], object]) -> object:
    async def main() -> object:
        return outside_loop(work)

    return asyncio.run(main())


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_without_a_loop_the_work_stays_in_its_thread() -> None:
    assert outside_loop(threading.current_thread) is threading.current_thread()


def test_inside_a_loop_the_work_may_run_a_loop_of_its_own() -> None:
    async def answer() -> int:
        await anyio.lowlevel.checkpoint()
        return 42

    assert in_loop(lambda: anyio.run(answer)) == 42


def test_an_error_of_the_work_arrives() -> None:
    with pytest.raises(ZeroDivisionError):
        in_loop(lambda: 1 // 0)


@pytest.mark.parametrize("start", [in_loop, outside_loop])
def test_each_interrupt_reaches_the_loop_of_the_work(start: Callable[[Callable[[], object]], object]) -> None:
    async def counted() -> int:
        count = 0
        arrived = anyio.Event()

        def act() -> None:
            nonlocal count
            count += 1
            if count == 2:
                arrived.set()
            else:
                ctrl_c()

        with on_interrupt(act), anyio.fail_after(10):
            ctrl_c()
            await arrived.wait()
        return count

    assert start(lambda: anyio.run(counted)) == 2


@pytest.mark.parametrize("start", [in_loop, outside_loop])
def test_an_interrupt_ends_work_that_does_not_ask_for_it(start: Callable[[Callable[[], object]], object]) -> None:
    async def long() -> None:
        ctrl_c()
        await anyio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        start(lambda: run_async(long))


def test_an_interrupt_before_anybody_listens_is_not_lost() -> None:
    async def late() -> None:
        await anyio.sleep(60)

    def work() -> None:
        ctrl_c()
        run_async(late)

    with pytest.raises(KeyboardInterrupt):
        in_loop(work)


def test_the_handler_of_before_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    in_loop(lambda: None)
    assert signal.getsignal(signal.SIGINT) is before


LONG = """
import time
from maxcode.core.ahead import computed
from maxcode.core.ahead import computed
from maxcode.run.interrupts import run_async

def compute():
    print("computing", flush=True)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        sum(range(1000))

run_async(computed, compute)
"""


def test_an_interrupt_does_not_wait_for_a_long_computation_nor_does_the_end_of_the_process() -> None:
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "computing\n"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=90)
        assert time.monotonic() - began < 20
        assert process.returncode != 0 and "KeyboardInterrupt" in words


def test_a_computation_returns_or_raises_what_the_work_does() -> None:
    assert anyio.run(computed, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        anyio.run(computed, divmod, 7, 0)
