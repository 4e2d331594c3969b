"""Runs several cells at once, each in a process: while one is timed, others build, verify, or wait for a model.

    parent: cells -> worker -> Row or MaxcodeError, and a message for every evaluated candidate

Each worker is a process, because a run uses its own signals, locks and event loop.  The machine-wide lane keeps timings
apart.  If a worker dies (for example, out of memory), its cell stays open and the worker is replaced.  Workers end with
the parent.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Self, TypeAlias, final

from maxcode.bench.bench_runs import BenchRun
from maxcode.bench.rows import BenchRow
from maxcode.errors import Interrupted, MachineError, MaxcodeError, UnsafeError
from maxcode.run.record import Evaluated, Line

_PR_SET_PDEATHSIG = 1
_EVALUATED = "evaluated"
_CTRL_C = {signal.SIGINT}
_LOOK_S = 0.2
Found: TypeAlias = BenchRow | MaxcodeError
# Runs a cell and reports every recorded part.  It must be picklable, because it is sent to other processes.
RunWatched = Callable[[BenchRun, Callable[[Line], None]], BenchRow]


@final
class Pool:
    """``at_once`` workers that each run one cell at a time; ``evaluated`` is called for every candidate.

    Each Ctrl-C is passed to the workers: active candidates are finished, then the workers stop.
    """

    def __init__(self, run: RunWatched, at_once: int, evaluated: Callable[[BenchRun], None]) -> None:
        self.at_once = at_once
        self._run = run
        self._evaluated = evaluated
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, BenchRun]] = {}
        self._pressed = self._passed_on = 0
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *error: object) -> None:
        try:
            while self._busy:
                self._passed_on = self._pressed
                for worker, _ in self._busy.values():
                    worker.interrupt()
                while self._busy and self._next() is not None:
                    pass  # until all cells have ended, or another Ctrl-C
        finally:
            for worker in self._idle:
                worker.end()
            if self._before is not None:
                signal.signal(signal.SIGINT, self._before)

    def begin(self, cell: BenchRun) -> None:
        """Starts the cell on an idle worker, or on a new one."""
        worker = self._idle.pop() if self._idle else _Worker(self._run)
        self._busy[worker.pipe] = worker, cell
        worker.pipe.send(cell)

    def ended(self) -> tuple[BenchRun, Found]:
        """Waits for the next cell to end."""
        found = self._next()
        if found is None:
            raise Interrupted("stopped")
        if isinstance(found[1], Interrupted | UnsafeError):
            raise found[1]
        return found

    def _press(self, *_: object) -> None:
        self._pressed += 1

    def _next(self) -> tuple[BenchRun, Found] | None:
        """The next cell to end; None if Ctrl-C came first."""
        while self._pressed == self._passed_on:
            for pipe in wait(list(self._busy), _LOOK_S):
                assert isinstance(pipe, Connection)
                worker, cell = self._busy[pipe]
                found = worker.said()
                if found == _EVALUATED:
                    self._evaluated(cell)
                    continue
                del self._busy[pipe]
                if worker.process.is_alive():
                    self._idle.append(worker)
                return cell, found
        return None


@final
class _Worker:
    """A process, and the parent's end of the pipe to it."""

    def __init__(self, run: RunWatched) -> None:
        spawning = get_context("spawn")
        self.pipe, theirs = spawning.Pipe()
        self.process = spawning.Process(target=_serve, args=(theirs, run, os.getpid()))
        signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)  # inherited: an early Ctrl-C stays pending until the run
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _CTRL_C)
        theirs.close()

    def said(self) -> Any:
        """The message from the pipe; if the worker has died, the error that leaves its cell open."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            status = self.process.exitcode
            return MachineError(f"its process ended with status {status}; repeat the command, which resumes it")

    def interrupt(self) -> None:
        """Ctrl-C."""
        if self.process.pid is not None and self.process.is_alive():
            os.kill(self.process.pid, signal.SIGINT)

    def end(self) -> None:
        """Ends the worker and waits for it."""
        self.pipe.close()
        self.process.join()


def _serve(pipe: Connection, run: RunWatched, parent: int) -> None:
    """The main loop of a worker: runs cells from the pipe until it is closed; receives Ctrl-C only during a cell."""
    os.setpgid(0, 0)  # a Ctrl-C of the terminal goes to the parent only, which passes it on
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return

    def watch(line: Line) -> None:
        if isinstance(line, Evaluated):
            pipe.send(_EVALUATED)

    while True:
        try:
            cell = pipe.recv()
        except EOFError:
            return
        pipe.send(_found(run, cell, watch))


def _found(run: RunWatched, cell: BenchRun, watch: Callable[[Line], None]) -> Found:
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # until the search installs its own handler
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CTRL_C)
        return run(cell, watch)
    except MaxcodeError as error:
        return error
    except KeyboardInterrupt:
        return Interrupted(f"stopped before {cell.name} began to search")
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)
