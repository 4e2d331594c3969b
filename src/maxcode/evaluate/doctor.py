"""What `maxcode doctor` checks: tools, the sandbox and its self-test, the noise of the clock, the load."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import final

from maxcode.core.types import Interval, Machine
from maxcode.errors import MaxcodeError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.instruction_count import no_counter
from maxcode.evaluate.machine.machine import describe, pressure
from maxcode.evaluate.noise import control
from maxcode.sandbox.cgroup import Groups, survey
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.selftest import Finding, self_test
from maxcode.sandbox.tiers import UNSAFE, VARIABLE

PACKAGES = {"bwrap": "bubblewrap", "gcc": "gcc", "g++": "g++", "addr2line": "binutils", "/usr/bin/python3": "python3"}
_NONE = f"there is no sandbox, as {VARIABLE}={UNSAFE} demands; nothing was tested"


@final
@dataclass(frozen=True, slots=True)
class Checkup:
    """The result of a check of this machine.

    ``noise``: the paired ratio of a program to itself.
    ``trouble``: empty if programs can run safely.
    ``passed_over``: tiers of the sandbox that do not work here, and why.
    ``groups``: the control groups.
    ``no_counter``: why instructions cannot be counted; empty if they can.
    """

    machine: Machine
    missing: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    noise: Interval | None = None
    pressure: float | None = None
    trouble: tuple[str, ...] = field(default=())
    passed_over: tuple[str, ...] = ()
    groups: Groups = field(default_factory=survey)
    no_counter: str = field(default_factory=no_counter)

    @property
    def is_safe(self) -> bool:
        return not self.trouble


async def checkup() -> Checkup:
    """Check this machine; takes a few seconds.  A problem is part of the result, never an exception."""
    missing = tuple(package for tool, package in PACKAGES.items() if shutil.which(tool) is None)
    try:
        sandbox = await Sandbox.open()
        if sandbox.tier.name == UNSAFE:  # without a sandbox an attack of the self-test would succeed
            return Checkup(describe(sandbox.describe()), missing, pressure=pressure(), trouble=(_NONE,))
        if sandbox.tier.name != "1":
            missing = tuple(one for one in missing if one != PACKAGES["bwrap"])
        findings = tuple(await self_test(sandbox))
        trouble = tuple(f"a program could {f.attack}: {f.detail}" for f in findings if not f.held)
        noise = None if missing else await control(sandbox, Builder(sandbox, sandbox.cache))
    except MaxcodeError as error:
        return Checkup(describe("none"), missing, pressure=pressure(), trouble=(str(error),))
    machine = describe(sandbox.describe())
    return Checkup(machine, missing, findings, noise, pressure(), trouble, sandbox.passed_over)
