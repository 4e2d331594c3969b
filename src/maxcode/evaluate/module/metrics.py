"""Metrics of Nsight Compute for a candidate's kernels, as remarks; needs `ncu` with access to the counters.

For diagnosis only, in a session in which nothing is timed.  Often only administrators may read the counters; then there
are no such remarks, and nothing else changes.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
from dataclasses import replace
from pathlib import Path

from maxcode.core.types import Remark
from maxcode.evaluate.module.resources import kernel_lines, plain
from maxcode.evaluate.module.sides import ModuleSide, SideStarter

METRICS = {
    "gpu__time_duration.sum": "time",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "arithmetic",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps",
}
LAUNCHES, KERNELS_KEPT = 60, 8
NCU = "/opt/ncu"  # in the sandbox, if the host's is outside of /usr
_INSTALLED = "/opt/nvidia/nsight-compute"  # the toolkit's own ncu is a script that looks there
_NANOSECONDS = {"ns": 1.0, "nsecond": 1.0, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6}


def find_ncu() -> Path | None:
    """The path of the program, if it is installed."""
    if placed := sorted(Path(_INSTALLED).glob("*/ncu"), key=_version):
        return placed[-1]
    found = shutil.which("ncu") or shutil.which("ncu", path=f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/bin")
    return Path(found).resolve() if found else None


def _version(ncu: Path) -> list[int]:
    return [int(part) for part in ncu.parent.name.split(".") if part.isdigit()]


async def metrics(stage: SideStarter, side: ModuleSide) -> tuple[Remark, ...]:
    """How far each kernel of one call uses the GPU, the longest first; empty if there is no ncu, or no output of it."""
    ncu = find_ncu()
    if ncu is None or not stage.on_device:
        return ()
    shown = () if ncu.is_relative_to("/usr") else ((ncu.parent, NCU),)
    path = str(ncu) if not shown else f"{NCU}/{ncu.name}"
    stage = replace(stage, runtime=replace(stage.runtime, binds=(*stage.runtime.binds, *shown)))
    job = stage.job("once")
    words = ("--csv", "--launch-count", str(LAUNCHES), "--metrics", ",".join(METRICS), *job.argv)
    async with stage.sandbox.session([], stage.mounts(side)) as session:
        ran = await session.run(replace(job, argv=(path, *words)))
    return told(ran.stdout.decode(errors="replace"), side.text)


def told(said: str, text: str) -> tuple[Remark, ...]:
    """The remarks in the output of ``ncu --csv``; ``text``: the program, for the lines of its kernels."""
    start = said.find('"ID"')
    rows = list(csv.DictReader(io.StringIO(said[start:]))) if start >= 0 else []
    launches: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        name, kind = row.get("Kernel Name") or "", METRICS.get(row.get("Metric Name") or "", "")
        value = _number(row.get("Metric Value") or "")
        if name and kind and value is not None:
            scale = _NANOSECONDS.get(row.get("Metric Unit") or "", 1.0) if kind == "time" else 1.0
            launches.setdefault((row.get("ID") or "", name), {})[kind] = value * scale
    whole = [(name, found) for (_, name), found in launches.items() if found.keys() >= set(METRICS.values())]
    lines = kernel_lines(text)
    ranked = sorted(whole, key=lambda one: -one[1]["time"])[:KERNELS_KEPT]
    return tuple(_remark(name, found, lines) for name, found in ranked)


def _remark(name: str, found: dict[str, float], lines: dict[str, int]) -> Remark:
    own = plain(name.partition("(")[0].strip(), lines)
    words = (
        f"{found['time'] / 1e3:.1f} us, {found['memory']:.0f} % of the memory bandwidth, "
        f"{found['arithmetic']:.0f} % of the arithmetic, {found['warps']:.0f} % of the warps active"
    )
    return Remark(lines.get(own, 0), "used", f"kernel `{own[:120]}`: {words}")


def _number(word: str) -> float | None:
    try:
        return float(word.replace(",", ""))
    except ValueError:
        return None
