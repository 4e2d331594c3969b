"""The sandbox: a tier (``tiers.py``) around the shim, a dedicated user, seccomp, limits, and a control group if any.

An evaluator opens a session (a separate place, run by ``shim.c``) and runs jobs in it, one at a time.  Nothing that a
program writes outlives its run: a session without sources has no writable path, and its inputs are sealed memory.  Only
a session with sources (a build, a generator, a checker) has a writable /tmp of limited size, which is removed when the
session ends.  A session ends with its ``async with`` block, or with the process or the thread (of the event loop) that
opened it, even if that is killed.  Tier 1 is tried first, then tier 2.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, final

import anyio
import anyio.to_thread

from maxcode.core.phases import BUILD, RUN, START, activity, charge_cpu
from maxcode.errors import MachineError, UnsafeError
from maxcode.sandbox.binds import reached
from maxcode.sandbox.cgroup import Group, Hierarchy, find_hierarchy
from maxcode.sandbox.jobs import Blob, Ending, Job, Kind, Ran, Sample, pack, turn, unpack
from maxcode.sandbox.landlock import Unconfined, dedicated_uid, find_landlock, sweep
from maxcode.sandbox.line import Line, start
from maxcode.sandbox.namespaces import find_bubblewrap
from maxcode.sandbox.runtime import find_runtime
from maxcode.sandbox.sealed import RuntimeCopy, runtime_copies
from maxcode.sandbox.session_layout import TMP_MB
from maxcode.sandbox.tiers import SANDBOX_UID, TIERS, UNSAFE, VARIABLE, Mounts, SessionView, Tier, wanted
from maxcode.sandbox.toolchain import FILL, SHIM, cache_root, own_library, own_program

__all__ = ["SANDBOX_UID", "Blob", "Calls", "Ending", "Job", "Mounts", "Ran", "Sample", "Sandbox", "Session"]

_LIBRARY = "/fill.so"  # its path in tier 1
_OVERHEAD_MB = 48  # the shim, page tables, kernel memory, a copy of the runtime libraries
_RESERVED = 8  # bytes of address space that a program may reserve for each byte of its control group's memory
_SHADOW_MB = 1 << 26  # address space of a program with shadow memory: more than any machine has
_STACKS = 16  # stacks that must fit into the address space of a process, if address space is what is limited
_START_S, _ANSWER_S = 20.0, 20.0


@final
@dataclass(frozen=True, slots=True)
class Sandbox:
    """Runs untrusted programs, in any number of sessions at once.

    ``fill``: the library of ``fill.c``.
    ``passed_over``: the tiers tried before this one, each with the reason why it does not work and the cure.
    """

    tier: Tier
    shim: Path
    cache: Path
    hierarchy: Hierarchy | None
    runtime: Mapping[str, Path]
    fill: Path
    passed_over: tuple[str, ...] = ()
    copies: Mapping[str, RuntimeCopy] = field(default_factory=runtime_copies, repr=False, compare=False)

    @classmethod
    async def open(cls) -> Self:
        """Opens the first tier that works here, or the one that $MAXCODE_SANDBOX selects.  It builds the shim on first
        use and starts a session as a test.

        UnsafeError with the reason for each tier and the cure; InputError for a cache folder that cannot be used.  If
        the user selects no sandbox, a warning goes to stderr every time.
        """
        _allow_many_files()
        cache = cache_root()
        shim, runtime, hierarchy = await own_program(SHIM, cache), await find_runtime(), find_hierarchy()
        fill = await anyio.to_thread.run_sync(own_library, FILL, cache)
        if hierarchy is not None:
            hierarchy.sweep()
        sweep()
        chosen, reasons = wanted(), list[str]()
        for name in (chosen,) if chosen else TIERS:
            try:
                tier = await _tier(name, shim)
                return await cls(tier, shim, cache, hierarchy, runtime, fill, tuple(reasons))._proven()
            except UnsafeError as error:
                reasons.append(f"tier {name}: {error}")
        raise UnsafeError("\n".join(["no sandbox on this machine", *reasons]))

    async def _proven(self) -> Self:
        """This sandbox if a session starts, else the same without a control group that counts, or without any, else
        UnsafeError."""
        counts = self.hierarchy is not None and self.hierarchy.counting is not None and self.tier.name == "1"
        try:
            async with self.session([], Mounts(room=("/room", 1) if counts else None)):  # a room's group counts
                return self
        except MachineError as error:
            if self.hierarchy is None:
                raise UnsafeError(f"{error}\n{self.tier.cure()}") from error
            fewer = replace(self.hierarchy, counting=None) if counts else None
            why = f"control groups{' of cpuacct' if counts else ''}: a session does not start with them: {error}"
            return await replace(self, hierarchy=fewer, passed_over=(*self.passed_over, why))._proven()

    @property
    def forks(self) -> bool:
        """Whether a measured program may start processes."""
        return self.tier.name != "2"

    def describe(self) -> str:
        """The isolation between a program and this machine, in a few words."""
        group = f"cgroup v{self.hierarchy.version}" if self.hierarchy else "no cgroup (memory limited per process)"
        lacking = [
            f" + {name} shares the host's /usr ({one.trouble})" for name, one in self.copies.items() if one.trouble
        ]
        return f"{self.tier.describe()} + {group}{''.join(lacking)}"

    async def copy_of(self, runtime: str) -> Path | None:
        """The folder of the copy of a runtime, whose name changes with its files; None where none is shown."""
        return await self.copies[runtime].folder() if runtime and self.tier.name == "1" else None

    @asynccontextmanager
    async def session(
        self,
        blobs: Sequence[Blob],
        mounts: Mounts = Mounts(),  # noqa: B008
        bare: bool = False,
        measured: bool = False,
        runtime: str = "",
    ) -> AsyncIterator[Session]:
        """A new session, whose jobs can use only ``blobs`` and the files of ``mounts``.  MachineError if it does not
        start.

        ``bare``: for compiled programs.  It shows only the runtime libraries of the host (in tier 1 copies of them) and
        no /proc; its programs make no pipes and are never sampled.
        ``runtime``: the name of what the programs need to run (``sealed.RUNTIMES``): Python's interpreter and library,
        for example.  In tier 1 the session shows a copy of it in memory, in place of the host's /usr.
        ``measured``: with sources, the session runs a program under test that needs files, not a build.
        """
        async with AsyncExitStack() as stack:
            with activity(START):
                group = await stack.enter_async_context(_group(self.hierarchy, counts=mounts.room is not None))
                binds, words = reached(mounts.binds, self.cache, self.tier.uid)
                library = _LIBRARY if self.tier.name == "1" else str(self.fill)
                libraries = {**self.runtime, library: self.fill} if bare else None
                sealed = await self.copy_of(runtime)
                place = stack.enter_context(self.tier.placed(replace(mounts, binds=binds), libraries, sealed))
                line = await stack.enter_async_context(self._line((*(group.joins if group else ()), *words), place))
                await line.hear(_START_S)
            hosted: Kind = "interpreted" if runtime else "hosted"
            kind: Kind = "bare" if bare else hosted if mounts.sources is None or measured else "building"
            size_mb = -(-sum(map(len, mounts.data.values())) >> 20)
            fds = frozenset(blob.fd for blob in blobs)
            yield Session(line, group, place, fds, kind, library if bare else "", size_mb)

    @asynccontextmanager
    async def _line(self, launched: Sequence[str], place: SessionView) -> AsyncIterator[Line]:
        """Starts a shim with these arguments; at the end of the block it has ended with all its processes."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with ours, _opened(self.shim) as shim, _scratch() as words:
            with theirs:
                argv = [str(self.shim), "launch", str(self.tier.uid), *launched, "--"]
                argv += place.command(shim, theirs.fileno())
                process = start(argv, (theirs.fileno(), shim, *place.fds), words)
            line = Line(ours, process, words)
            try:
                yield line
            finally:
                ours.close()
                with anyio.CancelScope(shield=True):
                    await line.gone()


@final
class Session:
    """Runs jobs over the same blobs, one at a time; no job can leave anything for the next one."""

    def __init__(
        self,
        line: Line,
        group: Group | None,
        place: SessionView,
        blobs: frozenset[int],
        kind: Kind,
        library: str,
        data_mb: int,
    ) -> None:
        self._data_mb = data_mb
        self._line = line
        self._group = group
        self._place = place
        self._blobs = blobs
        self._kind = kind
        self._library = library
        self._busy = False
        self._memory_mb = 0

    async def run(self, job: Job, measured: bool = False) -> Ran:
        """Runs one job and waits for its end.  Whatever the program does is a result, never an exception.
        ``measured``: in a session for builds, this job runs a program under test.  That of a repository hears of its
        children's ends where the group counts, and the time of children that nobody waited for is then added.

        MachineError if the sandbox itself failed, or if an earlier job of this session was cancelled.
        """
        if self._busy:
            raise MachineError("a session runs one job at a time, and none after a cancelled one; open a new session")
        if not self._blobs.issuperset(blob.fd for blob in job.blobs):
            raise ValueError("a job may only use the blobs that its session was opened with")
        self._busy = True
        kills = self._group.kills() if self._group else 0
        before = self._group.used_s() if self._group and job.repository else None
        kind: Kind = ("hosted" if before is None else "counted") if measured else self._kind
        begun = time.monotonic()
        with ExitStack() as stack:
            packet = pack(self._place.asked(self._limited(job)), kind, self._library)
            self._line.ask(packet, [stack.enter_context(_opened(blob.path)) for blob in job.blobs])
        with activity(BUILD if kind == "building" else RUN, unless_named=True):
            try:
                answer = await self._line.hear(job.wall_s + _ANSWER_S)
            except MachineError:
                if not (job.repository and self._line.has_ended and self._group and self._group.kills() > kills):
                    raise
                ran = _drowned(time.monotonic() - begun, self._used_since(before))
                charge_cpu(ran.cpu_s)
                return ran  # the session is over: nothing was small enough for the kernel to spare the shim
            ran = self._place.told(unpack(job, *answer))
            ran = _with_unknown(ran, self._used_since(before)) if measured else ran
            charge_cpu(ran.cpu_s)
        self._busy = False
        killed = self._group is not None and self._group.kills() > kills
        return replace(ran, out_of_memory=True) if killed else ran

    def _used_since(self, before: float | None) -> float:
        """CPU seconds of the group since it had used ``before``; 0 if it does not count."""
        used = self._group.used_s() if self._group and before is not None else None
        return 0.0 if used is None or before is None else used - before

    @asynccontextmanager
    async def calls(self, job: Job) -> AsyncIterator[Calls]:
        """Starts a ``stepped`` job; it ends with the block, and the session runs no other job."""
        if not job.stepped or self._busy:
            raise ValueError("calls need a session without a running job, and a stepped job")
        self._busy = True
        with ExitStack() as stack:
            packet = pack(self._place.asked(self._limited(job)), self._kind, self._library)
            self._line.ask(packet, [stack.enter_context(_opened(blob.path)) for blob in job.blobs])
        yield Calls(self._line, job)

    def _limited(self, job: Job) -> Job:
        """The job with the limits of this session.

        A control group counts resident memory, so address space, which threads reserve and hardly use, may be larger.
        The limit of the group only grows, because files in /tmp stay charged.  Without a group, stacks must fit.
        """
        if self._group is None:
            return replace(job, stack_mb=min(job.stack_mb, max(1, job.memory_mb // _STACKS)))
        files_mb = 2 * job.output_mb + self._data_mb + (TMP_MB if self._kind == "building" else 0)
        self._memory_mb = max(self._memory_mb, job.memory_mb + files_mb + _OVERHEAD_MB)
        self._group.limit(self._memory_mb << 20, job.processes + 2)
        return replace(job, memory_mb=_SHADOW_MB if job.shadow else _RESERVED * job.memory_mb)


@final
class Calls:
    """Rounds of calls of one program, which is stopped between the rounds."""

    def __init__(self, line: Line, job: Job) -> None:
        self._line = line
        self._job = job

    async def ready(self) -> Ran:
        """Waits until it is ready; any ending but ``answered`` means that it will never be."""
        return unpack(self._job, *await self._line.hear(self._job.wall_s + _ANSWER_S))

    async def round(self, inputs: Blob, cpu_s: float, wall_s: float) -> Ran:
        """Runs one round on these inputs within these limits.  The result has the written arrays in stdout and the time
        of the calls.  After any ending but ``answered`` there is no further round."""
        self.ask(inputs, cpu_s, wall_s)
        return await self.answer(wall_s)

    def ask(self, inputs: Blob, cpu_s: float, wall_s: float) -> None:
        """Begins a round, which goes on while others work; its ``answer`` comes before the next one is asked for."""
        with _opened(inputs.path) as fd:
            self._line.ask(turn(cpu_s, wall_s), [fd])

    async def answer(self, wall_s: float) -> Ran:
        """What the round that was asked for came to, as ``round`` tells it."""
        ran = unpack(self._job, *await self._line.hear(wall_s + _ANSWER_S))
        charge_cpu(ran.cpu_s)
        return ran


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A separate read-only descriptor, so that no other run shares even its offset."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _scratch() -> Iterator[int]:
    fd = os.memfd_create("words", os.MFD_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def _drowned(wall_s: float, cpu_s: float) -> Ran:
    """A command whose memory is the kernel's, such as full pipes and sockets, took the shim with it."""
    return Ran("signal", 9, cpu_s, 0, wall_s, 0, 0, 0, 0, 0, b"", b"", out_of_memory=True)


def _with_unknown(ran: Ran, used_s: float) -> Ran:
    """The run, charged for what its session used beyond what the shim knows: the work of children that ended unseen."""
    unknown_s = max(0.0, used_s - ran.known_s)
    return replace(ran, cpu_s=ran.cpu_s + unknown_s)


@asynccontextmanager
async def _group(hierarchy: Hierarchy | None, counts: bool) -> AsyncIterator[Group | None]:
    """A control group for the block, which counts processor time if asked to; None if there are none."""
    if hierarchy is None:
        yield None
        return
    try:
        group = hierarchy.group(counts)
    except OSError as error:
        raise MachineError(f"cannot make a control group: {error}") from error
    try:
        yield group
    finally:
        with anyio.CancelScope(shield=True):
            await group.remove()


def _allow_many_files() -> None:
    """Raises the limit on open files: every blob is an open file, and a long run has more than the usual 1024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _tier(name: str, shim: Path) -> Tier:
    """The tier of this name; UnsafeError if this machine lacks what the tier needs."""
    if name == UNSAFE:
        print(f"maxcode: WARNING: {VARIABLE}={UNSAFE}: programs run WITHOUT A SANDBOX, as this user", file=sys.stderr)
        return Unconfined(dedicated_uid())
    return await find_bubblewrap() if name == "1" else await find_landlock(shim)
