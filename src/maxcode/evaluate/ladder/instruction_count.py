"""Counts executed instructions with valgrind in the sandbox: a cost that load on the machine does not change.

A count varies by about 1e-6 from run to run and needs no race.  It ignores cache misses, how many instructions the
processor does at once, the width of vectors, and threads, which it adds up.  The counter runs in the same process as
the program, so a hostile program can detect and deceive it.  So a count never proves a claim about seconds.

The count comes at the end, on standard error, which the program can write and cut off too.  So it may start no process
(what a child has done could be erased), and a program that it becomes by exec is not counted, which is no count.

Under valgrind numbers of 80 bits have 64 bits, and a program cannot start its own file again; a program whose output
depends on that is refused.  A run needs the host's /usr and a /tmp, so it has its own session; its output is checked.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.evaluate.ladder.interpreter import binds_of
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.verify import ended, job_for
from maxcode.sandbox.jobs import STDERR_KEPT
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox

BLIND = "blind to cache misses, instructions done at once, vector width and threads"
SLOWDOWN, GRACE_S = 100.0, 10.0  # 10 to 50 times is usual
MEMORY_MORE_MB = 1024  # valgrind itself, and the code that it generates
_COUNTER = (
    *("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"),
    *("--log-fd=2", "--trace-children=no", "--vgdb=no"),
)
# A program can write such lines too, but they only increase its count: the last one comes when it has ended.
_COUNT = re.compile(rb"==\d+== I +refs: +(\d[\d,]{0,30})")
_UNKNOWN = b"unhandled instruction bytes"


# How a program speaks to valgrind: rotations that change nothing, on x86-64 and on 64-bit Arm (valgrind.h).
_REQUESTS = (
    bytes.fromhex("48c1c703 48c1c70d 48c1c73d 48c1c733"),
    bytes.fromhex("8c0dcc93 8c35cc93 8ccdcc93 8cf5cc93"),
)


class Uncounted(Exception):
    """A run under the counter gave no count; the message says why."""


@final
@dataclass(frozen=True, slots=True)
class Counted:
    """Instructions of a run, and its output."""

    instructions: int
    output: bytes


def require_counter() -> None:
    """InputError if this machine cannot count; it says what to install."""
    if why := no_counter():
        raise InputError(why)


def no_counter() -> str:
    """Why this machine cannot count instructions, and what to install; empty if it can."""
    found = shutil.which("valgrind")
    if found is None:
        return "instructions are counted by valgrind, which is not installed: `apt install valgrind`"
    if not found.startswith(("/usr/", "/bin/")):
        return f"the sandbox shows only /usr, and valgrind is {found}: `apt install valgrind`"
    return ""


def speaks_to_valgrind(artefact: Blob) -> bool:
    """Whether a built program can ask valgrind whether it counts, or to run a part of it uncounted."""
    code = artefact.read()
    return any(request in code for request in _REQUESTS)


async def counted(sandbox: Sandbox, problem: Problem, artefact: Blob, given: Input, side: str = "candidate") -> Counted:
    """One run on one input, in its own session.  Uncounted if it does not end well."""
    job = _job(job_for(problem, artefact, given))
    mounts = Mounts(problem.spec.data, binds_of(problem))  # as sources: valgrind writes beside the data
    async with sandbox.session(job.blobs, mounts) as session:
        ran = await session.run(job)
    total = sum(int(found.replace(b",", b"")) for found in _COUNT.findall(ran.stderr))
    if len(ran.stderr) >= STDERR_KEPT:  # the count comes last and is cut off; what is left is the program's
        raise Uncounted("it wrote so much to its error output that the count was cut off")
    if not ran.ok or not total:
        raise Uncounted(_trouble(given, ran, side))
    return Counted(total, ran.stdout)


def _job(plain: Job) -> Job:
    """The same run with limits about a hundred times as wide; the stack has its usual size."""
    cpu_s = SLOWDOWN * plain.cpu_s + GRACE_S
    return replace(
        plain,
        argv=(*_COUNTER, f"--main-stacksize={plain.stack_mb << 20}", *plain.argv),
        cpu_s=cpu_s,
        wall_s=3 * cpu_s + 2,
        memory_mb=2 * plain.memory_mb + MEMORY_MORE_MB,
        one_process=True,
    )


def _trouble(given: Input, ran: Ran, side: str) -> str:
    if _UNKNOWN in ran.stderr:
        return "valgrind does not know one of its instructions (AVX-512?); build it for -march=x86-64-v3 at most"
    if not ran.ok:
        return f"under valgrind it {ended(given, ran, side)}; a program that starts processes cannot be counted"
    return "valgrind gave no count"
