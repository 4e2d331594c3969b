"""A description of this machine: node, processor, cores, caches, instruction sets, kernel, compilers."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from maxcode.code.languages import LANGUAGES
from maxcode.core.types import Machine

# The kernel's name of an instruction set -> the name that compilers use.  x86 first, then ARM.
_ISA = {
    "sse4_2": "sse4.2",
    "popcnt": "popcnt",
    "bmi2": "bmi2",
    "avx": "avx",
    "avx2": "avx2",
    "fma": "fma",
    "f16c": "f16c",
    "avx512f": "avx512f",
    "avx512dq": "avx512dq",
    "avx512bw": "avx512bw",
    "avx512vl": "avx512vl",
    "avx512_vnni": "avx512vnni",
    "avx512vbmi": "avx512vbmi",
    "avx512_vbmi2": "avx512vbmi2",
    "avx512_vpopcntdq": "avx512vpopcntdq",
    "avx512_bf16": "avx512bf16",
    "gfni": "gfni",
    "amx_tile": "amx-tile",
    "asimd": "neon",
    "asimdhp": "fp16",
    "asimddp": "dotprod",
    "sve": "sve",
    "sve2": "sve2",
}
_CPUINFO = Path("/proc/cpuinfo")
_SIZE = re.compile(r"(\d+)([KMG]?)")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def describe(sandbox: str) -> Machine:
    """This machine; ``sandbox`` is the tier as text."""
    return Machine(
        node=platform.node(),
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)),
        kernel=f"{platform.system()} {platform.release()}",
        compilers=compilers(),
        sandbox=sandbox,
        caches=caches(_CACHES),
        isa=instruction_sets(_read(_CPUINFO)),
    )


def compilers() -> dict[str, str]:
    """Language -> the version line of its tool, for the installed tools."""
    paths = {row: path for row in LANGUAGES.values() if (path := shutil.which(row.tools[0])) is not None}
    asked = {row.name: _asked([path, *row.version]) for row, path in paths.items()}  # all at once: Java takes its time
    return {name: process.communicate()[0].split("\n")[0] for name, process in asked.items()}


def _asked(argv: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def caches(folder: Path) -> dict[str, str]:
    """Name -> size, the nearest first, read from a ``cache`` folder of /sys; empty if there is none.

    Instruction caches are left out, because the speed of programs depends mostly on data.
    """
    found = {}
    for index in folder.glob("index*"):
        level, kind, size = (_read(index / name).strip() for name in ("level", "type", "size"))
        if level and size and kind != "Instruction":
            found[f"L{level}{'d' if kind == 'Data' else ''}"] = size
    return dict(sorted(found.items()))


def cache_bytes() -> int:
    """The size of the largest cache; 0 if the kernel does not report it."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    found = (_SIZE.fullmatch(size) for size in caches(_CACHES).values())
    return max((int(one[1]) * units.get(one[2], 1) for one in found if one is not None), default=0)


def instruction_sets(cpuinfo: str) -> tuple[str, ...]:
    """The instruction sets that matter for speed, from the text of /proc/cpuinfo; empty if it names none."""
    lines = (line.partition(":") for line in cpuinfo.splitlines())
    flags = next((value.split() for key, _, value in lines if key.strip() in ("flags", "Features")), [])
    return tuple(name for flag, name in _ISA.items() if flag in flags)


def _cpu() -> str:
    lines = (line.partition(":") for line in _read(_CPUINFO).splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == "model name"), platform.machine())


def _read(path: Path) -> str:
    """The file's text; empty if it cannot be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


BUSY = 10.0  # per cent of CPU pressure; from here on measurements vary more
BUSY_NOTE, BUSY_STAMP = "the machine is busy", "busy machine"  # the start of notes on a run, and on a timing


def pressure() -> float | None:
    """CPU pressure over the last 10 s, in per cent; None if the kernel does not report it."""
    try:
        words = Path("/proc/pressure/cpu").read_text().split()
    except OSError:
        return None
    return next((float(word[6:]) for word in words if word.startswith("avg10=")), None)


def stalled_s() -> float | None:
    """Seconds since boot in which some task waited for a processor; None if the kernel does not report it.

    The difference of two reads gives the exact CPU pressure between them; averages contain what was before.
    """
    found = _STALLED.search(_read(Path("/proc/pressure/cpu")))
    return int(found[1]) / 1e6 if found is not None else None


_STALLED = re.compile(r"^some .*\btotal=(\d+)", re.MULTILINE)
