"""The processes of a Python function: what each receives, and how it starts.

Original, candidate, the maker of inputs and the user's checker live in different sandboxes.  A candidate's process sees
its own files and what the problem puts beside them.  It never sees the original, its results, the maker's or the
checker's text, or a seed; where it is profiled it sees arguments of some calls that are not timed.
"""

from __future__ import annotations

import json
import secrets
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, final

from maxcode.core.types import Problem, Program
from maxcode.evaluate.python.runtime import PythonRuntime
from maxcode.evaluate.rounds.round import SIDE
from maxcode.sandbox.sandbox import Blob, Calls, Job, Mounts, Ran, Sandbox, Session

_HERE = Path(__file__).parent / "inside"
_FILES = ("driver.py", "codec.py", "codec_memory.py", "decoder.py", "profiling.py")
INSIDE = {name: (_HERE / name).read_text() for name in _FILES} | {"side.py": SIDE}
LEAST_MEMORY_MB = 2048
START_S = 60.0
OUT = "/tmp/out"
OUTPUT_MB = 2048
MOST_RESULT_BYTES = 1 << 29  # of a part of a round
READ_ONLY, WRITTEN, READ_AND_WRITTEN, GATHERED, AFTERWARDS = 0, 1, 2, 4, 5  # kinds of shim_calls.h

Role = Literal["calls", "idle", "describe", "make", "check", "profile", "replay"]
Checks = Literal["first", "all", "half"]  # first: in the admission, within a limit of their own


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """How a round is laid out.

    ``capacity``: bytes of the arguments of a part; ``batch``: its calls; ``slots``: parts of a round.
    ``results``: bytes of the results of a part, at most, where the user's checker looks at them.
    ``twice``: a pair is the mean of two rounds.  ``checks``: which results the user's checker looks at.
    ``makers``: processes that share the making of a round's arguments.
    """

    capacity: int
    batch: int = 1
    slots: int = 2
    results: int = 1 << 20
    twice: bool = False
    checks: Checks = "all"
    makers: int = 1

    @property
    def calls(self) -> int:
        """The calls of a round."""
        return self.batch * self.slots

    def plan(self, role: Role) -> Blob:
        """The plan of a role's rounds (``shim_calls.h``)."""
        called = (
            (self.capacity, READ_AND_WRITTEN),
            (MOST_RESULT_BYTES, GATHERED),
            (MOST_RESULT_BYTES, AFTERWARDS),
        )
        arrays = {
            "calls": called,
            "idle": called,
            "make": ((8 * self.batch, READ_ONLY), (self.capacity, WRITTEN)),
            "check": ((self.capacity, READ_ONLY), (self.results, READ_ONLY), (self.batch, WRITTEN)),
        }[role]
        head = struct.pack("<4I", len(arrays), self.slots, 0, 0)
        return Blob.of(head + b"".join(struct.pack("<2Q", size, kind) for size, kind in arrays))


@final
@dataclass(frozen=True, slots=True)
class SideStarter:
    """Starts the sides of one problem."""

    sandbox: Sandbox
    runtime: PythonRuntime
    problem: Problem
    threads: int

    def job(self, role: Role, plan: Blob | None = None) -> Job:
        """The job of a role, with the problem's limits plus a start."""
        limits = self.problem.spec.limits
        return Job(
            (self.runtime.python, "-I", "-B", "/src/driver.py", role),
            stdin=plan,
            cpu_s=limits.run_s + START_S,
            wall_s=3 * limits.run_s + START_S,
            memory_mb=max(limits.memory_mb, LEAST_MEMORY_MB),
            output_mb=OUTPUT_MB,
            collect=(OUT,) if role in ("describe", "replay") else (),
            processes=limits.processes + 64,
            variables=self.runtime.variables,
            called=plan is not None,
            stepped=plan is not None,
            started=plan is not None,
        )

    def round_limits(self, is_candidate: bool, slots: int) -> tuple[float, float]:
        """Seconds of CPU and of wall time for a round."""
        limits = self.problem.spec.limits
        whole = limits.run_s * slots
        return (whole, 3 * whole + 2) if is_candidate else (whole + START_S, 3 * whole + START_S)

    def mounts(
        self, role: Role, program: Program, layout: Layout, seeds: Sequence[int] = (), shown: bytes = b""
    ) -> Mounts:
        """The files of a process and its interpreter.  ``shown``: the calls that one to be profiled may see."""
        spec = self.problem.spec.python_spec
        module, _, name = spec.function.rpartition(":")
        place = "module" if "." in module else "program"  # the file of a package's module hides no other module
        files = {f"program/{path}": text for path, text in spec.beside}
        found: dict[str, str | bytes] = {**files, **{f"{place}/{path}": text for path, text in program.files.items()}}
        if role in ("make", "describe", "replay"):
            found |= {"inputs.py": spec.inputs} if spec.calls is None else {"calls.bin": spec.calls.content}
        if role == "profile":
            found["calls.bin"] = shown
        if role == "check":
            found["check.py"] = spec.check
        meta = {
            "file": f"/src/{place}/{program.name}",
            "module": module or PurePosixPath(program.name).stem,
            "function": name,
            "known": bool(module),
            "paths": self.runtime.paths,
            "threads": self.threads,
            "size": spec.size,
            "slots": layout.slots,
            "batch": layout.batch,
            "capacity": layout.capacity,
            "results": layout.results,
            "checked": bool(spec.check),
            "seeds": list(seeds),
            "recorded": role == "profile" or spec.calls is not None,
        }
        return Mounts({**found, **INSIDE, "meta.json": json.dumps(meta)}, self.runtime.binds)

    async def once(self, role: Role, program: Program, seeds: Sequence[int] = (), shown: bytes = b"") -> Ran:
        """One run of a role, in its own sandbox."""
        async with self._session([], self.mounts(role, program, Layout(0), seeds, shown)) as session:
            return await session.run(self.job(role))

    def _session(self, blobs: Sequence[Blob], mounts: Mounts) -> AbstractAsyncContextManager[Session]:
        return self.sandbox.session(blobs, mounts, measured=True, runtime=self.runtime.sealed)

    @asynccontextmanager
    async def started(self, role: Role, program: Program, layout: Layout) -> AsyncIterator[Calls]:
        """The process of a role, starting up for its first round."""
        plan = layout.plan(role)
        async with (
            self._session([plan], self.mounts(role, program, layout)) as session,
            session.calls(self.job(role, plan)) as calls,
        ):
            yield calls


def draw_seeds(count: int) -> list[int]:
    """So many secret seeds, of 32 bits, which every generator takes."""
    return [secrets.randbits(32) for _ in range(count)]
