"""Predicts the time of a run on many slots, and its bottleneck: a discrete-event simulation with measured costs.

    python benchmarks/simulate.py against --costs RUN [RUN ...] --runs RUN [RUN ...]
    python benchmarks/simulate.py play [--budget 24] [--slots 1 2]
    python benchmarks/simulate.py check PROBLEM --out FOLDER [--budget 16] [--slots 1 2] [--shared-cores]
    python benchmarks/simulate.py scale --costs RUN [RUN ...] --runs RUN [RUN ...] [--answer-s 20] [--calls 64]
                                        [--figure FILE.svg]

RUN is a run folder.  Costs come from runs of one candidate at a time (`--method refine`), in which nothing overlaps.

against: recorded figures against predicted ones.  The work (candidates, passes, contests) comes from the record; its
time comes from the costs of other runs and the model of waiting.  Costs are those of an idle machine; "off_at_pressure"
is the error after every second is stretched by the recorded CPU pressure.
play: the same for the real loop with an evaluator that only waits, which a busy machine does not disturb.
check: the same on real nodes: a run of one candidate at a time on one slot for the costs, then runs of two methods on
--cluster local:N, N of them.  Every run has as many cores as slots, so a slot builds for itself.
scale: candidates per hour from 1 to 1,000 slots, and the resource that gains most if it is doubled or twice as fast;
the seconds of an answer, of an engine and of a scheduler are given.

All of them write their output to --json FILE.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from sizing.costs import Costs, measured
from sizing.figure import draw
from sizing.model import Site, search
from sizing.play import SEARCHES, played, shrunk, usual
from sizing.scale import SLOTS, USES, Pool, Sizes, sized
from sizing.workload import Recorded, recorded

PROMISE = 0.15
FASTER = 4  # played runs are so much shorter than real ones

Row = dict[str, Any]


def compared(run: Recorded, costs: Costs, site: Site) -> Row:
    """One run, recorded and predicted."""
    found = search([run.rounds], costs, site)
    waited = found.seconds / (1 - (run.pressure or 0.0) / 100)
    return {
        "problem": run.problem,
        "method": run.method,
        "run": run.folder.name,
        "slots": site.slots,
        "candidates": run.candidates,
        "recorded_s": round(run.seconds, 2),
        "predicted_s": round(found.seconds, 2),
        "off": round(found.seconds / run.seconds - 1, 4),
        "pressure": run.pressure,
        "off_at_pressure": round(waited / run.seconds - 1, 4) if run.pressure is not None else None,
    }


def against(options: argparse.Namespace) -> Iterator[Row]:
    costs = measured([recorded(folder) for folder in options.costs])
    print(costs, "\n")
    for folder in options.runs:
        yield compared(recorded(folder), costs, Site())


def play(options: argparse.Namespace) -> Iterator[Row]:
    costs = shrunk(usual(), FASTER)
    with tempfile.TemporaryDirectory() as scratch:
        alone = played("refine", options.budget, costs, Site(), Path(scratch) / "alone")
        known = measured([alone])
        for name in SEARCHES:
            for slots in options.slots:
                site = Site(slots=slots, builders=slots)
                folder = Path(scratch) / f"{name}-{slots}"
                yield compared(played(name, options.budget, costs, site, folder), known, site)


def check(options: argparse.Namespace) -> Iterator[Row]:
    alone = real(options, "refine", 1)
    known = measured([recorded(alone)])
    print(known, "\n")
    (slot,) = json.loads((alone / "cluster.json").read_text())["slots"]
    for method in ("best-of-n", "cuda-llm"):
        for slots in options.slots:
            site = Site(slots=slots, builders=0, admit_s=slot["seconds"]["admitting"])
            yield compared(recorded(real(options, method, slots)), known, site)


def real(options: argparse.Namespace, method: str, slots: int) -> Path:
    """The folder of a run on this number of slots; the run is made if it is missing."""
    folder: Path = options.out / f"{method}-{slots}"
    command = [sys.executable, "-m", "maxcode", "optimize", str(options.problem), "--cluster", f"local:{slots}"]
    command += ["--method", method, "--budget", str(options.budget), "--no-certificate", "--out", str(folder)]
    command += ["--shared-cores"] if options.shared_cores else []
    if not (folder / "result.json").exists():
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:slots]))
        subprocess.run(["taskset", "--cpu-list", cores, *command], check=True, stdout=subprocess.DEVNULL)
    return folder


def scale(options: argparse.Namespace) -> Iterator[Row]:
    costs = replace(measured([recorded(folder) for folder in options.costs]), propose_s=options.answer_s)
    costs = replace(costs, engine_s=options.engine_s)
    pool = Pool.of([recorded(folder) for folder in options.runs])
    sizes = Sizes(calls=options.calls, scheduler_s=options.scheduler_s)
    print(costs, sizes, "\n", sep="\n")
    for use in options.uses:
        for slots in options.slots:
            one = sized(use, slots, pool, costs, sizes)
            first, gain = next(iter(one.gains.items()))
            shares = {name: round(share, 3) for name, share in one.found.shares.items()}
            yield {
                "use": use,
                "slots": slots,
                "per_hour": round(one.found.per_hour),
                "slots_busy": shares["slots"],
                "gains_most": first if gain > 1.05 else "nothing",
                "gain": round(gain, 2),
                "shares": shares,
                "gains": {name: round(value, 3) for name, value in one.gains.items()},
            }


def table(rows: Iterator[Row]) -> list[Row]:
    """Prints rows as they come, without nested values."""
    kept: list[Row] = []
    for row in rows:
        shown = {name: value for name, value in row.items() if not isinstance(value, dict)}
        if not kept:
            print(" | ".join(shown))
        print(" | ".join(_cell(name, value) for name, value in shown.items()), flush=True)
        kept.append(row)
    return kept


def _cell(name: str, value: Any) -> str:
    if name.startswith("off") and value is not None:
        return f"{value:+.1%}"
    if name == "slots_busy":
        return f"{value:.0%}"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def summary(rows: Sequence[Row]) -> str:
    off = [abs(row["off"]) for row in rows]
    within = sum(one <= PROMISE for one in off)
    return f"\n{within} of {len(off)} within {PROMISE:.0%}; median {median(off):.1%}, worst {max(off):.1%}"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    for verb in (against, play, check, scale):
        one = verbs.add_parser(verb.__name__)
        one.set_defaults(verb=verb)
        one.add_argument("--json", type=Path)
        if verb in (against, scale):
            one.add_argument("--costs", type=Path, nargs="+", required=True)
            one.add_argument("--runs", type=Path, nargs="+", required=True)
        if verb in (play, check):
            one.add_argument("--budget", type=int, default=24 if verb is play else 16)
            one.add_argument("--slots", type=int, nargs="+", default=[1, 2])
        if verb is check:
            one.add_argument("problem", type=Path)
            one.add_argument("--out", type=Path, required=True)
            one.add_argument("--shared-cores", action="store_true")
        if verb is scale:
            _of_scale(one)
    return parser.parse_args()


def _of_scale(one: argparse.ArgumentParser) -> None:
    one.add_argument("--slots", type=int, nargs="+", default=SLOTS)
    one.add_argument("--uses", nargs="+", default=list(USES), choices=list(USES))
    one.add_argument("--answer-s", type=float, default=20.0)
    one.add_argument("--calls", type=int, default=64)
    one.add_argument("--engine-s", type=float, default=0.02)
    one.add_argument("--scheduler-s", type=float, default=0.007)
    one.add_argument("--figure", type=Path)


def main() -> None:
    chosen = options()
    verb: Callable[[argparse.Namespace], Iterator[Row]] = chosen.verb
    rows = table(verb(chosen))
    if verb is not scale:
        print(summary(rows))
    elif chosen.figure is not None:
        draw(rows, chosen.figure)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
