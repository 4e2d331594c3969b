"""KernelBench without a GPU: how many problems run with reduced shapes, and which gains are possible there.

    python benchmarks/kernelbench_cpu.py count              levels 1 and 2, each reference run in the sandbox
    python benchmarks/kernelbench_cpu.py count --levels 1
    python benchmarks/kernelbench_cpu.py time --policy modules --budget 12 kernelbench:1/19 kernelbench:2/14
    python benchmarks/kernelbench_cpu.py time --sources ten.json        {"files": {"level1": ["19_ReLU.py", ...]}}

`count` needs $MAXCODE_KERNELBENCH (see `maxcode optimize kernelbench:1/1`).  Both resume: a recorded line of
OUT/*.jsonl is not made again.  Tables go to stdout, and as JSON to OUT/count.json and OUT/time.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import anyio

from maxcode.core.stats import median_interval
from maxcode.core.types import Problem
from maxcode.errors import Interrupted, MaxcodeError
from maxcode.evaluate.module.contract import plans
from maxcode.evaluate.module.module_constants import replaced
from maxcode.evaluate.module.sides import REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import open_track
from maxcode.evaluate.rounds.round import RoundFailed
from maxcode.problems import expanded, load
from maxcode.problems.kernelbench import PREFIX
from maxcode.problems.small_shapes import SMALL, ShapeRow, shaped, shrink_sources
from maxcode.run.job import optimize_source
from maxcode.run.request import Request
from maxcode.run.result import RunResult
from maxcode.sandbox.sandbox import Sandbox

Cells = dict[str, Any]
BASELINE_PAIRS, WARM_UP_PAIRS = 15, 2


def main() -> None:
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.what == "count":
        listing = expanded(Path(f"{PREFIX}{level}") for level in options.levels)
        sources = [one.path for one in listing.sources]
        rows = resumed(options.out / "count.jsonl", sources, counted)
        summary = totals(rows)
        show_count(rows, summary)
        written(options.out / "count.json", {"totals": summary, "rows": rows})
    else:
        named = [Path(f"{PREFIX}{name}") for name in listed(options.sources)]
        file = options.out / f"time-{label(options)}.jsonl"
        rows = resumed(file, [*named, *options.problems], lambda source: timed(source, options))
        show_time(rows)
        written(options.out / "time.json", {"policy": options.policy, "budget": options.budget, "rows": rows})


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/kernelbench"))
    verbs = parser.add_subparsers(dest="what", required=True)
    count = verbs.add_parser("count")
    count.add_argument("--levels", type=int, nargs="+", default=[1, 2])
    best = verbs.add_parser("time")
    best.add_argument("problems", nargs="*", type=Path, help="kernelbench:LEVEL/ID, or files")
    best.add_argument("--sources", type=Path, help="a JSON file that names files by level")
    best.add_argument("--policy", default="", help="as in maxcode optimize")
    best.add_argument("--method", default="")
    best.add_argument("--budget", type=int, default=12)
    best.add_argument("--seed", type=int, default=0)
    best.add_argument("--shapes", default=SMALL)
    return parser.parse_args()


def label(options: argparse.Namespace) -> str:
    """The settings of a row apart from its problem, as part of a file name."""
    words = (
        options.policy or "usual",
        options.method or "usual",
        options.budget,
        options.seed,
        options.shapes or "own",
    )
    return re.sub(r"[^\w.-]+", "_", "-".join(map(str, words)))


def listed(path: Path | None) -> list[str]:
    """LEVEL/NAME of every file that a JSON file names."""
    found = {} if path is None else json.loads(path.read_text())["files"]
    return [f"{level}/{name.removesuffix('.py')}" for level, names in found.items() for name in names]


def resumed(path: Path, sources: Iterable[Path], make: Callable[[Path], Cells]) -> list[Cells]:
    """One row for each source: the recorded one, else a new one, which is added to the file."""
    known = {row["source"]: row for row in map(json.loads, path.read_text().splitlines())} if path.exists() else {}
    rows = []
    for source in sources:
        if str(source) not in known:
            known[str(source)] = {"source": str(source), **make(source)}
            with path.open("a") as file:
                file.write(json.dumps(known[str(source)]) + "\n")
        rows.append(known[str(source)])
    return rows


def written(path: Path, found: Cells) -> None:
    path.write_text(json.dumps(found, indent=1) + "\n")


# --------------------------------------------------------------------------------------------------- count


def counted(source: Path) -> Cells:
    """The result for one problem: its shapes, sizes and seconds, or the reason why it does not run."""
    started = os.times()
    wall = time.monotonic()
    loaded = load(source)
    row: ShapeRow = shrink_sources([source], say=lambda row: None)[1][0]
    print(f"{source}: {row.refused or 'runs'}", file=sys.stderr, flush=True)
    ended = os.times()
    cost = {"wall_s": round(time.monotonic() - wall, 1), "cpu_s": round(sum(ended[:4]) - sum(started[:4]), 1)}
    about = {"problem": loaded.problem.id, **(loaded.origin.as_table() if loaded.origin else {}), **cost}
    if row.found is None:
        return {**about, "runs": False, "refused": row.refused}
    contract = row.found.contract
    return {
        **about,
        "runs": True,
        "constants": row.found.constants,
        "degenerate": list(row.found.degenerate),
        "tried": list(row.found.tried),
        "input_bytes": contract.input_bytes,
        "weight_bytes": sum(one.bytes for one in contract.weights),
        "output_bytes": contract.output_bytes,
        "first_call_s": contract.seconds,
    }


def totals(rows: Iterable[Cells]) -> dict[str, Cells]:
    """The counts of each level."""
    levels: dict[str, Counter[str]] = {}
    for row in rows:
        count = levels.setdefault(f"level{row.get('level', '')}", Counter())
        count["problems"] += 1
        count["runs" if row["runs"] else "refused"] += 1
        count["degenerate"] += bool(row.get("degenerate"))
        count["as it is"] += row["runs"] and not row["constants"]
        count["first call < 50 ms"] += row["runs"] and row["first_call_s"] < 0.05
        count["first call < 500 ms"] += row["runs"] and row["first_call_s"] < 0.5
    return {level: dict(count) for level, count in levels.items()}


def show_count(rows: Iterable[Cells], summary: dict[str, Cells]) -> None:
    print(f"{'problem':58} {'in, MB':>7} {'first call':>10}  what")
    for row in rows:
        if row["runs"]:
            what = "; ".join(row["degenerate"]) or "runs"
            megabytes, call = row["input_bytes"] / 2**20, row["first_call_s"] * 1e3
            print(f"{row['problem'][:58]:58} {megabytes:7.2f} {call:7.1f} ms  {what}")
        else:
            print(f"{row['problem'][:58]:58} {'-':>7} {'-':>10}  {row['refused']}")
    for level, count in summary.items():
        print(f"\n{level}: " + ", ".join(f"{count.get(name, 0)} {name}" for name in count))


# ---------------------------------------------------------------------------------------------------- time


def timed(source: Path, options: argparse.Namespace) -> Cells:
    """Baselines and the best result of a policy; for a refused problem, the reason."""
    print(f"\n{source}", file=sys.stderr, flush=True)
    started = time.monotonic()
    try:
        overrides = shaped(source, None, {}, options.shapes)
        problem = load(source, None, overrides).problem
        baselines = anyio.run(measured, problem)
        verdict = searched(source, problem, options)
    except Interrupted:
        sys.exit("interrupted; repeat the command to resume")
    except MaxcodeError as error:
        print(f"  {error}", file=sys.stderr, flush=True)
        return {"problem": str(source), "why": str(error)}
    return {
        "problem": problem.id,
        "constants": dict(problem.spec.module_spec.constants),
        **baselines,
        **told(verdict),
        "wall_s": round(time.monotonic() - started, 1),
    }


def searched(source: Path, problem: Problem, options: argparse.Namespace) -> RunResult:
    out = options.out / f"{problem.id}-{label(options)}"
    return optimize_source(
        Request(
            source,
            policy=options.policy,
            method=options.method,
            budget=options.budget,
            seed=options.seed,
            shapes=options.shapes,
            out=out,
            certificate=False,
        )
    )


def told(verdict: RunResult) -> Cells:
    kept = json.loads(verdict.as_json())
    keys = ("speedup", "over_compiled", "confirmed", "why", "candidates", "outcomes", "notes")
    return {key: kept.get(key) for key in keys}


async def measured(problem: Problem) -> Cells:
    """CPU milliseconds of a call in eager mode, and the speed-up of torch.compile, on one core."""
    sandbox = await Sandbox.open()
    reference = ModuleSide(replaced(problem.program.text, dict(problem.spec.module_spec.constants)), REFERENCE)
    stage = SideStarter(sandbox, find_runtime(), problem, threads=1, seed=1)
    stage = await replace(stage, contract=await stage.describe(reference)).with_weights(reference)
    plan = plans(stage.contract, stage.contract.slots(stage.contract.seconds))
    sides = {"original": reference, "incumbent": replace(reference, compile=True)}
    try:
        async with open_track(stage, plan, reference, sides) as track:  # type: ignore[arg-type]
            pairs = [await track.pair() for _ in range(WARM_UP_PAIRS + BASELINE_PAIRS)][WARM_UP_PAIRS:]
    except RoundFailed as failed:
        return {"compile": None, "compile_why": f"{failed.side}: {failed}"}
    eager = median_interval([pair.total("original") / plan.slots * 1e3 for pair in pairs])
    compiled = median_interval([pair.ratio("original", "incumbent") for pair in pairs])
    return {"eager_ms": asdict(eager), "compile": asdict(compiled)}


def show_time(rows: Iterable[Cells]) -> None:
    print(f"{'problem':52} {'eager, ms':>10}  {'compile / eager':>20}  {'best / eager':>20}  {'best / compile':>20}")
    for row in rows:
        if "candidates" not in row:
            print(f"{row['problem'][:52]:52} {row['why']}")
            continue
        eager = row.get("eager_ms")
        cells = [interval(row.get(key)) for key in ("compile", "speedup", "over_compiled")]
        ms = f"{eager['value']:10.3f}" if eager else f"{'-':>10}"
        print(f"{row['problem'][:52]:52} {ms}  " + "  ".join(f"{cell:>20}" for cell in cells))


def interval(found: Cells | None) -> str:
    return (
        "-"
        if not found or found.get("pairs") == 0
        else f"{found['value']:.2f}x [{found['low']:.2f}, {found['high']:.2f}]"
    )


if __name__ == "__main__":
    main()
