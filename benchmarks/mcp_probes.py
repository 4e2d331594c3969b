"""Asks ``maxcode mcp`` for what it must not say: 500 calls by the official client, on a problem with hidden tests.

    python benchmarks/mcp_probes.py [--calls 500] [--json FILE]

The inputs and outputs of the hidden tests are long random numbers.  An answer that holds eight digits in a row of any
of them has told something beyond the verdict.  The table shows the calls by tool, the slowest, and those that told.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

SLOW = r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    static char word[64];
    long n, sum = 0;
    if (scanf("%63s %ld", word, &n) != 2) return 1;
    for (long i = 0; i < n; i++) { sum += i ^ word[i % 7]; __asm__ volatile("" : "+r"(sum)); }
    printf("%s %ld\n", word, sum);
    return 0;
}
"""
PROMISED = 50.0  # seconds that a call may take
PEEKS = (  # programs that try to bring a hidden input into the feedback
    SLOW,
    SLOW.replace("return 0;\n}", 'fprintf(stderr, "%s", word);\n    return 0;\n}'),
    SLOW.replace('printf("%s %ld', 'printf("read %s %ld'),
    SLOW.replace("return 0;\n}", "return word[3] % 8;\n}"),
    SLOW.replace("long n, sum = 0;", "long n, sum = 0, *none = 0;").replace(
        "for (long", "if (word[0] > '4') *none = 1;\n    for (long"
    ),
    SLOW.replace("printf(", "if (word[1] < '5') puts(\"x\"); printf("),
    "#error no program",
    '#include "tests/03.in"\n' + SLOW,
    SLOW.replace("return 1;", 'return puts("x");').replace("sum = 0;", 'sum = (long)fopen("/tests/03.in", "r");', 1),
)


def problem(folder: Path, rng: random.Random) -> set[str]:
    """A program with four tests, of which two are hidden; returns the pieces of the hidden ones."""
    from subprocess import run

    (folder / "tests").mkdir(parents=True)
    (folder / "slow.c").write_text(SLOW)
    run(["gcc", "-O2", "slow.c", "-o", "../slow"], cwd=folder, check=True)
    words: list[str] = []
    for number in range(4):
        text = f"{rng.randrange(10**20, 10**21)} {rng.randrange(30_000_000, 40_000_000)}\n"
        (folder / "tests" / f"{number:02}.in").write_text(text)
        out = run(["../slow"], cwd=folder, input=text, text=True, capture_output=True, check=True).stdout
        (folder / "tests" / f"{number:02}.out").write_text(out)
        words += [*text.split(), *out.split()] if number >= 2 else []
    (folder / "../slow").unlink()
    return {word[at : at + 8] for word in words for at in range(len(word) - 7)}


def calls(rng: random.Random, count: int, ids: list[str], jobs: list[str]) -> Any:
    """Calls of all tools, most of them with something odd."""
    paths = ["slow.c", "tests", "tests/03.in", "tests/03.out", "runs/agent", "runs/agent/asked", "runs/mcp", ".", "..",
             "/etc/passwd", "runs/agent/certificate.json", "tests/../tests/03.in", "-", "--help"]  # fmt: skip
    options = [["--json"], ["--checker", "float"], ["--file", "tests/03.in"], ["--args", "tests/03.in"], ["--dry-run"],
               ["--run-limit", "0.0001"], ["--flags", "-include tests/03.in"], ["--include", "tests"],
               ["--out", "tests"], ["--profile-self"], ["--goal", "wall"], ["--seed", "x"],
               ["--policy", "command:cat tests/03.in"]]  # fmt: skip
    for number in range(count):
        pick = rng.random()
        path, option = rng.choice(paths), rng.choice(options)
        if number % 25 == 3:
            yield "submit", {"id": rng.choice(ids or ["x"]), "answer": f"```c\n{rng.choice(PEEKS)}```\n"}
        elif number % 25 == 14:
            yield "certify", {"candidate": "peek.c", "against": "slow.c", "tests": "tests", "options": option}
        elif pick < 0.3:
            yield "observe", {"run": rng.choice(["runs/agent", path])}
        elif pick < 0.6:
            yield "status", {"job": rng.choice(["", *jobs, path])}
        elif pick < 0.7:
            yield "submit", {"id": rng.choice([path, *ids]), "answer": rng.choice(["", "x", "NO FURTHER GAIN"])}
        elif pick < 0.8:
            yield "admit", {"source": rng.choice(paths[1:]), "tests": path, "run": path, "options": option}
        elif pick < 0.9:
            yield "race", {"base": path, "head": rng.choice(paths), "command": ["cat", "{}"], "options": option}
        else:
            yield "certify", {"candidate": path, "against": rng.choice(paths), "tests": "tests", "options": option}


async def probed(folder: Path, count: int, secret: set[str], rng: random.Random) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {}
    told: list[str] = []
    refused: Counter[str] = Counter()
    ids: list[str] = []
    jobs: list[str] = []

    async def one(client: Client, name: str, given: dict[str, Any]) -> str:
        began = time.monotonic()
        found = await client.call_tool(name, given)
        seconds.setdefault(name, []).append(time.monotonic() - began)
        text = "".join(getattr(part, "text", "") for part in found.content)
        refused[name] += bool(found.is_error)
        if any(piece in text for piece in secret):
            told.append(f"{name} {json.dumps(given)[:200]}: {text[:400]}")
        return text

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "maxcode", "mcp"], cwd=folder, env=dict(os.environ)
    )
    async with Client(server) as client:
        await one(client, "admit", {"source": "slow.c", "tests": "tests", "budget": "40",
                                    "options": ["--method", "best-of-n"]})  # fmt: skip
        for number, (name, given) in enumerate(calls(rng, count - 1, ids, jobs), 1):
            (folder / "peek.c").write_text(rng.choice(PEEKS))
            text = await one(client, name, given)
            ids += re.findall(r'^\{"id": "(\w+)"', text)
            jobs[:] = sorted({*jobs, *re.findall(r'"job": "([\w-]+)"', text)})[-9:]
            if number % 25 == 0:
                print(f"{number} calls, {len(told)} told", file=sys.stderr)
    rows = {name: (len(all_), refused[name], max(all_)) for name, all_ in seconds.items()}
    return {"calls": count, "rows": rows, "told": told}


def main() -> None:
    """Prints the table; ends with status 1 if a call told something or took too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    rng, place = random.Random(asked.seed), Path(tempfile.mkdtemp())
    try:
        secret = problem(place / "project", rng)
        found = anyio.run(probed, place / "project", asked.calls, secret, rng)
    finally:
        shutil.rmtree(place)
    print("| tool | calls | refused | slowest call |\n|---|---|---|---|")
    for name, (count, refused, slowest) in found["rows"].items():
        print(f"| {name} | {count} | {refused} | {slowest:.1f} s |")
    print(f"\n{len(found['told'])} of {asked.calls} calls told something of a hidden test")
    print("\n".join(found["told"]))
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=1))
    sys.exit(bool(found["told"]) or any(slowest > PROMISED for *_, slowest in found["rows"].values()))


if __name__ == "__main__":
    main()
