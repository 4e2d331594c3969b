"""Where maxcode's own seconds go: a recorder of stages and activities, for ``--profile-self``.

A *stage* is a part of the way to a verdict (admission, evaluation, confirmation, certificate); stages nest, as in
``certificate/admission``.  An *activity* is what is done there (a build, a verification, timing, a wait).  Work that
overlaps counts for each of its activities, so their seconds may add up to more than the whole.  Without an open
recorder a stage or an activity costs about a microsecond.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import partial, wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar, final

Given = ParamSpec("Given")
Found = TypeVar("Found")
_Async: TypeAlias = Callable[Given, Coroutine[Any, Any, Found]]

BUILD, VERIFICATION, TIMING, RUN = "build", "verification", "timing", "run"
LANE_WAIT, BUILD_WAIT = "wait for the timing lane", "wait for a place to build"
START = "process start"
INPUTS, CHECK = "making inputs", "check of results"  # of a Python function, by the user's own files
OTHER = "other"  # maxcode's own work
OUTSIDE = "outside"  # the stage of what happens in no stage


@final
@dataclass(frozen=True, slots=True)
class Phase:
    """One activity in one stage: how often it began, its wall seconds, and the CPU seconds of programs that it ran."""

    stage: str
    activity: str
    count: int
    wall_s: float
    cpu_s: float


@final
@dataclass(frozen=True, slots=True)
class Profile:
    """Wall seconds of a command; CPU seconds of maxcode itself and of the processes that it started; its phases.

    CPU that no phase shows is that of starting and watching processes.
    """

    wall_s: float
    own_cpu_s: float
    children_cpu_s: float
    phases: tuple[Phase, ...]

    def table(self) -> dict[str, Any]:
        """The fields of the JSON contract."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """A table for people, in the order in which the phases began."""
        yield f"{'stage':26} {'activity':26} {'times':>5} {'wall s':>8} {'CPU s':>8}"
        for one in self.phases:
            yield f"{one.stage:26} {one.activity:26} {one.count:5} {one.wall_s:8.2f} {one.cpu_s:8.2f}"
        cpu_s = self.own_cpu_s + self.children_cpu_s
        yield f"{'whole':26} {'':26} {'':5} {self.wall_s:8.2f} {cpu_s:8.2f}"
        yield f"CPU: {self.own_cpu_s:.2f} s of maxcode itself, {self.children_cpu_s:.2f} s of what it started"


@final
@dataclass(slots=True)
class _Seconds:
    count: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0


_Key = tuple[str, str]


@final
class _Frame:
    """An open stage or activity.  ``open_parts``: the stages and activities that are open directly inside it."""

    __slots__ = ("activity", "is_open", "open_parts", "parent", "recorder", "stage")

    def __init__(self, recorder: Recorder, parent: _Frame | None, stage: str, activity: str) -> None:
        self.recorder, self.parent, self.stage, self.activity = recorder, parent, stage, activity
        self.open_parts, self.is_open = 0, True

    @property
    def key(self) -> _Key:
        return self.stage, self.activity


@final
class Recorder:
    """Adds up the seconds of phases while they run; the innermost ones of each task count."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._own_s, self._children_s = time.process_time(), _children_s()
        self._seconds: dict[_Key, _Seconds] = {}
        self._active: dict[_Key, int] = {}

    def profile(self) -> Profile:
        """What was recorded so far."""
        self._advance()
        found = (_phase(*key, one) for key, one in self._seconds.items() if one.count or one.cpu_s)
        return Profile(
            round(self._last - self._began, 3),
            round(time.process_time() - self._own_s, 3),
            round(_children_s() - self._children_s, 3),
            tuple(found),
        )

    def enter(self, frame: _Frame) -> None:
        self._advance()
        if (parent := frame.parent) is not None:
            self._count(parent, -1) if not parent.open_parts else None
            parent.open_parts += 1
        self._of(frame.key).count += 1
        self._count(frame, 1)

    def leave(self, frame: _Frame) -> None:
        self._advance()
        frame.is_open = False
        self._count(frame, -1) if not frame.open_parts else None
        if (parent := frame.parent) is not None:
            parent.open_parts -= 1
            self._count(parent, 1) if parent.is_open and not parent.open_parts else None

    def charge(self, key: _Key, cpu_s: float) -> None:
        self._of(key).cpu_s += cpu_s

    def _of(self, key: _Key) -> _Seconds:
        return self._seconds.setdefault(key, _Seconds())

    def _count(self, frame: _Frame, more: int) -> None:
        left = self._active.get(frame.key, 0) + more
        if left > 0:
            self._active[frame.key] = left
        else:
            self._active.pop(frame.key, None)

    def _advance(self) -> None:
        now = time.monotonic()
        for key in self._active:
            self._of(key).wall_s += now - self._last
        self._last = now


def _phase(stage: str, activity: str, one: _Seconds) -> Phase:
    return Phase(stage, activity, one.count, round(one.wall_s, 3), round(one.cpu_s, 3))


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_frame: ContextVar[_Frame | None] = ContextVar("maxcode phase", default=None)


@contextmanager
def recording() -> Iterator[Recorder]:
    """Records the phases of everything that starts in the block, tasks of task groups included."""
    recorder = Recorder()
    with _within(_Frame(recorder, None, OUTSIDE, OTHER)):
        yield recorder


@contextmanager
def stage(name: str) -> Iterator[None]:
    """The block is a stage, inside the one that is open."""
    if (parent := _frame.get()) is None:
        yield
        return
    path = name if parent.stage == OUTSIDE else f"{parent.stage}/{name}"
    with _within(_Frame(parent.recorder, parent, path, OTHER)):
        yield


@contextmanager
def activity(name: str, unless_named: bool = False) -> Iterator[None]:
    """The block is an activity of the open stage; ``unless_named``: only if no activity is open."""
    if (parent := _frame.get()) is None or (unless_named and parent.activity != OTHER):
        yield
        return
    with _within(_Frame(parent.recorder, parent, parent.stage, name)):
        yield


def in_stage(name: str) -> Callable[[_Async[Given, Found]], _Async[Given, Found]]:
    """Makes every call of an async function a stage."""
    return partial(_wrapped, partial(stage, name))


def during(name: str) -> Callable[[_Async[Given, Found]], _Async[Given, Found]]:
    """Makes every call of an async function an activity."""
    return partial(_wrapped, partial(activity, name))


def charge_cpu(cpu_s: float) -> None:
    """Adds CPU seconds of a program that was run to the open activity."""
    if (frame := _frame.get()) is not None:
        frame.recorder.charge(frame.key, cpu_s)


@contextmanager
def _within(frame: _Frame) -> Iterator[None]:
    token = _frame.set(frame)
    frame.recorder.enter(frame)
    try:
        yield
    finally:
        frame.recorder.leave(frame)
        _frame.reset(token)


def _wrapped(block: Callable[[], AbstractContextManager[None]], work: _Async[Given, Found]) -> _Async[Given, Found]:
    @wraps(work)
    async def inside(*args: Given.args, **named: Given.kwargs) -> Found:
        if _frame.get() is None:
            return await work(*args, **named)
        with block():
            return await work(*args, **named)

    return inside
