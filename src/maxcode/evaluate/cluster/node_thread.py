"""A node at work inside a worker of an engine: a thread with an event loop of its own, bound to the node's cores.

Engines run functions in threads or loops of theirs, which must stay free for heartbeats; orders are carried out here.
A worker process has one bench, which times, and one builder where cores were set apart for building; their threads are
bound to disjoint cores, and what they start in the sandbox inherits that.
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

BUILD_CORES = "MAXCODE_BUILD_CORES"  # cores of a worker that build and do not time: 0-1,4, or first:2 of its own
FIRST = "first:"
POLL_S = 0.25  # how soon it is noticed that nobody wants an answer any more


class Cancelled(Exception):
    """Nobody wants the answer any more; the order was cancelled."""


@final
class NodeThread:
    """A node in a thread of its own.  Closed, or with its process, everything it runs goes."""

    def __init__(self, cores: frozenset[int], node: Callable[[], BenchNode] | None = None) -> None:
        self._portal = portal()
        self._portal.call(os.sched_setaffinity, 0, cores)
        self._node = self._portal.call(node or (lambda: BenchNode(Cores(cores))))

    def work(self, order: bytes, wanted: Callable[[], bool] = lambda: True) -> bytes:
        """The answer to an order; blocks.  ``Cancelled`` soon after ``wanted`` says so, and then nothing of it runs."""
        found = self._portal.start_task_soon(self._node.answer, order)
        while not found.done():
            wait([found], POLL_S)
            if not found.done() and not wanted():
                found.cancel()
                raise Cancelled
        return found.result()

    def close(self) -> None:
        """End the thread, and what it left on disk."""
        self._node.close()
        self._portal.call(self._portal.stop, True)


def portal() -> BlockingPortal:
    """An event loop in a thread that never keeps its process from ending."""
    found: SimpleQueue[BlockingPortal] = SimpleQueue()

    async def serve() -> None:
        async with BlockingPortal() as opened:
            found.put(opened)
            await opened.sleep_until_stopped()

    Thread(target=anyio.run, args=(serve,), daemon=True, name="maxcode node").start()
    return found.get()


@final
class Worker:
    """The threads of this process: ``bench`` times, ``builder`` builds; they are the same where no cores were set
    apart."""

    def __init__(self) -> None:
        cores, building = usable(), build_cores()
        self.bench = NodeThread(cores - building)
        self.builder = NodeThread(building) if building else self.bench


def build_cores() -> frozenset[int]:
    """The cores of this process that only build; InputError where none would be left to time on."""
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
    """The threads of this process, started on first use; they live as long as it does."""
    return Worker()


def work(order: bytes, builds: bool, wanted: Callable[[], bool] = lambda: True) -> bytes:
    """What an engine calls in a worker process: carry out an order of the bench, or of the builder."""
    threads = worker()
    return (threads.builder if builds else threads.bench).work(order, wanted)
