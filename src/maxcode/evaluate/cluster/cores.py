"""Processor cores of a slot, and which of them share a physical core."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from maxcode.errors import InputError

_TOPOLOGY = Path("/sys/devices/system/cpu")


def parsed(words: str) -> frozenset[int]:
    """The cores that a text such as ``2-3,8`` names.  InputError if it names none or cannot be read."""
    found: set[int] = set()
    for part in filter(None, (part.strip() for part in words.split(","))):
        low, dash, high = part.partition("-")
        try:
            found |= set(range(int(low), int(high if dash else low) + 1))
        except ValueError:
            raise InputError(f"'{words}' names no cores; write them as 2-3,8") from None
    if not found:
        raise InputError(f"'{words}' names no cores; write them as 2-3,8")
    return frozenset(found)


def shown(cores: Iterable[int]) -> str:
    """Cores as text that ``parsed`` reads."""
    runs: list[list[int]] = []
    for core in sorted(cores):
        if runs and core == runs[-1][1] + 1:
            runs[-1][1] = core
        else:
            runs.append([core, core])
    return ",".join(f"{low}-{high}" if low != high else str(low) for low, high in runs)


def usable() -> frozenset[int]:
    """The cores that this thread may use."""
    return frozenset(os.sched_getaffinity(0))


def physical(cores: Iterable[int], topology: Path = _TOPOLOGY) -> frozenset[int]:
    """These cores and all hardware threads that share a physical core with one of them."""
    return frozenset[int]().union(*(_siblings(core, topology) for core in cores))


def _siblings(core: int, topology: Path) -> frozenset[int]:
    try:
        return parsed((topology / f"cpu{core}" / "topology" / "thread_siblings_list").read_text().strip())
    except OSError:  # the kernel does not say
        return frozenset({core})


def split(
    cores: frozenset[int], slots: int, width: int = 1, topology: Path = _TOPOLOGY
) -> tuple[list[frozenset[int]], frozenset[int]]:
    """Split cores into ``slots`` sets of ``width`` cores, whole physical cores first, and the rest for builds.

    InputError if there are too few cores.
    """
    if slots < 1 or width < 1 or slots * width > len(cores):
        raise InputError(
            f"{slots} slots of {width} cores need {slots * width} cores, and this process may use {len(cores)} "
            f"({shown(cores)}); ask for fewer"
        )
    firsts = [core for core in sorted(cores) if core == min(_siblings(core, topology) & cores)]
    order = [*firsts, *(core for core in sorted(cores) if core not in firsts)][::-1]  # core 0 serves interrupts
    chosen = [frozenset(order[at * width : (at + 1) * width]) for at in range(slots)]
    return chosen[::-1], cores - frozenset[int]().union(*chosen)
