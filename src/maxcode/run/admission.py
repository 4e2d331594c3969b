"""Admits the problem of a run on the machine or cluster that measures its candidates, and tells how far it is."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, final

import anyio

from maxcode.core.ahead import started
from maxcode.core.types import Machine
from maxcode.core.wording import duration
from maxcode.errors import InputError
from maxcode.evaluate.harness_protocol import SearchHarness
from maxcode.evaluate.ladder.original_runs import OriginalRuns, counted_in
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import BUSY, BUSY_NOTE, pressure
from maxcode.evaluate.target import Target
from maxcode.problems import Loaded
from maxcode.run.deadline import OPTION, Deadline
from maxcode.run.interrupts import run_async

Found = TypeVar("Found")
Say = Callable[[str], None]
LONG_S = 5.0  # shorter runs are not worth a line, and an admission that consists of them is not refused
_EVERY_S = 10.0
_TURN_S = 0.5
_RUNS_OF_A_CANDIDATE = 20  # its tests, and the shortest race with its confirmation


@final
@dataclass(frozen=True, slots=True)
class Admission:
    """``harness`` evaluates candidates of the ``admitted`` problem; ``machine`` is where it measures; ``notes`` are
    for the reader of the result."""

    harness: SearchHarness
    admitted: Admitted
    machine: Machine
    notes: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Watch:
    """Tells with ``say`` how far an admission is; ends it as soon as it cannot end within ``seconds`` (None: no limit)
    or by ``deadline``.

    Only where one run of the original is long: a short admission costs less than its refusal.
    """

    say: Say = lambda words: None
    seconds: float | None = None
    deadline: Deadline = field(default_factory=Deadline)
    runs: OriginalRuns = field(default_factory=OriginalRuns)

    async def over(self, work: Callable[[], Awaitable[Found]]) -> Found:
        """The result of an admission; InputError if it would take longer than the limit."""
        with self.deadline.scope() as scope, counted_in(self.runs):
            async with started(partial(self._tell, scope)):
                return await work()
        raise InputError(self._refusal())

    async def _tell(self, scope: anyio.CancelScope) -> None:
        began, told, at = anyio.current_time(), -math.inf, (0, "")
        while not self._is_too_long():
            await anyio.sleep(_TURN_S)
            now, place = anyio.current_time(), (0 if self.runs.step else self.runs.number, self.runs.step)
            if now - began < LONG_S or (place == at and now - told < _EVERY_S):
                continue
            told, at = now, place
            self.say(self._words(now - began))
        scope.cancel()

    def _is_too_long(self) -> bool:
        runs, (seconds, _) = self.runs, self._limit
        return runs.run_s >= LONG_S and runs.least_s > seconds

    @property
    def _limit(self) -> tuple[float, str]:
        """The seconds that are left for all runs, and the option that says so."""
        searching = math.inf if self.seconds is None else self.seconds
        whole = math.inf if self.deadline.seconds is None else self.deadline.seconds
        return (searching, "--max-seconds") if searching <= whole else (whole, OPTION)

    def _words(self, seconds: float) -> str:
        runs = self.runs
        if not runs.number and (words := _spending("admission", runs, seconds)):
            return words
        if not runs.number:
            return f"admission: {seconds:.0f} s so far; Ctrl-C stops"
        if runs.step:
            return f"admission: {runs.step}, {seconds:.0f} s so far; Ctrl-C stops"
        about = max(runs.planned, runs.number)
        if not runs.ended:
            return f"admission: run 1 of about {about} of the original, {runs.now_s:.0f} s so far; Ctrl-C stops"
        if runs.number >= about:
            return f"admission: the last of about {about} runs of the original, {seconds:.0f} s so far; Ctrl-C stops"
        left = f"about {duration(runs.left_s)} left"
        seconds, option = self._limit
        if runs.all_s > seconds:
            left += f", too long for {option} {seconds:g}"
        return f"admission: run {runs.number} of about {about}, {runs.run_s:.0f} s each, {left}; Ctrl-C stops"

    def _refusal(self) -> str:
        runs, (seconds, option) = self.runs, self._limit
        if not self._is_too_long():
            return f"{self.deadline.words} during the admission of the original; nothing is judged: give more seconds"
        least = math.ceil((runs.all_s + _RUNS_OF_A_CANDIDATE * runs.run_s) / 60) * 60
        more = "" if runs.ended else " or more"
        longest = f" (the longest is {runs.longest})" if runs.longest else ""
        return (
            f"the admission alone takes about {duration(runs.all_s)}{more}, longer than {option} {seconds:g}: it runs "
            f"the original about {runs.planned} times, and one run takes {runs.run_s:.0f} s"
            f"{more}.  Give {option} {least} or more, or shorter tests{longest}: runs of 0.1 to 1 s are enough "
            "to time"
        )


@asynccontextmanager
async def spending_told(say: Say, what: str) -> AsyncIterator[None]:
    """While this holds, tells from time to time which of the user's own files most of the time goes to, if one does.
    ``what``: what goes on, in a word."""
    runs = OriginalRuns()

    async def tell() -> None:
        began = anyio.current_time()
        while True:
            await anyio.sleep(_EVERY_S)
            if words := _spending(what, runs, anyio.current_time() - began):
                say(words)

    with counted_in(runs):
        async with started(tell):
            yield


def _spending(what: str, runs: OriginalRuns, seconds: float) -> str:
    """What has taken most of these seconds, in words; empty if it is not known."""
    part, spent = runs.spent
    known = min(spent, seconds)
    return f"{what}: {part} {known:.0f} of {seconds:.0f} s so far; Ctrl-C stops" if known > seconds / 2 else ""


def admit(loaded: Loaded, target: Target, is_here: bool, watch: Watch | None = None) -> Admission:
    """Builds, verifies and times the original; raises InputError if the problem cannot be used, or as ``watch``."""
    prepare = partial(target.prepare, loaded.problem)
    harness, admitted, machine = run_async((watch or Watch()).over, prepare)
    return Admission(harness, admitted, machine, notes_on(loaded, admitted, is_here))


def notes_on(loaded: Loaded, admitted: Admitted, is_here: bool) -> tuple[str, ...]:
    """Notes on the problem, and on this machine if it is the one that measures."""
    return (*loaded.notes, *admitted.notes, *(_busy() if is_here else ()))


def _busy() -> tuple[str, ...]:
    waiting = pressure()
    if waiting is None or waiting < BUSY:
        return ()
    return (f"{BUSY_NOTE} (CPU pressure {waiting:.0f} %): intervals are wider than on an idle machine",)
