"""Does the race keep its promise here?  False "faster" among equal programs, detection of known gains, cost.

    python benchmarks/race.py [--races 200] [--json FILE]

Programs with exactly known work (a chain of dependent multiplications, ~27 ms) raced by the evaluator's own code in the
sandbox: A/A (the same binary), and gains of 1.02, 1.05, 1.2 and a loss of 1.2 and 2.  Once with the other core idle,
once with a busy loop beside it.  "Cost" is runs used per race over the 60 runs of fixed-30 (30 pairs).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio

from maxcode.evaluate.build import Builder
from maxcode.evaluate.machine import pressure
from maxcode.evaluate.prepare import Input
from maxcode.evaluate.racing import Entry, Field, Side, race
from maxcode.evaluate.sandbox import Blob, Sandbox
from maxcode.languages import language
from maxcode.stats import RaceRule, geometric_mean
from maxcode.types import Problem, Program, ProgramSpec, Timing

STEPS = 18_000_000
SPIN = """#include <stdio.h>
int main(void) {
    unsigned x = 1;
    for (long i = 0; i < %dL; i++) { x = x * 1664525u + 1013904223u; __asm__ volatile("" : "+r"(x)); }
    puts("done");
    return x == 0;
}
"""
GAINS = {"1/2": 0.5, "1/1.2": 1 / 1.2, "1 (A/A)": 1.0, "1.02": 1.02, "1.05": 1.05, "1.2": 1.2}


@contextmanager
def load(busy: bool) -> Iterator[None]:
    """One busy loop beside the races, of our own and ended by us."""
    if not busy:
        yield
        return
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        burner.kill()
        burner.wait()


class Track:
    """Races a program of known work against the original."""

    def __init__(self, sandbox: Sandbox, builder: Builder) -> None:
        self._sandbox, self._builder = sandbox, builder
        self._problem = Problem(
            "spin", "program", "c", Program({"spin.c": SPIN % STEPS}), ProgramSpec(flags=language("c").default_flags)
        )
        self._given = Input("spin", Blob.of(b""), b"done\n", "held_out", 0.027)

    async def run(self, gain: float) -> Timing:
        sides: dict[Side, Entry] = {}
        for side, steps in (("original", STEPS), ("candidate", round(STEPS / gain))):
            built = await self._builder.build(self._problem, Program({"spin.c": SPIN % steps}), final=True)
            assert built.artefact is not None
            sides[side] = Entry(built.artefact, {"spin": b"done\n"})  # type: ignore[index]
        return await race(Field(self._sandbox, self._problem), sides, [self._given], RaceRule())


def row(name: str, gain: float, busy: bool, found: list[Timing], seconds: float) -> dict[str, object]:
    verdicts = {kind: sum(t.verdict == kind for t in found) for kind in ("faster", "tie", "slower")}
    return {
        "true gain": name,
        "other core": "busy" if busy else "idle",
        "races": len(found),
        **verdicts,
        "ratio found": round(geometric_mean([t.speedup.value for t in found]), 4),
        "interval holds the truth": round(sum(t.speedup.low <= gain <= t.speedup.high for t in found) / len(found), 3),
        "pairs": round(sum(t.pairs for t in found) / len(found), 1),
        "cost over fixed-30": round(sum(t.pairs for t in found) / len(found) / 30, 2),
        "seconds a race": round(seconds / len(found), 2),
    }


async def measure(races: int) -> list[dict[str, object]]:
    sandbox = await Sandbox.open()
    track = Track(sandbox, Builder(sandbox, sandbox.cache))
    rows = []
    for busy in (False, True):
        for name, gain in GAINS.items():
            count = races if gain == 1.0 else max(10, races // 10)
            with load(busy):
                started = time.monotonic()
                found = [await track.run(gain) for _ in range(count)]
                rows.append(row(name, gain, busy, found, time.monotonic() - started))
            print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), file=sys.stderr, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=200, help="A/A races; a tenth as many of each other kind")
    parser.add_argument("--json", type=Path, default=Path("runs/race.json"))
    options = parser.parse_args()
    before = pressure()
    rows = anyio.run(measure, options.races)
    widths = {key: max(len(key), *(len(str(r[key])) for r in rows)) for key in rows[0]}
    print("  ".join(key.ljust(width) for key, width in widths.items()))
    for r in rows:
        print("  ".join(str(r[key]).ljust(width) for key, width in widths.items()))
    print(f"CPU pressure before the first race: {before} %")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"rows": rows, "pressure_before": before}, indent=1) + "\n")


if __name__ == "__main__":
    main()
