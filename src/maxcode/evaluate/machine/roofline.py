"""The rooflines of this machine, measured, for functions that say how much work a call is.

There are two: arithmetic (``peak.c``) and, if the problem gives the bytes of a call, memory (``bandwidth.c``).  They
must never reject an honest program, so every bound is generous: arrays that fit into any cache count as if they were in
the nearest one, and of larger arrays only the rest must come from memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.types import FunctionSpec
from maxcode.errors import InputError
from maxcode.evaluate.ladder.workload import Workload
from maxcode.evaluate.machine.machine import cache_bytes
from maxcode.sandbox.jobs import Blob, Job
from maxcode.sandbox.lanes import timing_lane
from maxcode.sandbox.sandbox import Mounts, Sandbox

_HERE = Path(__file__).parent
_TIMES_THE_CACHE = 4  # size of the array for memory bandwidth, in sizes of the cache
_FAR_AT_MOST = 1 << 30  # bytes; if caches are larger than a quarter of it, only the nearest cache is measured


@final
@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes per second of one core.

    ``near``: of the nearest cache.
    ``far``: of memory; 0 if unknown.
    ``cache``: size of the largest cache in bytes.
    """

    near: float
    far: float
    cache: int

    def least_s(self, shape: Workload) -> float:
        """The least seconds of one core in which the bytes of a pass can be moved.

        The arrays of a round come from memory, except for what a cache can hold; the inputs are fresh, so this applies
        to every round.
        """
        beyond = min(shape.moved, shape.rounds * max(0, shape.held - self.cache))
        return max(shape.moved / self.near, beyond / self.far if self.far else 0.0)

    def roof(self, shapes: Iterable[Workload]) -> float:
        """The highest rate of one core over passes of all shapes, in 1e9 bytes per second; 0 if no shape is given."""
        known = list(shapes)
        least = sum(self.least_s(shape) for shape in known)
        return sum(shape.moved for shape in known) / least / 1e9 if least else 0.0


async def peak_gflops(sandbox: Sandbox, spec: FunctionSpec) -> float:
    """The highest GFLOPS of one core for such a function, measured with independent fused multiply-adds (``peak.c``).

    Measured with doubles; twice as much if the function has arrays of floats, because a vector holds twice as many.
    """
    words = await _measured(sandbox, "peak.c")
    return float(words[0]) * (2 if any(one.ctype == "float" for one in spec.arrays) else 1)


async def memory_of(sandbox: Sandbox, shapes: Sequence[Workload]) -> Bandwidth | None:
    """The rate at which one core can move bytes, measured; None if no shape says how many a call moves."""
    if not any(shape.moved for shape in shapes):
        return None
    cache = cache_bytes()
    far = _far_bytes(cache) if any(shape.held > cache for shape in shapes) else 0
    words = await _measured(sandbox, "bandwidth.c", far)
    return Bandwidth(1e9 * float(words[0]), 1e9 * float(words[1]), cache)


async def memory_gbs(sandbox: Sandbox) -> float:
    """1e9 bytes per second that one core reads from memory, measured; 0 if the caches are unknown or too large."""
    far = _far_bytes(cache_bytes())
    return float((await _measured(sandbox, "bandwidth.c", far))[1]) if far else 0.0


def _far_bytes(cache: int) -> int:
    """The size of an array that no cache holds; 0 if it would be too large."""
    far = _TIMES_THE_CACHE * cache
    return far if far <= _FAR_AT_MOST else 0


async def _measured(sandbox: Sandbox, name: str, size: int = 0) -> list[str]:
    """The output of one of maxcode's programs, built for this machine; ``size`` is its argument, in bytes."""
    argv = ("gcc", "-O3", "-march=native", f"/src/{name}", "-o", "/tmp/out")
    async with sandbox.session([], Mounts({name: (_HERE / name).read_text()})) as session:
        built = await session.run(Job(argv, cpu_s=30, collect=("/tmp/out",)))
    if "/tmp/out" not in built.files:
        raise InputError(f"{name} does not build here: {built.stderr.decode(errors='replace')[:500]}")
    with Blob.of(built.files["/tmp/out"]) as artefact:
        async with timing_lane(), sandbox.session([artefact], bare=True) as session:
            ran = await session.run(Job(("{artefact}", str(size)), artefact, memory_mb=256 + (size >> 20)))
    if not ran.ok:
        raise InputError(f"{name} does not run here: it ended by {ran.ending} {ran.code}")
    return ran.stdout.decode().split()
