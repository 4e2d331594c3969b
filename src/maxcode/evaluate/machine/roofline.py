"""What this machine can do at most, measured, for functions that say how much work a call is.

Two roofs: arithmetic (``peak.c``) and, where the problem gives the bytes of a call, memory (``bandwidth.c``).  Neither
may ever reject what is honest, so every bound is on the generous side: arrays may lie in the nearest cache as long as
they fit into any of them, and of what fits into none only the rest must come out of memory.
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
from maxcode.sandbox.sandbox import Sandbox

_HERE = Path(__file__).parent
_TIMES_THE_CACHE = 4  # so large is what memory's bandwidth is measured on
_FAR_AT_MOST = 1 << 30  # bytes: where caches are larger than a quarter of it, that of the nearest cache alone is used


@final
@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes a second of one core: ``near``, of the nearest cache; ``far``, of memory, 0 where it is not known.
    ``cache``: the size of the largest cache in bytes."""

    near: float
    far: float
    cache: int

    def least_s(self, shape: Workload) -> float:
        """The least seconds of one core in which the bytes of a pass can be moved.

        What a round of calls has in its arrays comes out of memory, but for what a cache can hold of it; the inputs are
        fresh, so every round has to.
        """
        beyond = min(shape.moved, shape.rounds * max(0, shape.held - self.cache))
        return max(shape.moved / self.near, beyond / self.far if self.far else 0.0)

    def roof(self, shapes: Iterable[Workload]) -> float:
        """1e9 bytes a second of one core that are possible at most over passes of all shapes; 0 where none is given."""
        known = list(shapes)
        least = sum(self.least_s(shape) for shape in known)
        return sum(shape.moved for shape in known) / least / 1e9 if least else 0.0


async def peak_gflops(sandbox: Sandbox, spec: FunctionSpec) -> float:
    """What one core of this machine can do at most for such a function, measured with independent fused multiply-adds
    of doubles (``peak.c``); twice as much where it has arrays of floats, of which a vector holds twice as many."""
    words = await _measured(sandbox, "peak.c")
    return float(words[0]) * (2 if any(one.ctype == "float" for one in spec.arrays) else 1)


async def memory_of(sandbox: Sandbox, shapes: Sequence[Workload]) -> Bandwidth | None:
    """How fast one core can move bytes, measured; None where no shape says how many a call moves."""
    if not any(shape.moved for shape in shapes):
        return None
    cache = cache_bytes()
    far = _TIMES_THE_CACHE * cache if any(shape.held > cache for shape in shapes) else 0
    words = await _measured(sandbox, "bandwidth.c", far if far <= _FAR_AT_MOST else 0)
    return Bandwidth(1e9 * float(words[0]), 1e9 * float(words[1]), cache)


async def _measured(sandbox: Sandbox, name: str, size: int = 0) -> list[str]:
    """What one of our programs prints, built for this machine; ``size`` is its argument, in bytes."""
    argv = ("gcc", "-O3", "-march=native", f"/src/{name}", "-o", "/tmp/out")
    async with sandbox.session([], sources={name: (_HERE / name).read_text()}) as session:
        built = await session.run(Job(argv, cpu_s=30, collect=("/tmp/out",)))
    if "/tmp/out" not in built.files:
        raise InputError(f"{name} does not build here: {built.stderr.decode(errors='replace')[:500]}")
    with Blob.of(built.files["/tmp/out"]) as artefact:
        async with timing_lane(), sandbox.session([artefact], bare=True) as session:
            ran = await session.run(Job(("{artefact}", str(size)), artefact, memory_mb=256 + (size >> 20)))
    if not ran.ok:
        raise InputError(f"{name} does not run here: it ended by {ran.ending} {ran.code}")
    return ran.stdout.decode().split()
