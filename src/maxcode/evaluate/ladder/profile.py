"""Profiles a run: the share of samples by line of the program.

The run is sampled from outside (``shim_sampler.h``).  addr2line turns addresses into lines, in the sandbox too, because
it reads a file compiled from a candidate.  Time inside a library counts for the line that called it.  For diagnosis
only: nothing here is ever a timing.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from maxcode.code.languages import language
from maxcode.core.phases import during
from maxcode.core.printable import printable
from maxcode.core.types import Hotspot, Problem
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.original_runs import original_run
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.verify import job_for
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Sample, Sandbox

ENOUGH_SAMPLES = 200
RUNS_AT_MOST = 4
SPOTS_KEPT = 12
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")
_LOCATION = re.compile(r"^(.*):(\d{1,9}|\?)(?: \(discriminator \d+\))?$")


@during("profile of the program")
async def hotspots(sandbox: Sandbox, problem: Problem, built: Built, inputs: Sequence[Input]) -> tuple[Hotspot, ...]:
    """The lines where a correct program spends its time, largest share first; empty if it cannot be sampled.

    Uses the slowest test that the policy may see, else the slowest of all.
    """
    if built.artefact is None or not language(problem.language).native or not inputs:
        return ()
    if inputs[0].workload.called:  # the profile would show the driver, and so short calls get few samples
        return ()
    seen = [given for given in inputs if given.seen and given.seconds >= 0.005]
    given = max(seen or inputs, key=lambda one: one.seconds)
    samples: list[Sample] = []
    async with sandbox.session([built.artefact, given.stdin], Mounts(data=problem.spec.data)) as session:
        for _ in range(RUNS_AT_MOST):
            with original_run(given.name):
                ran = await session.run(job_for(problem, built.artefact, given, profile=True))
            samples += ran.samples
            if not ran.samples or len(samples) >= ENOUGH_SAMPLES:
                break
    places = await _places(sandbox, built.artefact, sorted({at for s in samples if (at := _address(s)) is not None}))
    return _shares(samples, places, problem.program.name)


def _address(sample: Sample) -> int | None:
    """The address to look up: that of the program, or of the call into a library."""
    if not sample.module:
        return sample.address
    return sample.callers[0] - 1 if sample.callers else None


async def _places(sandbox: Sandbox, artefact: Blob, addresses: list[int]) -> dict[int, _Place]:
    """Address -> (innermost function, line of the program's own source, 0 if none, the file of that line)."""
    if not addresses:
        return {}
    with Blob.of("".join(f"{at:#x}\n" for at in addresses).encode()) as asked:
        argv = ("addr2line", "-a", "-i", "-f", "-C", "-e", "/src/program")
        job = Job(argv=argv, stdin=asked, cpu_s=20, wall_s=62, memory_mb=2048, output_mb=16, processes=4)
        async with sandbox.session([asked], Mounts({"program": artefact.read()})) as session:
            ran = await session.run(job)
    return dict(_parsed(ran.stdout.decode(errors="replace"))) if ran.ok else {}


_Place = tuple[str, int, str]


def _parsed(text: str) -> Iterator[tuple[int, _Place]]:
    """The output of addr2line: an address, then (function, location) for every inlined frame, innermost first."""
    for block in re.split(r"^(?=0x)", text, flags=re.MULTILINE):
        head, *rest = block.splitlines() or [""]
        if not _ADDRESS.fullmatch(head) or not rest:
            continue  # the program chooses its names: one can look like an address
        line, file = 0, ""
        for location in rest[1::2]:
            match = _LOCATION.match(location)
            if match and match[1].startswith("/src/") and match[2] != "?":
                line, file = int(match[2]), posixpath.normpath(match[1]).removeprefix("/src/")
                break
        yield int(head, 16), (rest[0], line, file)


def _shares(samples: Sequence[Sample], places: dict[int, _Place], first: str) -> tuple[Hotspot, ...]:
    """``first``: the file whose lines are named; of another one only the file is."""
    counts: Counter[_Place] = Counter()
    spent: Counter[_Place] = Counter()
    for sample in samples:
        at = _address(sample)
        function, line, file = places.get(at, ("", 0, "")) if at is not None else ("", 0, "")
        is_first = file in ("", first)
        place = (sample.module or function or "?", line if is_first else 0, "" if is_first else file[:200])
        counts[place] += 1
        spent[place] += sample.cpu_ns
    total = sum(spent.values())
    return tuple(
        Hotspot(printable(place[0][:120]), place[1], round(ns / total, 4), counts[place], printable(place[2]))
        for place, ns in spent.most_common(SPOTS_KEPT)
    )
