"""Where the numbers come from: node, processor, cores, kernel, compilers."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

from maxcode.languages import LANGUAGES
from maxcode.types import Machine


def describe(sandbox: str) -> Machine:
    """This machine; ``sandbox`` is the tier in words."""
    return Machine(
        node=platform.node(),
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)),
        kernel=f"{platform.system()} {platform.release()}",
        compilers=compilers(),
        sandbox=sandbox,
    )


def compilers() -> dict[str, str]:
    """Language -> the version line of its tool, for the tools that are here."""
    found = {}
    for row in LANGUAGES.values():
        if (path := shutil.which(row.tools[0])) is not None:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            found[row.name] = said.split("\n")[0]
    return found


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def pressure() -> float | None:
    """Share of the last 10 s in which some task waited for a CPU, in per cent; None where the kernel does not say."""
    try:
        words = Path("/proc/pressure/cpu").read_text().split()
    except OSError:
        return None
    return next((float(word[6:]) for word in words if word.startswith("avg10=")), None)
