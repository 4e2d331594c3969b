"""Shares the machine between builds and timing: many builds at once, one exclusive timing lane for the whole machine.

The timing lane is a file lock, so that two maxcode processes never time at once; the kernel releases it when its holder
dies.  A node that holds some cores (``on_cores``) takes the lane of these cores: others may then time on other cores,
but not on the whole machine.  The places to build belong to one process, or to all processes that share them
(``share_builds``).  ``accounted`` measures the time of a task in the lanes, and its wait for them.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import final

import anyio
from anyio.lowlevel import RunVar

from maxcode.core.phases import BUILD_WAIT, LANE_WAIT, activity
from maxcode.errors import MachineError

LOCK = Path("/tmp/maxcode.timing.lock")
_POLL_S = 0.01
_TELL_EVERY_S = 1.0

_shared: Path | None = None
_builders: RunVar[anyio.CapacityLimiter] = RunVar("maxcode builders")
_timers: RunVar[anyio.Lock] = RunVar("maxcode timers")


@final
@dataclass(slots=True)
class Ledger:
    """Seconds in the lanes, summed over all tasks: building and verifying, timing, and waiting for either."""

    build_s: float = 0.0
    time_s: float = 0.0
    wait_s: float = 0.0


@final
class OtherRuns:
    """The seconds that work waited until another process left the timing lane, a wait under way included."""

    def __init__(self) -> None:
        self._past, self._since = 0.0, 0.0

    @property
    def seconds(self) -> float:
        return self._past + (time.monotonic() - self._since if self._since else 0.0)

    def begin(self) -> None:
        self._since = self._since or time.monotonic()

    def end(self) -> None:
        self._past, self._since = self.seconds, 0.0


_ledger: ContextVar[Ledger | None] = ContextVar("maxcode ledger", default=None)
_tell_wait: ContextVar[Callable[[float, bool], None] | None] = ContextVar("maxcode wait", default=None)
_others: ContextVar[OtherRuns | None] = ContextVar("maxcode others", default=None)
_cores: ContextVar[frozenset[int] | None] = ContextVar("maxcode lane", default=None)
_spare: ContextVar[Path | None] = ContextVar("maxcode spare lane", default=None)


@contextmanager
def on_cores(cores: frozenset[int] | None) -> Iterator[None]:
    """Everything started in the block times in the lane of these cores, and must be bound to them; None = the whole
    machine."""
    token = _cores.set(cores)
    try:
        yield
    finally:
        _cores.reset(token)


@contextmanager
def told_of_waits(tell: Callable[[float, bool], None]) -> Iterator[None]:
    """Calls ``tell`` about once a second while work of the block waits until another process leaves the timing lane,
    with the seconds waited and False, and at the end of such a wait with True."""
    token = _tell_wait.set(tell)
    try:
        yield
    finally:
        _tell_wait.reset(token)


@contextmanager
def counting(others: OtherRuns) -> Iterator[None]:
    """Counts in ``others`` how long work of the block waits for other processes.  In one process one task at a time
    waits for them, so waits never overlap."""
    token = _others.set(others)
    try:
        yield
    finally:
        _others.reset(token)


def charge(elsewhere: Ledger) -> None:
    """Adds the seconds that our work spent in the lanes of another machine to the open account."""
    if (ledger := _ledger.get()) is not None:
        ledger.build_s += elsewhere.build_s
        ledger.time_s += elsewhere.time_s
        ledger.wait_s += elsewhere.wait_s


@contextmanager
def accounted() -> Iterator[Ledger]:
    """The seconds in the lanes of everything started in the block, tasks of task groups included."""
    ledger = Ledger()
    token = _ledger.set(ledger)
    try:
        yield ledger
    finally:
        _ledger.reset(token)


def share_builds(path: Path) -> None:
    """From now on this process shares its places to build with all processes that gave this path."""
    global _shared
    _shared = path


@asynccontextmanager
async def build_lane() -> AsyncIterator[None]:
    """Takes one place to build or verify.  One core has no place, so that the timing lane keeps it."""
    ledger = _ledger.get() or Ledger()
    asked = time.monotonic()
    async with AsyncExitStack() as stack:
        with activity(BUILD_WAIT):
            spare = _spare.get()
            if spare is not None and _shared is None and _cores.get() is None:
                await _either(stack, spare)
            else:
                await stack.enter_async_context(_places())
                await stack.enter_async_context(_shared_place())
        began = time.monotonic()
        ledger.wait_s += began - asked
        try:
            yield
        finally:
            ledger.build_s += time.monotonic() - began


@asynccontextmanager
async def free_place() -> AsyncIterator[bool]:
    """Takes one place to build, or one more, if it is free at once: whether it did.  So who holds a place already can
    ask for another one, and never waits for itself.  In ``also_in_timing_lane`` that may be the timing lane."""
    spare = _spare.get() if _cores.get() is None else None
    with ExitStack() as stack:
        is_free = _shared is None and (_took_place(stack) or (spare is not None and _took_lane(stack, spare)))
        yield is_free  # shared places are for all processes


@contextmanager
def also_in_timing_lane(path: Path = LOCK) -> Iterator[None]:
    """Work of the block that asks for a place to build may take the timing lane in its place, while nobody wants that:
    else a core is idle.  Not where cores or places are shared."""
    token = _spare.set(path)
    try:
        yield
    finally:
        _spare.reset(token)


async def _either(stack: AsyncExitStack, path: Path) -> None:
    """Takes a place to build or the timing lane, whichever is free first."""
    while not (_took_place(stack) or _took_lane(stack, path)):
        await anyio.sleep(_POLL_S)


def _took_place(stack: ExitStack | AsyncExitStack) -> bool:
    borrower, limiter = object(), _places()
    try:
        limiter.acquire_on_behalf_of_nowait(borrower)
    except anyio.WouldBlock:
        return False
    stack.callback(limiter.release_on_behalf_of, borrower)
    return True


def _took_lane(stack: ExitStack | AsyncExitStack, path: Path) -> bool:
    with ExitStack() as held:
        lock = _timing_turns()
        if lock.locked():  # perhaps by this task
            return False
        try:
            lock.acquire_nowait()
        except anyio.WouldBlock:
            return False
        held.callback(lock.release)
        turn, lane = (_lock_file(path.with_suffix(suffix)) for suffix in (".turn", path.suffix))
        held.callback(os.close, lane)
        with ExitStack() as once:  # whoever waits for the lane holds the turn
            once.callback(os.close, turn)
            if not (_taken(turn, fcntl.LOCK_EX) and _taken(lane, fcntl.LOCK_EX) and _is_at(lane, path)):
                return False
        stack.callback(held.pop_all().close)
        return True


def several_places() -> bool:
    """Whether more than one program can be built or verified at a time."""
    return _places().total_tokens > 1


def _places() -> anyio.CapacityLimiter:
    if (limiter := _builders.get(None)) is None:
        limiter = anyio.CapacityLimiter(_all_cores_but_one())
        _builders.set(limiter)
    return limiter


def _all_cores_but_one() -> int:
    return max(1, len(os.sched_getaffinity(0)) - 1)


@asynccontextmanager
async def _shared_place() -> AsyncIterator[None]:
    """Takes one of the places that several processes share; nothing if they share none."""
    if _shared is None:
        yield
        return
    with ExitStack() as stack:
        turn, *places = _shared_files(stack, _shared)
        await _take(turn)  # so that waiting processes take turns, and a process that needs all places gets them
        while not any(_taken(place, fcntl.LOCK_EX) for place in places):
            await anyio.sleep(_POLL_S)
        fcntl.flock(turn, fcntl.LOCK_UN)
        yield


def _shared_files(stack: ExitStack, path: Path) -> list[int]:
    """The descriptors of the turn and of every place, closed with the stack."""
    files = [_lock_file(path.with_name(f"{path.name}.{name}")) for name in ("turn", *range(_all_cores_but_one()))]
    for file in files:
        stack.callback(os.close, file)
    return files


@asynccontextmanager
async def no_builds() -> AsyncIterator[None]:
    """Waits until this process, and those it shares places with, build and verify nothing, and prevents new builds:
    programs timed by the wall clock may need every core.  Only inside the timing lane, to prevent a deadlock."""
    limiter = _places()
    async with AsyncExitStack() as stack:
        for _ in range(int(limiter.total_tokens)):
            borrower = object()
            await limiter.acquire_on_behalf_of(borrower)
            stack.callback(limiter.release_on_behalf_of, borrower)
        if _shared is not None:
            for file in _shared_files(stack.enter_context(ExitStack()), _shared):
                await _take(file)
        yield


@asynccontextmanager
async def timing_lane(path: Path = LOCK) -> AsyncIterator[None]:
    """Takes the timing lane.  Waits for its turn in this process and among all processes of the machine.  Work of the
    block does not ask for it again."""
    ledger = _ledger.get() or Ledger()
    asked = time.monotonic()
    async with AsyncExitStack() as stack:
        with activity(LANE_WAIT):
            await stack.enter_async_context(_timing_turns())
            await stack.enter_async_context(_held(path, _cores.get()))
        began = time.monotonic()
        ledger.wait_s += began - asked
        token = _spare.set(None)
        try:
            yield
        finally:
            _spare.reset(token)
            ledger.time_s += time.monotonic() - began


def _timing_turns() -> anyio.Lock:
    """The lock of the timing lane in this process."""
    if (lock := _timers.get(None)) is None:
        lock = anyio.Lock()
        _timers.set(lock)
    return lock


@asynccontextmanager
async def _held(path: Path, cores: frozenset[int] | None) -> AsyncIterator[None]:
    """Takes the lock of the machine: exclusive, or shared with a lock for each core, in ascending order."""
    with ExitStack() as stack:
        wait = _Wait()
        try:
            with (
                ExitStack() as once
            ):  # a waiting process holds the turn, so that one that has just left queues after it
                await wait.take(once, path.with_suffix(".turn"))
                await wait.take(stack, path, fcntl.LOCK_EX if cores is None else fcntl.LOCK_SH)
            for core in sorted(cores or ()):
                await wait.take(stack, path.with_suffix(f".core{core}"))
        finally:
            wait.end()
        yield


@final
class _Wait:
    """One wait for the timing lane, told to whoever listens."""

    def __init__(self) -> None:
        self._tell, self._others = _tell_wait.get(), _others.get() or OtherRuns()
        self._began = self._told = time.monotonic()

    async def take(self, stack: ExitStack, path: Path, how: int = fcntl.LOCK_EX) -> None:
        """Takes the lock of a file until the stack is closed.  If somebody removed the file meanwhile, who comes later
        locks a new one: then that one is taken."""
        while True:
            with ExitStack() as held:
                file = _lock_file(path)
                held.callback(os.close, file)
                await self._take(file, how)
                if _is_at(file, path):
                    stack.callback(held.pop_all().close)
                    return

    async def _take(self, file: int, how: int) -> None:
        while not _taken(file, how):
            self._others.begin()
            await anyio.sleep(_POLL_S)
            if self._tell is not None and (now := time.monotonic()) - self._told >= _TELL_EVERY_S:
                self._told = now
                self._tell(now - self._began, False)

    def end(self) -> None:
        self._others.end()
        if self._tell is not None and self._told > self._began:
            self._tell(time.monotonic() - self._began, True)


async def _take(file: int, how: int = fcntl.LOCK_EX) -> None:
    while not _taken(file, how):
        await anyio.sleep(_POLL_S)


_FOR_ALL = 0o644


def _lock_file(path: Path) -> int:
    """A descriptor of the shared file.  It is opened read-only, which is enough for a lock on another user's file."""
    try:
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            file = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _FOR_ALL)
        if os.fstat(file).st_uid == os.geteuid():
            os.fchmod(file, _FOR_ALL)  # whatever the umask is: other users open it too
        return file
    except OSError as error:
        raise MachineError(f"cannot open the timing lock {path}: {error.strerror}; remove it if it is stale") from error


def _is_at(file: int, path: Path) -> bool:
    """Whether the file that a descriptor stands for still has this name."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False))
    except OSError:
        return False


def holder(path: Path = LOCK) -> int:
    """The process that holds the timing lane of the whole machine; 0 where none does, or the kernel does not say."""
    try:
        inode = os.stat(path).st_ino
        locks = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return 0
    held = (fields for line in locks if (fields := line.split())[1:2] == ["FLOCK"] and len(fields) > 5)
    return next((int(fields[4]) for fields in held if fields[5].rpartition(":")[2] == str(inode)), 0)


def _taken(file: int, how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
