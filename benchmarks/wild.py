"""Does a wild candidate change the measurement of the next honest one?

    python benchmarks/wild.py [--json FILE]

One honest candidate, about 1.15 times as fast as the original, is raced after each of: nothing, an endless loop, a fork
bomb, 4 GB of memory, an output flood, an immediate exit, and a daemon that spins.  The honest ratios must agree.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import anyio

from maxcode.code.languages import language
from maxcode.core.types import Action, Case, Evaluation, Limits, Problem, Program, ProgramSpec
from maxcode.evaluate.program.evaluator import open_evaluator

ORIGINAL = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    long n; unsigned x = 1;
    if (scanf("%ld", &n) != 1) return 1;
    for (long i = 0; i < n; i++) { x = x * 1664525u + 1013904223u; __asm__ volatile("" : "+r"(x)); }
    for (long i = 0; i < n / 2; i++) { unsigned y = i; __asm__ volatile("" : "+r"(y)); y = y * 3u; y = y * 5u;
        y = y * 7u; __asm__ volatile("" : "+r"(y)); }
    printf("%u\\n", x);
    return 0;
}
"""
HONEST = ORIGINAL.replace("i < n / 2", "i < 0")
WILD = {
    "nothing": None,
    "endless loop": "for (;;) { __asm__ volatile(\"\"); }",
    "fork bomb": "for (;;) fork();",
    "4 GB": "for (long k = 0; k < 4096; k++) { char *p = malloc(1 << 20); memset(p, 1, 1 << 20); }",
    "output flood": "for (;;) puts(\"flood flood flood flood flood flood flood\");",
    "exit at once": "_exit(0);",
    "daemon": "if (!fork()) { setsid(); if (!fork()) for (;;) { __asm__ volatile(\"\"); } _exit(0); }",
}  # fmt: skip


def problem(folder: Path) -> Problem:
    cases = []
    for name, n in (("small", 10), ("big", 20_000_000)):
        x = 1
        for _ in range(n if n < 100 else 0):
            x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        (folder / f"{name}.in").write_text(f"{n}\n")
        (folder / f"{name}.out").write_text(f"{x}\n")
        cases.append(Case(name, str(folder / f"{name}.in"), str(folder / f"{name}.out") if n < 100 else None))
    spec = ProgramSpec(
        flags=language("c").default_flags, seen=tuple(cases[:1]), held_out=tuple(cases[1:]), limits=Limits(run_s=3)
    )
    return Problem("wild", "program", "c", Program({"wild.c": ORIGINAL}), spec)


async def measure() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        evaluator = await open_evaluator()
        admitted = await evaluator.admit(problem(Path(folder)))
        for number, (name, line) in enumerate(WILD.items()):
            outcome = "-"
            if line is not None:
                wild = ORIGINAL.replace("unsigned x = 1;", f"unsigned x = 1; {line}")
                outcome = (await evaluator.evaluate(admitted.problem, action(wild))).outcome.value
            distinct = f'{HONEST}const char *mark = "{number}";\n'  # another binary each time: samples are cached
            found = await evaluator.evaluate(admitted.problem, action(distinct))
            rows.append({"before": name, "its outcome": outcome, **told(found)})
    return rows


def action(text: str) -> Action:
    return Action(Program({"wild.c": text}))


def told(found: Evaluation) -> dict[str, object]:
    assert found.timing is not None, found.feedback
    s = found.timing.speedup
    return {"honest": round(s.value, 3), "low": round(s.low, 3), "high": round(s.high, 3), "pairs": found.timing.pairs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("runs/wild.json"))
    options = parser.parse_args()
    rows = anyio.run(measure)
    print(f"{'wild candidate before it':26} {'its outcome':12} {'honest candidate after it':28} pairs")
    for r in rows:
        shown = f"{r['honest']}x [{r['low']}, {r['high']}]"
        print(f"{r['before']:26} {r['its outcome']:12} {shown:28} {r['pairs']}")
    overlap = max(float(str(r["low"])) for r in rows) <= min(float(str(r["high"])) for r in rows)
    print(f"all honest intervals overlap: {'yes' if overlap else 'NO'}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
