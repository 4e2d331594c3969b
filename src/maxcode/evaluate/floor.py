"""The process floor: the CPU time of a program that does nothing but read its input, in the same kind of session.

Measured once per boot of a machine and kept in the cache folder; the least of many runs, because a floor that is too
high would refuse what is honest.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

import msgspec

from maxcode.errors import MachineError
from maxcode.evaluate.sandbox import Blob, Job, Sandbox

MARGIN = 0.5  # what takes less than this share of a floor is below it
_RUNS = 15
_READ_MB = 8
_HERE = Path(__file__).parent
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@final
@dataclass(frozen=True, slots=True)
class Floor:
    """CPU seconds to start and end a process, and to read one byte of standard input."""

    start_s: float
    byte_s: float

    def reading(self, sizes: tuple[int, ...]) -> float:
        """The CPU seconds of one process for each input of these sizes, in bytes."""
        return len(sizes) * self.start_s + sum(sizes) * self.byte_s


async def process_floor(sandbox: Sandbox) -> Floor:
    """This machine's floor in the sandbox's tier, from the cache where it was measured since the last boot."""
    path = sandbox.cache / f"floor-{_boot()}-{sandbox.tier.name}.json"
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(path.read_bytes(), type=Floor)
    found = await _measured(sandbox)
    scratch = path.with_suffix(".new")
    scratch.write_bytes(msgspec.json.encode(asdict(found)))
    scratch.replace(path)
    return found


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError as error:
        raise MachineError(f"cannot read {_BOOT}: {error.strerror}; Linux is needed") from error


async def _measured(sandbox: Sandbox) -> Floor:
    argv = ("gcc", "-O2", "/src/floor.c", "-o", "/tmp/out")
    async with sandbox.session([], sources={"floor.c": (_HERE / "floor.c").read_text()}) as session:
        built = await session.run(Job(argv, cpu_s=30, collect=("/tmp/out",)))
    if "/tmp/out" not in built.files:
        raise MachineError(f"floor.c does not build here: {built.stderr.decode(errors='replace')[:500]}")
    size = _READ_MB << 20
    with Blob.of(built.files["/tmp/out"]) as artefact, Blob.of(b"") as nothing, Blob.of(b"7\n" * (size // 2)) as much:
        async with sandbox.session([artefact, nothing, much], bare=True) as session:
            seconds = {
                given.size: min(
                    [(await session.run(Job(("{artefact}",), artefact, given))).cpu_s for _ in range(_RUNS)]
                )
                for given in (nothing, much)
            }
    return Floor(seconds[0], max(0.0, seconds[size] - seconds[0]) / size)
