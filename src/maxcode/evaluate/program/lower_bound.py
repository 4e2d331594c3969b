"""Lower bounds of CPU time: of a program that only reads its input, and of calls of a function that does nothing.

Each is measured in the same kind of session as a timed run.  The least of many runs counts, because too high a bound
would reject honest programs.  The bound of a process is measured once per boot of a machine and kept in the cache
folder.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

import msgspec

from maxcode.code.languages import LANGUAGES, Language
from maxcode.core.files import write_whole
from maxcode.errors import MachineError
from maxcode.evaluate.function.function import spec_of
from maxcode.evaluate.function.glue import empty_driver
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.verify import job_for
from maxcode.sandbox.lanes import timing_lane
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Sandbox

MARGIN = 0.5  # a time is too short if it is below this share of a lower bound
_RUNS, _PASSES = 15, 5
_READ_MB = 8
_HERE = Path(__file__).parent
_PYTHON = "python"  # the runtime of the program that follows
_READS = b"import os\nwhile os.read(0, 65536):\n    pass\n"  # lower_bound.c in Python
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@final
@dataclass(frozen=True, slots=True)
class Floor:
    """CPU seconds to start and end a process (``start_s``), and to read one byte of standard input (``byte_s``)."""

    start_s: float
    byte_s: float

    def reading(self, sizes: tuple[int, ...]) -> float:
        """CPU seconds of one process for each input of these sizes, in bytes."""
        return len(sizes) * self.start_s + sum(sizes) * self.byte_s


@final
@dataclass(frozen=True, slots=True)
class LowerBound:
    """The least CPU seconds of a pass over the timed inputs.

    ``of``: what was measured for it, as text.
    ``reading_s``: with the time to read the inputs; 0 if unknown.
    """

    least_s: float
    of: str
    reading_s: float = 0.0


async def process_floor(sandbox: Sandbox, tongue: Language = LANGUAGES["c"]) -> Floor:
    """The floor of a process in the sandbox's tier: of Python's interpreter with a program that only reads if the
    language is Python, else of a compiled program.  From the cache if it was measured since the last boot."""
    of = f"-{tongue.name}" if tongue.runtime == _PYTHON else ""
    path = sandbox.cache / f"floor-{_boot()}-{sandbox.tier.name}{of}.json"
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(path.read_bytes(), type=Floor)
    found = await _measured(sandbox, tongue)
    write_whole(path, msgspec.json.encode(asdict(found)))
    return found


async def floor_of(sandbox: Sandbox, tongue: Language) -> Floor:
    """The floor of a program in a language, for prompts and advice; zero for a runtime whose start is not measured."""
    if tongue.runtime not in ("", _PYTHON):
        return Floor(0.0, 0.0)
    return await process_floor(sandbox, tongue)


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError as error:
        raise MachineError(f"cannot read {_BOOT}: {error.strerror}; Linux is needed") from error


async def empty_pass_s(sandbox: Sandbox, admitted: Admitted) -> float:
    """CPU seconds of a pass over the timed sizes of a function whose calls do nothing; the least of some passes."""
    text = empty_driver(spec_of(admitted.problem))
    with await _built(sandbox, "empty.c", text) as artefact:
        total = 0.0
        for given in admitted.timed:
            async with sandbox.session([artefact, given.stdin], bare=True) as session:
                runs = [await session.run(job_for(admitted.problem, artefact, given)) for _ in range(_PASSES)]
            if not all(ran.ok for ran in runs):
                raise MachineError(f"calls that do nothing failed: ended by {runs[-1].ending} {runs[-1].code}")
            total += min(ran.cpu_s for ran in runs)
    return total


async def _built(sandbox: Sandbox, name: str, text: str) -> Blob:
    argv = ("gcc", "-O2", f"/src/{name}", "-o", "/tmp/out")
    async with sandbox.session([], Mounts({name: text})) as session:
        built = await session.run(Job(argv, cpu_s=30, collect=("/tmp/out",)))
    if "/tmp/out" not in built.files:
        raise MachineError(f"{name} does not build here: {built.stderr.decode(errors='replace')[:500]}")
    return Blob.of(built.files["/tmp/out"])


async def _measured(sandbox: Sandbox, tongue: Language) -> Floor:
    size, is_python = _READ_MB << 20, tongue.runtime == _PYTHON
    text = (_HERE / "lower_bound.c").read_text()
    program = Blob.of(_READS) if is_python else await _built(sandbox, "lower_bound.c", text)
    with program as artefact, Blob.of(b"") as nothing, Blob.of(b"7\n" * (size // 2)) as much:
        blobs, run = [artefact, nothing, much], tongue.run if is_python else ("{artefact}",)
        runtime = _PYTHON if is_python else ""
        async with timing_lane(), sandbox.session(blobs, bare=not is_python, runtime=runtime) as session:
            seconds = {
                given.size: min([(await session.run(Job(run, artefact, given))).cpu_s for _ in range(_RUNS)])
                for given in (nothing, much)
            }
    return Floor(seconds[0], max(0.0, seconds[size] - seconds[0]) / size)
