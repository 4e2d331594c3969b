"""Compares methods and other tools with the same proposals and budget; one evaluator measures every winner again.

    python benchmarks/methods.py [--problems readings ... gemm ...] [--methods best-of-n ... openevolve ...]
                                 [--seeds 0 1 2] [--budget 24] [--peer TOOL=PYTHON ...] [--out runs/methods]
    python benchmarks/methods.py --ablate [--problems gemm stencil trsm] [--base cuda-llm]

All proposals are those of the built-in rules: `rewriter` for programs, `kernels` for functions.  maxcode's methods call
them in this process, the tools through an endpoint on loopback (peers/endpoint.py).  TOOL is openevolve, gepa or
shinka, PYTHON the interpreter of an environment with the tool (`pip install openevolve`, `gepa`, `shinka-evolve`).
TOOL uses maxcode's evaluator for its score; TOOL-naive (programs only) uses one that a user would write
(peers/scorer.py).  Each tool has its own defaults, apart from the settings in its driver in peers/.  shinka has no C,
so it is left out there.  Programs written by any of them run only in the sandbox.

Every winner is measured again in a new session; that figure counts, and a winner that is not confirmed there counts as
1.  Claims of a method that this measurement refutes are listed: wrong, not faster, or overstated (the claim is above
the interval by a tenth).  Each cell is one file in OUT/cells; the same command resumes.

--ablate: one method with every subset of {best, trajectory, critiques} (`best`: that of the path and of the run); the
failures of the run are always left out, because they contain parts of all three.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from maxcode import bench
from maxcode.bench import BenchRow, BenchRun, Cost
from maxcode.core.types import Interval, Outcome, Problem
from maxcode.errors import Interrupted
from maxcode.problems import load
from maxcode.run.evaluation import evaluate_source
from maxcode.run.job import optimize_source
from maxcode.run.progress import SearchProgress
from maxcode.run.request import Request
from peers.endpoint import endpoint
from peers.evolving import DRIVERS, Search, evolve

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS, KERNELS = ("readings", "orbits", "delivery"), ("gemm", "stencil", "trsm")
METHODS = ("best-of-n", "cuda-llm", "cuda-llm+maxcode")
NAIVE = "-naive"
PEERS = tuple(tool + naive for tool in DRIVERS for naive in ("", NAIVE))
RULES = {"program": "rewriter", "function": "kernels"}
SWITCHED = {"best": ("best", "run_best"), "trajectory": ("trajectory",), "critiques": ("critiques",)}
OVERSTATED = 1.1

Found = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """The settings of all cells; ``url``: the endpoint; ``peers``: the interpreter of each tool's environment."""

    url: str
    out: Path
    budget: int
    peers: Mapping[str, str]
    parallel: int


@dataclass(frozen=True)
class Claim:
    """A method's claim: the file of its winner (None: it has none), its own speed-up, and the number of its candidates
    that were correct by its own score."""

    winner: Path | None
    speedup: float
    candidates: int
    correct: int


def kind_of(problem: str) -> str:
    return load(EXAMPLES / problem).problem.kind


def by_maxcode(cell: BenchRun, setting: Setting) -> Claim:
    """A search by one of our methods; ``method{best,critiques}`` shows only those of the three parts."""
    name, _, parts = cell.method.partition("{")
    request = Request(
        EXAMPLES / cell.problem,
        policy=RULES[kind_of(cell.problem)],
        method=name,
        without=without(parts.rstrip("}")) if parts else (),
        budget=setting.budget,
        seed=cell.seed,
        certificate=False,
        out=setting.out / "runs" / cell.name,
    )
    with SearchProgress(setting.budget) as progress:
        verdict = optimize_source(request, progress.watch, progress.admitted)
    counts = verdict.outcomes
    found = verdict.speedup if verdict.confirmed else None
    winner = verdict.best if found is not None else None
    value = found.value if found is not None else 1.0
    return Claim(winner, value, verdict.candidates, counts.get("correct", 0))


def without(shown: str) -> tuple[str, ...]:
    """The parts to leave out so that of the three only those in ``shown`` ("best,critiques", or "none") remain."""
    kept = shown.split(",")
    return ("failures", *(part for name, parts in SWITCHED.items() if name not in kept for part in parts))


def by_peer(cell: BenchRun, setting: Setting) -> Claim:
    """A search by another tool, from its beginning."""
    out = setting.out / "runs" / cell.name
    shutil.rmtree(out, ignore_errors=True)
    source = EXAMPLES / cell.problem
    tool = cell.method.removesuffix(NAIVE)
    found = evolve(
        Search(
            tool=tool,
            python=setting.peers[tool],
            url=setting.url,
            model=RULES[kind_of(cell.problem)],
            source=source,
            out=out,
            budget=setting.budget,
            seed=cell.seed,
            parallel=setting.parallel,
            naive=cell.method.endswith(NAIVE),
        )
    )
    best, children = found["best"], [one for one in found["programs"] if one["iteration"] > 0]
    correct = sum(one["score"] > 0 for one in children)
    if best["program"].strip() == best["original"].strip() or best["score"] <= 1:
        return Claim(None, 1.0, len(children), correct)
    winner = out / f"winner{Path(load(source).problem.program.name).suffix}"
    winner.write_text(best["program"] + "\n")
    return Claim(winner, best["score"], len(children), correct)


def measured(cell: BenchRun, setting: Setting) -> Found:
    """The cell's result: from its file, or from a search whose winner is measured again in a new session."""
    path = setting.out / "cells" / f"{cell.name}.json"
    if path.exists():
        told: Found = json.loads(path.read_text())
        if told["budget"] != setting.budget:
            raise SystemExit(f"{path} is of budget {told['budget']}, not {setting.budget}; choose another --out")
        return told
    print(f"\n{cell.problem} {cell.method} seed {cell.seed}", file=sys.stderr, flush=True)
    started = time.monotonic()
    claim = by_peer(cell, setting) if cell.method in PEERS else by_maxcode(cell, setting)
    searched = time.monotonic()
    told = {
        "problem": cell.problem,
        "method": cell.method,
        "seed": cell.seed,
        "budget": setting.budget,
        "claimed": round(claim.speedup, 4),
        "winner": str(claim.winner) if claim.winner is not None else None,
        "candidates": claim.candidates,
        "correct": claim.correct,
        "seconds": round(searched - started, 1),
        **judged(claim, EXAMPLES / cell.problem),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".new")
    scratch.write_text(json.dumps(told, indent=1) + "\n")
    scratch.replace(path)
    return told


def judged(claim: Claim, source: Path) -> Found:
    """Our evaluator's result for a winner: outcome, speed-up with its interval, and the refuted claims."""
    if claim.winner is None:
        return {"outcome": "none", "speedup": [1.0, 1.0, 1.0], "refuted": ""}
    verdict = evaluate_source(claim.winner, Request(source))
    found = verdict.speedup
    holds = verdict.outcome is Outcome.CORRECT and found is not None and found.confirmed
    told = f"{found.value:.2f}x [{found.low:.2f}, {found.high:.2f}]" if found is not None else "not timed"
    claimed = f"claimed {claim.speedup:.2f}x"
    if verdict.outcome is not Outcome.CORRECT:
        refuted = f"wrong: {claimed}, is {verdict.outcome.value} ({'; '.join(verdict.reasons[:2])})"
    elif not holds:
        refuted = f"not faster: {claimed}, measured {told}"
    else:
        assert found is not None
        refuted = f"overstated: {claimed}, measured {told}" if claim.speedup > OVERSTATED * found.high else ""
    gain = [found.value, found.low, found.high] if holds and found is not None else [1.0, 1.0, 1.0]
    return {"outcome": verdict.outcome.value, "speedup": [round(one, 4) for one in gain], "refuted": refuted}


# ------------------------------------------------------------------------------------------------------------- tables


def line(one: Found) -> str:
    value, low, high = one["speedup"]
    gain = f"{value:7.2f}x [{low:.2f}, {high:.2f}]" if one["outcome"] != "none" else "   none"
    counts = f"{one['correct']} of {one['candidates']} correct"
    return f"{one['problem']:10} {one['method']:38} {one['seed']:4} {gain:26} {counts:20} {one['seconds']:7.0f} s"


def refutations(found: Iterable[Found]) -> list[str]:
    """The claims that did not hold, one line each."""
    return [f"{one['problem']} {one['method']} seed {one['seed']}: {one['refuted']}" for one in found if one["refuted"]]


def summary(found: Sequence[Found]) -> list[Found]:
    """By method, over the problems and seeds that all finished: medians, ranks, candidates, refuted claims."""
    rows = [
        BenchRow(
            BenchRun(one["problem"], one["method"], one["seed"]),
            Interval(*one["speedup"]),
            one["candidates"],
            one["correct"],
            0,
            Cost(seconds=one["seconds"]),
        )
        for one in found
    ]
    told = []
    for method in bench.table(rows).methods:
        mine = [one for one in found if one["method"] == method.method]
        figures = {name: method.figures[name] for name in ("median", "geometric", "rank")}
        told.append(
            {
                "method": method.method,
                **{name: [round(x, 3) for x in (f.value, f.low, f.high)] for name, f in figures.items()},
                "candidates": sum(one["candidates"] for one in mine),
                "correct": sum(one["correct"] for one in mine),
                "winners": sum(one["winner"] is not None for one in mine),
                "refuted": sum(bool(one["refuted"]) for one in mine),
            }
        )
    return told


def shown(rows: Sequence[Found]) -> str:
    """The summary as lines."""
    head = ("median max speed-up", "geometric mean", "mean rank")
    lines = [f"{'method':38} " + " ".join(f"{one:24}" for one in head) + " correct      winners refuted"]
    for one in rows:
        figures = " ".join(f"{_interval(one[name]):24}" for name in ("median", "geometric", "rank"))
        counts = f"{one['correct']}/{one['candidates']}"
        lines.append(f"{one['method']:38} {figures} {counts:12} {one['winners']:7} {one['refuted']:7}")
    return "\n".join(lines)


def _interval(values: Sequence[float]) -> str:
    value, low, high = values
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def report(found: Sequence[Found], out: Path) -> None:
    """Prints everything and writes it to ``table.json``: all methods together, and for a method that ran on some
    problems only, the table of these problems."""
    print("\n".join(map(line, found)))
    problems: dict[str, frozenset[str]] = {}
    for one in found:
        problems[one["method"]] = problems.get(one["method"], frozenset()) | {one["problem"]}
    tables = {}
    for group in sorted(set(problems.values()), key=lambda names: (-len(names), sorted(names))):
        taken = [one for one in found if one["problem"] in group and problems[one["method"]] >= group]
        tables[", ".join(sorted(group))] = summary(taken)
        print(f"\n{', '.join(sorted(group))}; 95 % bootstrap intervals\n{shown(summary(taken))}")
    refuted = refutations(found)
    print("\nclaims that did not hold: " + ("\n  ".join(["", *refuted]) if refuted else "none"))
    out.mkdir(parents=True, exist_ok=True)
    (out / "table.json").write_text(json.dumps({"cells": found, "tables": tables, "refuted": refuted}, indent=1) + "\n")


# --------------------------------------------------------------------------------------------------------------- plan


def subsets(base: str) -> list[str]:
    """``base`` with every subset of the three parts; first none, last all."""
    names = [chosen for size in range(len(SWITCHED) + 1) for chosen in combinations(SWITCHED, size)]
    return [f"{base}+maxcode{{{','.join(chosen) or 'none'}}}" for chosen in names]


def planned(options: argparse.Namespace) -> list[BenchRun]:
    """The cells in the order in which they run: by seed, problem, method."""
    names: Sequence[str]
    if options.ablate:
        problems, names = options.problems or KERNELS, subsets(options.base)
    else:
        usual = (*METHODS, *(one for one in PEERS if one.removesuffix(NAIVE) in options.peer))
        problems, names = options.problems or (*PROGRAMS, *KERNELS), options.methods or usual
    lacking = [name for name in names if name in PEERS and name.removesuffix(NAIVE) not in options.peer]
    if lacking:
        raise SystemExit(f"{lacking[0]} needs --peer {lacking[0].removesuffix(NAIVE)}=PYTHON, see --help")
    cells = bench.cells(problems, names, options.seeds)
    return [one for one in cells if _can_be_run(one.method, load(EXAMPLES / one.problem).problem)]


def _can_be_run(method: str, problem: Problem) -> bool:
    """Naive scores are for programs; ShinkaEvolve does not know C."""
    return not (method.endswith(NAIVE) and problem.kind != "program") and not (
        method.startswith("shinka") and problem.language == "c"
    )


def peers_in(words: Sequence[str]) -> dict[str, str]:
    """Interpreters by tool, from ``TOOL=PYTHON``."""
    found = dict(one.partition("=")[::2] for one in words)
    wrong = [tool for tool, python in found.items() if tool not in DRIVERS or not python]
    if wrong:
        raise SystemExit(f"--peer {wrong[0]}: give TOOL=PYTHON, TOOL one of {', '.join(DRIVERS)}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", help="folders of examples/ (default: three programs, three kernels)")
    parser.add_argument("--methods", nargs="+", help=f"default: {' '.join(METHODS)}, and every peer twice")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--budget", type=int, default=24)
    parser.add_argument("--peer", action="append", default=[], metavar="TOOL=PYTHON", help="may be repeated")
    parser.add_argument("--parallel", type=int, default=2, help="evaluations that a tool may have under way")
    parser.add_argument("--ablate", action="store_true", help="subsets of what +maxcode shows, on kernels")
    parser.add_argument("--base", default="cuda-llm", help="the method that --ablate takes apart")
    parser.add_argument("--out", type=Path, default=Path("runs/methods"))
    options = parser.parse_args()
    options.peer = peers_in(options.peer)
    found: list[Found] = []
    cells = planned(options)
    try:
        with endpoint() as url:
            setting = Setting(url, options.out, options.budget, options.peer, options.parallel)
            for cell in cells:
                found.append(measured(cell, setting))
    except (Interrupted, KeyboardInterrupt):
        print("interrupted; repeat the command to resume", file=sys.stderr)
    if found:
        report(found, options.out)


if __name__ == "__main__":
    main()
