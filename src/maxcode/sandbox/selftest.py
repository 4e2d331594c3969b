"""A small attack suite against the sandbox of this machine, run by `maxcode doctor` and before the first evaluation.

``probe.c`` makes one attack in each run, in a session like any program under test.  In tier 2, where builds run on the
host itself, it also runs in a session for builds.  The program judges most attacks itself; the others (a flood of
output, a fork bomb, a daemon) are judged by how the run ended.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import anyio

from maxcode.core.phases import in_stage
from maxcode.errors import MachineError, UnsafeError
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox
from maxcode.sandbox.tiers import UNSAFE, VARIABLE
from maxcode.sandbox.toolchain import PROBE, SHIM, digest_of, own_program

_MOST_PROCESSES = 8
_LOOP_CPU_S = 0.05
_TICK_S = 0.01  # the largest difference between the clock that ends a run and the clock that charges it
_PATIENCE_S = 25.0


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One attack: what must not be possible, whether the sandbox stopped it, and if not, the details."""

    attack: str
    held: bool
    detail: str = ""


def _exited_well(ran: Ran) -> str:
    return "" if ran.ok else f"{ran.stdout.decode(errors='replace')}({ran.ending} {ran.code})"


def _few_processes(ran: Ran) -> str:
    made = int(ran.stdout or b"0") if ran.ok else -1
    return (
        "" if 0 < made <= _MOST_PROCESSES and ran.left_over == made else f"{made} processes ({ran.ending} {ran.code})"
    )


def _no_process(ran: Ran) -> str:
    return "" if ran.ok and ran.stdout in (b"", b"0") and not ran.left_over else f"{ran.stdout[:20]!r} processes"


def _killed_or_refused(ran: Ran) -> str:
    return "" if ran.ok or ran.out_of_memory else _exited_well(ran)


def _left_and_charged(ran: Ran) -> str:
    """At least one must have been found and killed; the scheduler decides whether its parent had already ended."""
    return "" if ran.ok and ran.left_over >= 1 else f"{ran.left_over} processes left over ({ran.ending} {ran.code})"


def _cut_off(ran: Ran) -> str:
    return "" if ran.ending == "output" and len(ran.stdout) <= 1 << 20 else f"{len(ran.stdout)} bytes ({ran.ending})"


def _timed_out(ran: Ran) -> str:
    return "" if ran.ending == "timeout" and ran.cpu_s >= _LOOP_CPU_S - _TICK_S else f"{ran.ending} after {ran.cpu_s} s"


_ATTACKS: tuple[tuple[str, str, Callable[[Ran], str]], ...] = (
    ("write", "write a file anywhere", _exited_well),
    ("network", "open a socket, AF_VSOCK included", _exited_well),
    ("pairs", "do more over a pair of sockets than talk to its other end", _exited_well),
    ("read", "read the host's files", _exited_well),
    ("others", "signal, trace or see other processes", _exited_well),
    ("notes", "leave a note for the next run", _exited_well),
    ("namespaces", "enter a new namespace, or mount", _exited_well),
    ("doors", "reach dangerous parts of the kernel", _exited_well),
    ("inherit", "inherit descriptors or environment", _exited_well),
    ("forks", "start any number of processes", _few_processes),
    ("memory", "take any amount of memory", _killed_or_refused),
    ("memories", "take it through many processes", _killed_or_refused),
    ("flood", "write without end", _cut_off),
    ("loop", "run without end", _timed_out),
    ("daemon", "leave a process behind", _left_and_charged),
    ("host", "see a file that other runs see too", _exited_well),
    ("numbers", "read or move a counter of the whole machine", _exited_well),
    ("signals", "send a signal to another process", _exited_well),
    ("modes", "change a file without opening it", _exited_well),
    ("alone", "be more than one process", _exited_well),
)
_IN_TIER_2: dict[str, Callable[[Ran], str]] = {"forks": _no_process, "daemon": _no_process}
# In tier 2 no program forks, the libraries are those of the host, and no command of a repository runs.
_TIER_1_ONLY = ("memories", "host", "pairs")
_TIER_2_ONLY = ("signals", "modes", "alone")
_IN_BUILDS = ("write", "network", "read", "others", "namespaces", "signals", "modes")
# The other attacks run with the host's /usr, as Python programs do, because there is more to attack.
_BARE = ("host", "numbers")


async def self_test(sandbox: Sandbox) -> list[Finding]:
    """Runs every attack that applies to the sandbox's tier, in order, each in its own session.  It takes a second."""
    probe = await own_program(PROBE, sandbox.cache)
    findings = []
    with Blob.of(probe) as artefact, Blob.of(b"given\n") as stdin:
        for name, meaning, judge in _attacks(sandbox):
            job = Job(("{artefact}", name), artefact, stdin, repository=name == "pairs")
            trouble = await _trouble(sandbox, job, judge)
            findings.append(Finding(meaning, not trouble, trouble))
            if sandbox.tier.name == "2" and name in _IN_BUILDS:
                trouble = await _trouble(sandbox, job, judge, sources={"source": ""})
                findings.append(Finding(f"{meaning}, as a build", not trouble, trouble))
    return findings


def _attacks(sandbox: Sandbox) -> Iterator[tuple[str, str, Callable[[Ran], str]]]:
    """(name, what must not be possible, the function that judges the run) of the attacks on the sandbox's tier."""
    senseless = _TIER_2_ONLY if sandbox.forks else _TIER_1_ONLY
    for name, meaning, judge in _ATTACKS:
        if name in senseless or (name == "memories" and sandbox.hierarchy is None):
            continue
        yield name, meaning, judge if sandbox.forks else _IN_TIER_2.get(name, judge)


async def _trouble(
    sandbox: Sandbox, job: Job, judge: Callable[[Ran], str], sources: dict[str, str | bytes] | None = None
) -> str:
    """What an attack achieved, empty if nothing.  The next run must see no trace of the attack either."""
    limited = replace(job, wall_s=10.0, memory_mb=64, stack_mb=8, output_mb=1, processes=_MOST_PROCESSES)
    attack = replace(limited, cpu_s=_LOOP_CPU_S if job.argv[1] == "loop" else 5.0)
    look = replace(limited, argv=("{artefact}", "others"))
    try:
        with anyio.fail_after(_PATIENCE_S):
            async with sandbox.session(job.blobs, Mounts(sources), bare=job.argv[1] in _BARE) as session:
                return judge(await session.run(attack)) or _exited_well(await session.run(look))
    except (MachineError, TimeoutError) as error:
        return f"the sandbox failed ({error or 'no answer'})"


@in_stage("opening")
async def open_safe() -> Sandbox:
    """The sandbox of this machine; UnsafeError if none works or passes the suite."""
    sandbox = await Sandbox.open()
    await require_safe(sandbox)
    return sandbox


async def require_safe(sandbox: Sandbox) -> None:
    """Runs the suite once per boot, kernel, tier and version of the shim; UnsafeError names the attack that succeeded
    and what to do.  If the user asked for no sandbox, there is nothing to test."""
    if sandbox.tier.name == UNSAFE:
        return
    passed = sandbox.cache / f"safe-{_circumstances(sandbox)}"
    if passed.exists():
        return
    for finding in await self_test(sandbox):
        if not finding.held:
            raise UnsafeError(
                f"the sandbox ({sandbox.describe()}) is not safe: a program could {finding.attack}: "
                f"{finding.detail}; nothing was run; see `maxcode doctor`, or try {_other(sandbox)}"
            )
    passed.touch()


def _other(sandbox: Sandbox) -> str:
    return f"the other tier ({VARIABLE}={'2' if sandbox.tier.name == '1' else '1'})"


def _circumstances(sandbox: Sandbox) -> str:
    parts = (
        Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        os.uname().release,
        sandbox.describe(),
        str(os.geteuid()),
        digest_of(SHIM),
        digest_of(PROBE),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]
