"""Runs a node in a worker of an engine: a thread with its own event loop, bound to the node's cores.

An engine runs functions in its own threads or event loops, which must stay free for heartbeats; so tasks run here.  A
worker process has one timing thread (``bench``) and, if cores are reserved for builds, one build thread (``builder``).
The two are bound to disjoint cores, and what they start in the sandbox inherits the binding.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import wait
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import final

import anyio
from anyio.from_thread import BlockingPortal

from maxcode.errors import InputError
from maxcode.evaluate.cluster.cores import parsed, shown, usable
from maxcode.evaluate.cluster.node import BenchNode
from maxcode.evaluate.cluster.quiet_cores import Cores

BUILD_CORES = "MAXCODE_BUILD_CORES"  # cores of a worker that build and do not time, as 0-1,4 or first:2
FIRST = "first:"
POLL_S = 0.25  # how often the thread checks whether its task was cancelled


class Cancelled(Exception):
    """The task was cancelled: nobody waits for its result."""


@final
class NodeThread:
    """A node in its own thread.  When it is closed, or its process ends, everything that it runs ends too."""

    def __init__(self, cores: frozenset[int], node: Callable[[], BenchNode] | None = None) -> None:
        self._portal = portal()
        self._portal.call(os.sched_setaffinity, 0, cores)
        self._node = self._portal.call(node or (lambda: BenchNode(Cores(cores))))

    def work(self, task: bytes, wanted: Callable[[], bool] = lambda: True) -> bytes:
        """The result of a task; blocks.

        Raises Cancelled within about POLL_S after ``wanted`` returns False; nothing of the task runs then.
        """
        running = self._portal.start_task_soon(self._node.answer, task)
        while not running.done():
            wait([running], POLL_S)
            if not running.done() and not wanted():
                running.cancel()
                raise Cancelled
        return running.result()

    def close(self) -> None:
        """End the thread and remove the files that it left on disk."""
        self._node.close()
        self._portal.call(self._portal.stop, True)


def portal() -> BlockingPortal:
    """An event loop in a thread that does not keep the process alive."""
    found: SimpleQueue[BlockingPortal] = SimpleQueue()

    async def serve() -> None:
        async with BlockingPortal() as opened:
            found.put(opened)
            await opened.sleep_until_stopped()

    Thread(target=anyio.run, args=(serve,), daemon=True, name="maxcode node").start()
    return found.get()


@final
class Worker:
    """The threads of this process: ``bench`` times, ``builder`` builds.

    They are the same thread if no cores are reserved for builds.
    """

    def __init__(self) -> None:
        cores, building = usable(), build_cores()
        self.bench = NodeThread(cores - building)
        self.builder = NodeThread(building) if building else self.bench


def build_cores() -> frozenset[int]:
    """The cores of this process that only build.  InputError if none would be left to time on."""
    words = os.environ.get(BUILD_CORES, "")
    if words.startswith(FIRST):
        count = words.removeprefix(FIRST)
        building = frozenset(sorted(usable())[: int(count) if count.isdigit() else 0])
    else:
        building = parsed(words) & usable() if words else frozenset[int]()
    if building == usable():
        raise InputError(f"{BUILD_CORES}={words} leaves no core to time on; this process may use {shown(usable())}")
    return building


@cache
def worker() -> Worker:
    """The threads of this process, started on first use; they live as long as the process."""
    return Worker()


def work(task: bytes, builds: bool, wanted: Callable[[], bool] = lambda: True) -> bytes:
    """Run a task in a worker process, in its timing thread or its build thread; engines call this."""
    threads = worker()
    return (threads.builder if builds else threads.bench).work(task, wanted)
