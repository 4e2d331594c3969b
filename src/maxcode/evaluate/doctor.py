"""What `maxcode doctor` looks at: tools, sandbox and its self-test, the clock's noise, the load."""

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
    """``trouble`` is empty when programs can be run safely.  ``noise``: the paired ratio of a program to itself;
    ``passed_over``: tiers of the sandbox that do not work here, and why; ``groups``: the control groups;
    ``no_counter``: why instructions cannot be counted, empty where they can."""

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
    """Look at this machine; never raises for what it finds.  Takes a few seconds."""
    missing = tuple(package for tool, package in PACKAGES.items() if shutil.which(tool) is None)
    try:
        sandbox = await Sandbox.open()
        if sandbox.tier.name == UNSAFE:  # an attack would be one
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
