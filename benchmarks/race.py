"""Checks the race on this machine: false "faster" among equal programs, detection of known gains, cost.

    python benchmarks/race.py [--races 1000] [--only NAME ...] [--rows FILE] [--json FILE]

Programs of six kinds (chain of multiplications, unpredictable branches, random access, floating point, fresh pages of
memory, and one of 5 ms) are raced by the evaluator's own code in the sandbox: A/A (the same binary), gains of 1.02,
1.05 and 1.2, losses of 1.2 and 2.  In half of the races the other cores are idle, in half each core has a busy loop.
Every race is written as a line of FILE at its end; the same command resumes.

The bound is the one-sided 95 % Clopper-Pearson bound on the rate of "faster" among all A/A races.  "cost" is the number
of runs over that of 30 pairs; "found" is the share called faster; a gain is only nominal, because a program also has to
start.  Exit status 1 if the promised rate of 1 % is refuted (the lower bound is above it).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, final

import anyio

from maxcode.code.languages import language
from maxcode.core.stats import RaceRule, geometric_mean
from maxcode.core.types import Problem, Program, ProgramSpec, Timing
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.race import SHORT_PASS_S, RaceInputs, RaceSide, Side, race
from maxcode.evaluate.machine.machine import pressure
from maxcode.sandbox.sandbox import Blob, Sandbox
from trust.bounds import lower_bound, upper_bound
from trust.known import PROGRAMS, source_of
from trust.rows import Progress, Row, Rows, table

PROMISE = 0.01
GAINS = {"1/2": 0.5, "1/1.2": 1 / 1.2, "1 (A/A)": 1.0, "1.02": 1.02, "1.05": 1.05, "1.2": 1.2}
EQUAL = "1 (A/A)"
FIXED = 30  # pairs of the protocol that the cost is compared with
SHARE = 10  # races of each other gain, for so many A/A races
_CHUNK = 5  # races of a kind in a row: an interrupted run has seen all kinds
_USUAL_S = {False: 2.0, True: 4.0}  # a race, with idle and with busy cores, before any is known
_BURN = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n for _ in range(10**6): pass"  # ends with its parent


class Plan(NamedTuple):
    """One planned race: its kind and its number within that kind."""

    program: str
    gain: str
    busy: bool
    number: int


def plans(races: int, names: Sequence[str]) -> list[Plan]:
    """All races, spread evenly over programs and loads, with mixed kinds."""
    each = -(-races // (2 * len(names)))
    found = [
        Plan(name, gain, busy, number)
        for name in names for gain in GAINS for busy in (False, True)
        for number in range(each if gain == EQUAL else -(-each // SHARE))
    ]  # fmt: skip
    order = list(names), list(GAINS)
    return sorted(found, key=lambda p: (p.number // _CHUNK, p.busy, order[0].index(p.program), order[1].index(p.gain)))


@contextmanager
def load(busy: bool) -> Iterator[None]:
    """Runs a busy loop of our own on every core during the races."""
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1 if busy else 0):
            burner = stack.enter_context(subprocess.Popen([sys.executable, "-c", _BURN, str(os.getpid())]))
            stack.callback(burner.kill)
        yield


@final
class Track:
    """Races a program of known work against one that does less of it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox, self._builder = sandbox, Builder(sandbox, sandbox.cache)

    async def run(self, name: str, gain: float) -> Timing:
        original = Program({"known.c": source_of(name, 1.0)})
        problem = Problem("known", "program", "c", original, ProgramSpec(flags=language("c").default_flags))
        sides: dict[Side, RaceSide] = {}
        for side, text in (("original", original), ("candidate", Program({"known.c": source_of(name, gain)}))):
            built = await self._builder.build(problem, text, final=True)
            if built.artefact is None:
                raise SystemExit(f"{name} does not build here: {built.reason}")
            sides[side] = RaceSide(built.artefact, {"known": b"done\n"})  # type: ignore[index]
        given = Input("known", Blob.of(b""), b"done\n", "held_out", PROGRAMS[name][2])
        return await race(RaceInputs(self._sandbox, problem), sides, [given], RaceRule())


async def row_of(track: Track, plan: Plan) -> Row:
    """A race and its result."""
    began = time.monotonic()
    timing = await track.run(plan.program, GAINS[plan.gain])
    passes = 2 if PROGRAMS[plan.program][2] < SHORT_PASS_S else 1
    spread = timing.speedup
    return {
        **plan._asdict(), "verdict": timing.verdict, "ratio": spread.value, "low": spread.low, "high": spread.high,
        "pairs": timing.pairs, "runs": 2 * passes * timing.pairs, "pressure": pressure(),
        "seconds": round(time.monotonic() - began, 3),
    }  # fmt: skip


async def measure(wanted: Sequence[Plan], rows: Rows) -> None:
    """Runs the races without a row."""
    held = {Plan(*(row[key] for key in Plan._fields)) for row in rows.found}
    left = [plan for plan in wanted if plan not in held]
    known = {busy: [row["seconds"] for row in rows.found if row["busy"] is busy] for busy in _USUAL_S}
    usual = {busy: sum(known[busy]) / len(known[busy]) if known[busy] else _USUAL_S[busy] for busy in _USUAL_S}
    progress = Progress(usual[plan.busy] for plan in left)
    track = Track(await Sandbox.open())
    for busy, plans_in_a_row in groupby(left, key=lambda plan: plan.busy):
        with load(busy):
            for plan in plans_in_a_row:
                rows.add(await row_of(track, plan))
                progress.step()


def summed(rows: Sequence[Row], **named: object) -> dict[str, object]:
    """A line of the table: the results of the races of one kind."""
    count = len(rows)
    found = {kind: sum(row["verdict"] == kind for row in rows) for kind in ("faster", "tie", "slower")}
    found["waits"] = count - sum(found.values())
    pairs = sum(row["pairs"] for row in rows) / count
    truth = GAINS[str(named["gain"])]
    return {
        **named, "races": count, **found, "found": f"{found['faster'] / count:.3f}",
        "ratio": f"{geometric_mean([row['ratio'] for row in rows]):.4f}",
        "interval holds it": f"{sum(row['low'] <= truth <= row['high'] for row in rows) / count:.3f}",
        "pairs": f"{pairs:.1f}", "cost": f"{pairs / FIXED:.2f}",
        "seconds": f"{sum(row['seconds'] for row in rows) / count:.2f}",
    }  # fmt: skip


def lines(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The table: every kind separately, then each gain over all programs."""
    found = []
    for program in (*PROGRAMS, "all"):
        for busy in (False, True):
            for gain in GAINS:
                kind = [row for row in rows if (row["busy"], row["gain"]) == (busy, gain)]
                kind = [row for row in kind if program in (row["program"], "all")]
                if kind:
                    found.append(summed(kind, program=program, cores="busy" if busy else "idle", gain=gain))
    return found


def promise(rows: Sequence[Row]) -> dict[str, object]:
    """The result of all A/A races on the promised rate, in figures and in a word."""
    equal = [row for row in rows if row["gain"] == EQUAL]
    false = sum(row["verdict"] == "faster" for row in equal)
    upper, lower = upper_bound(false, len(equal)), lower_bound(false, len(equal)) if equal else 0.0
    word = "shown" if upper <= PROMISE else "refuted" if lower > PROMISE else "too few races to say"
    return {
        "A/A races": len(equal), "false faster": false, "upper 95 % bound": round(upper, 5), "promise": PROMISE,
        "at most the promise": word, "runs over those of 30 pairs": _cost(equal), "of all races": _cost(rows),
    }  # fmt: skip


def _cost(rows: Sequence[Row]) -> float:
    pairs: int = sum(row["pairs"] for row in rows)
    return round(pairs / max(1, len(rows)) / FIXED, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=1000, help="A/A races in all; a tenth as many of each other gain")
    parser.add_argument("--only", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--rows", type=Path, default=Path("runs/race.jsonl"))
    parser.add_argument("--json", type=Path, default=Path("runs/race.json"))
    options = parser.parse_args()
    before, rows = pressure(), Rows(options.rows)
    anyio.run(measure, plans(options.races, options.only), rows)
    shown, verdict = lines(rows.found), promise(rows.found)
    print(table(shown))
    print("\n".join(f"{key}: {value}" for key, value in verdict.items()))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"promise": verdict, "rows": shown, "pressure_before": before}
    options.json.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(verdict["at most the promise"] == "refuted")


if __name__ == "__main__":
    main()
