"""Do hostile candidates change the results of honest ones next to them, or leave anything on the host?

    python benchmarks/mixed.py [--count 500] [--seed 0] [--width 8] [--rows FILE] [--json FILE]

Candidates of the gallery chosen by seed, a third of them honest, go through one evaluator, as many at once as in a
batch of a search.  Then the honest ones, with the same binaries, go alone through another evaluator with the same
admissions.  The verdicts are compared, and also the speed-ups in pairs if the same inputs were timed (a resumed run
chooses them again): "mixed / clean" is the median of (speed-up among cheats / speed-up alone) with its interval.  A
stamp at the end of each program makes it one that was not timed before; a winner of the race is confirmed only if it is
a cheat.  Left out: candidates that use all cores by wall time, and most of the slow ones (bombs, time-outs).

Every evaluation is written as a line of FILE at once; the same command resumes.  Exit status 1 on a forbidden verdict,
on a changed one, and on anything left on the host.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, final

import anyio

from maxcode.core.stats import median_interval
from maxcode.evaluate.harness_protocol import MeasureOptions
from maxcode.evaluate.machine.machine import pressure
from maxcode.evaluate.program.evaluator import open_evaluator
from maxcode.sandbox.sandbox import Sandbox
from redteam import Candidate, Judge, candidates, is_told, secret_file, verdict_of
from trust.host import Host
from trust.rows import Progress, Row, Rows, table

SHARES = {"honest": 0.34, "quick": 0.46, "raced": 0.17, "slow": 0.03}
COST_S = {"honest": 4.0, "quick": 1.5, "raced": 5.0, "slow": 8.0}  # on two cores, before any is known
MIXED, CLEAN = "mixed", "clean"


class Drawn(NamedTuple):
    """The candidate at a place."""

    place: int
    candidate: Candidate

    @property
    def stamp(self) -> str:
        """A text of the same length at every place, so that it does not move the code."""
        if self.candidate.path.suffix == ".py":
            return f"\n# {self.place:06}\n"
        return f'\n__attribute__((used)) static const char mixed_stamp[] = "{self.place:06}";\n'


def pace_of(candidate: Candidate) -> str:
    """The time class of its evaluation: a key of SHARES, or nothing for those left out."""
    if candidate.against.endswith("_wall"):
        return ""
    if candidate.is_honest:
        return "honest"
    if "timeout" in candidate.verdicts or "bomb" in candidate.name or candidate.name == "include_stdin":
        return "slow"
    return "raced" if "not-faster" in candidate.verdicts else "quick"


def drawn(count: int, seed: int) -> list[Drawn]:
    """The first ``count`` candidates of a seed; a longer run starts with the same candidates as a shorter one."""
    pools = {pace: [one for one in candidates() if pace_of(one) == pace] for pace in SHARES}
    generator = random.Random(seed)
    paces = [generator.choices(list(SHARES), list(SHARES.values()))[0] for _ in range(count)]
    choose = {pace: random.Random(f"{seed} {pace}") for pace in SHARES}
    return [Drawn(place, choose[pace].choice(pools[pace])) for place, pace in enumerate(paces)]


@final
class Half:
    """One of the two runs: candidates through its own evaluator."""

    def __init__(self, run: str, judge: Judge, secret: str, seed: int, tier: str) -> None:
        self._run, self._judge, self._secret, self._seed, self._tier = run, judge, secret, seed, tier

    async def row(self, one: Drawn) -> Row:
        """A candidate judged."""
        began, candidate = time.monotonic(), one.candidate
        problem, action, found = await self._judge.raced(candidate, one.stamp)
        if found.timing is not None and found.timing.significant and not candidate.is_honest:
            found = await self._judge.confirmed(problem, action, found)
        spread = found.timing.speedup if found.timing is not None else None
        return {
            "seed": self._seed, "run": self._run, "place": one.place, "name": candidate.name, "kind": candidate.kind,
            "pace": pace_of(candidate), "wanted": candidate.wanted(self._tier), "verdict": verdict_of(found),
            "speedup": [spread.value, spread.low, spread.high] if spread is not None else None,
            "inputs": found.timing.inputs if found.timing is not None else None,
            "told": is_told(found, self._secret), "seconds": round(time.monotonic() - began, 2),
        }  # fmt: skip

    async def through(self, wanted: Sequence[Drawn], width: int, rows: Rows, progress: Progress) -> None:
        """Evaluates all of them, ``width`` at once; each gives a row at its end."""
        places = anyio.CapacityLimiter(width)

        async def one_of_them(one: Drawn) -> None:
            async with places:
                rows.add(await self.row(one))
            progress.step()

        for name in sorted({one.candidate.against for one in wanted}):
            await self._judge.problem(name)
        async with anyio.create_task_group() as group:
            for one in wanted:
                group.start_soon(one_of_them, one)


async def measure(wanted: Sequence[Drawn], seed: int, width: int, rows: Rows) -> list[str]:
    """Both runs, for candidates without a row; then what they left on the host."""
    done = {(row["seed"], row["run"], row["place"], row["name"]) for row in rows.found}
    honest = [one for one in wanted if one.candidate.is_honest]
    left = {
        run: [one for one in some if (seed, run, one.place, one.candidate.name) not in done]
        for run, some in ((MIXED, wanted), (CLEAN, honest))
    }
    progress = Progress(COST_S[pace_of(one.candidate)] for some in left.values() for one in some)
    sandbox = await Sandbox.open()
    print(f"{sandbox.describe()}; CPU pressure {pressure()} %", file=sys.stderr)
    with secret_file() as (secret, words):
        evaluator = await open_evaluator()
        judge = Judge(evaluator, secret)
        alone = judge.alike(evaluator.measuring(MeasureOptions()))
        host = Host(sandbox)
        before = host.look()
        for (run, some), one in zip(left.items(), (judge, alone), strict=True):
            await Half(run, one, words, seed, host.tier).through(some, width, rows, progress)
        return host.changes(before)


def compared(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The honest candidates: verdicts of both runs, and speed-ups in pairs of the same binary."""
    alone = {row["place"]: row for row in rows if row["run"] == CLEAN}
    pairs = [(row, alone[row["place"]]) for row in rows if row["run"] == MIXED and row["place"] in alone]
    names = sorted({mixed["name"] for mixed, _ in pairs})
    return [
        line(name, [pair for pair in pairs if name in (pair[0]["name"], "all")]) for name in (*names, "all") if pairs
    ]


def line(name: str, pairs: Sequence[tuple[Row, Row]]) -> dict[str, object]:
    """A line of the table."""
    both = [(one, other) for one, other in pairs if one["speedup"] and other["speedup"]]
    timed = [(one["speedup"], other["speedup"]) for one, other in both if [*one["inputs"]] == [*other["inputs"]]]
    between = median_interval([one[0] / other[0] for one, other in timed]) if timed else None
    return {
        "honest": name, "times": len(pairs), "same verdict": sum(a["verdict"] == b["verdict"] for a, b in pairs),
        "same inputs": len(timed), "accepted": sum(a["verdict"] == "faster" for a, _ in pairs),
        "mixed": _median([one[0] for one, _ in timed]), "clean": _median([other[0] for _, other in timed]),
        "mixed / clean": f"{between.value:.3f}" if between else "-",
        "from": f"{between.low:.3f}" if between else "-", "to": f"{between.high:.3f}" if between else "-",
        "intervals overlap": sum(one[1] <= other[2] and other[1] <= one[2] for one, other in timed),
    }  # fmt: skip


def _median(values: Sequence[float]) -> str:
    return f"{median_interval(values).value:.2f}" if values else "-"


def surprises(rows: Sequence[Row]) -> list[str]:
    """All unexpected results, in words."""
    verdicts = {(row["run"], row["place"]): row["verdict"] for row in rows}
    found = []
    for row in rows:
        where = f"{row['run']} {row['place']} {row['name']}"
        if row["verdict"] not in row["wanted"]:
            found.append(f"{where}: {row['verdict']} in place of {'|'.join(row['wanted'])}")
        if row["told"]:
            found.append(f"{where}: it could read a file of the host")
        alone = verdicts.get((CLEAN, row["place"]), row["verdict"])
        if row["run"] == MIXED and row["verdict"] != alone:
            found.append(f"{where}: {row['verdict']} among cheats, {alone} alone")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="candidates, hostile and honest")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--width", type=int, default=8, help="how many at once")
    parser.add_argument("--rows", type=Path, default=Path("runs/mixed.jsonl"))
    parser.add_argument("--json", type=Path, default=Path("runs/mixed.json"))
    options = parser.parse_args()
    rows = Rows(options.rows)
    left = anyio.run(measure, drawn(options.count, options.seed), options.seed, options.width, rows)
    found = [row for row in rows.found if row["seed"] == options.seed and row["place"] < options.count]
    shown, odd = compared(found), surprises(found) + [f"left behind: {what}" for what in left]
    mixed = [row for row in found if row["run"] == MIXED]
    counts = {
        "candidates": len(mixed), "hostile": sum(row["kind"] != "honest" for row in mixed),
        "hostile accepted as faster": sum(row["kind"] != "honest" and row["verdict"] == "faster" for row in mixed),
        "honest": sum(row["kind"] == "honest" for row in mixed), "surprises": len(odd), "left behind": len(left),
    }  # fmt: skip
    print(table(shown))
    print("\n".join([*(f"SURPRISE {one}" for one in odd), *(f"{count:4} {what}" for what, count in counts.items())]))
    print(f"looked at before and after: {', '.join(Host.MARKERS)}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"counts": counts, "honest": shown, "surprises": odd, "markers": Host.MARKERS}
    options.json.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(bool(odd))


if __name__ == "__main__":
    main()
