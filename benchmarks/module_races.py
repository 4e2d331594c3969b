"""Is a PyTorch module ever called faster than itself?  Shows what one process per side hides, and the remedy.

    python benchmarks/module_races.py [--sittings 40] [--only NAME ...] [--rows FILE] [--json FILE]

The modules of benchmarks/module_cases, each against itself, in sessions ("sittings"): two new processes with the same
new weights, three rounds that are not timed, then pairs.  Every session is written as a line of FILE at its end; the
same command resumes.  Three rules are judged on the same sessions:

    race       a race as in a search: one session, which ends when the evidence decides
    one        a confirmation from one session
    sittings   the evaluator's confirmation, from several sessions in their order

"found at G" is the share called faster when every ratio is multiplied by G (the result of a gain of G).  "processes"
and "pairs" are the standard deviations of the logarithm of the ratio, between sessions (of their medians, without the
part that pairs explain) and within.  Bounds are one-sided 95 % Clopper-Pearson.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import anyio

from maxcode.core.stats import LOOKS, RaceRule, decide, decide_sittings, interval_of, is_faster
from maxcode.evaluate.machine.machine import pressure
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.rounds.confirming import SITTING_PAIRS
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from trust.bounds import upper_bound
from trust.rows import Progress, Row, Rows, table

HERE = Path(__file__).parent
CASES = {path.stem: path for path in sorted((HERE / "module_cases").glob("*.py"))}
CASES["fused_gelu"] = HERE.parent / "examples" / "fused_gelu" / "problem.py"
MOST = max(LOOKS)
PAIRS = 30  # of a sitting: the most that a race has
GAINS = (1.0, 1.02, 1.05, 1.2)
USUAL_S = 15.0
MEDIAN_OF_NORMAL = 1.2533  # standard deviation of a median over that of a mean

Ratios = list[float]
Rule = Callable[[list[Ratios], float], Iterator[bool]]


async def measure(sittings: int, names: Sequence[str], rows: Rows) -> None:
    """Measures the sessions without a row, one of every module in turn."""
    held = {(row["module"], row["number"]) for row in rows.found}
    left = [(number, name) for number in range(sittings) for name in names if (name, number) not in held]
    known = {name: [row["seconds"] for row in rows.found if row["module"] == name] for name in names}
    progress = Progress(statistics.fmean(known[name]) if known[name] else USUAL_S for _, name in left)
    evaluator = ModuleEvaluator(await Sandbox.open(), beside_compiled=False)
    problems = {name: load(CASES[name]).problem for name in names}
    for number, name in left:
        began = anyio.current_time()
        check = await evaluator.check(problems[name], problems[name].program)
        pairs = await check.control((PAIRS,))
        ratios = [pair.ratio("original", "candidate") for pair in pairs]
        seconds = round(anyio.current_time() - began, 2)
        call_s = statistics.median(pair.total("original") for pair in pairs)
        rows.add({"module": name, "number": number, "ratios": ratios, "round_ms": round(1e3 * call_s, 3),
                  "pressure": pressure(), "seconds": seconds})  # fmt: skip
        progress.step()


def raced(sittings: list[Ratios], gain: float) -> Iterator[bool]:
    """For every session: whether a race that stops when the evidence decides says faster."""
    for ratios in sittings:
        verdicts = (decide([gain * one for one in ratios[:pairs]], RaceRule()) for pairs in range(1, len(ratios) + 1))
        yield next((verdict for verdict in verdicts if verdict is not None), None) == "faster"


def from_one(sittings: list[Ratios], gain: float) -> Iterator[bool]:
    """For every session: whether a confirmation from all of its pairs says faster."""
    return (is_faster([gain * one for one in ratios], RaceRule()) for ratios in sittings)


def from_several(sittings: list[Ratios], gain: float) -> Iterator[bool]:
    """For every such number of consecutive sessions: whether the evaluator's confirmation says faster."""
    for at in range(0, len(sittings) - MOST + 1, MOST):
        yield from_sittings([[gain * one for one in each[:SITTING_PAIRS]] for each in sittings[at : at + MOST]])


def from_sittings(sittings: list[Ratios]) -> bool:
    """Whether a confirmation by these sessions, in order, says faster."""
    ratios = [one for each in sittings for one in each]
    sizes = [len(each) for each in sittings]
    told = (decide_sittings(ratios[: sum(sizes[:count])], sizes[:count], RaceRule()) for count in LOOKS)
    return next(verdict for verdict in told if verdict is not None) == "faster"


RULES: dict[str, Rule] = {"race": raced, "one": from_one, "sittings": from_several}


def judged(by_module: dict[str, list[Ratios]]) -> list[Row]:
    """Every rule over all modules, with the bound on its false "faster"."""
    found = []
    for name, rule in RULES.items():
        said = {gain: [one for sittings in by_module.values() for one in rule(sittings, gain)] for gain in GAINS}
        count, false = len(said[1.0]), sum(said[1.0])
        found.append({
            "rule": name, "decisions": count, "false faster": false, "upper bound": f"{upper_bound(false, count):.4f}",
            **{f"found at {gain}": f"{sum(said[gain]) / max(1, count):.3f}" for gain in GAINS[1:]},
        })  # fmt: skip
    return found


def lines(rows: Sequence[Row]) -> list[Row]:
    """A line for every module: the spread between sessions, and between pairs of one."""
    found = []
    for name in CASES:
        of = [row for row in rows if row["module"] == name]
        if len(of) < 2:
            continue
        logs = [[math.log(ratio) for ratio in row["ratios"]] for row in of]
        within = math.sqrt(statistics.fmean(statistics.variance(one) for one in logs))
        medians = [statistics.median(one) for one in logs]
        chance = MEDIAN_OF_NORMAL * within / math.sqrt(PAIRS)
        between = math.sqrt(max(0.0, statistics.variance(medians) - chance**2))
        taken = [row["ratios"] for row in of]
        whole = [ratio for one in taken for ratio in one]
        found.append({
            "module": name, "sittings": len(of), "round, ms": f"{statistics.median(row['round_ms'] for row in of):.2f}",
            "processes, %": f"{100 * between:.2f}", "pairs, %": f"{100 * within:.2f}",
            "largest median": f"{math.exp(max(map(abs, medians))):.3f}",
            "race": sum(raced(taken, 1.0)), "one": sum(from_one(taken, 1.0)),
            "sittings, false": f"{sum(from_several(taken, 1.0))} of {len(of) // MOST}",
            "all together": str(interval_of(whole, (PAIRS,) * len(of))),
            "seconds": f"{statistics.fmean(row['seconds'] for row in of):.1f}",
        })  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sittings", type=int, default=40, help="of every module")
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES), metavar="NAME")
    parser.add_argument("--rows", type=Path, default=Path("runs/module_races.jsonl"))
    parser.add_argument("--json", type=Path, default=Path("runs/module_races.json"))
    options = parser.parse_args()
    rows = Rows(options.rows)
    anyio.run(measure, options.sittings, options.only, rows)
    by_module = {name: [row["ratios"] for row in rows.found if row["module"] == name] for name in CASES}
    shown, verdicts = lines(rows.found), judged(by_module)
    print(table(shown))
    print()
    print(table(verdicts))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"modules": shown, "rules": verdicts}, indent=1) + "\n")


if __name__ == "__main__":
    main()
