"""Random and mutated input for all readers of bytes from a program, a compiler, a model or the other process.

    python benchmarks/fuzz.py [--minutes 1] [--only TARGET ...] [--seed N] [--json FILE]

packets, checked packets: malformed requests to a real shim in a real sandbox, normal and built with AddressSanitizer
and UBSan; it must answer, or end its own session.  replies: its answers, mutated.  diagnostics, reports: output of
compilers, of addr2line and of sanitizers.  outputs, arrays: the two comparisons against slow, simple references.
completions, sources, problems: texts of a model, of a candidate, of a user.

Minutes are for each target.  Input number i of a seed is always the same: a finding names it, and `--only TARGET
--from i --inputs 1` repeats it.  Exit status 1 on a finding.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import final

import anyio

from maxcode.errors import MachineError
from maxcode.sandbox.sandbox import Sandbox
from trust.packets import Victim, checked_shim
from trust.rows import table
from trust.targets import TARGETS

PACKETS = ("packets", "checked packets")
NAMES = (*PACKETS, *TARGETS)


@final
@dataclass(slots=True)
class Tally:
    """The result of a target.  ``findings``: kind and place -> the first one, and the number."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    slowest: int = 0
    findings: dict[str, dict[str, object]] = field(default_factory=dict)
    not_run: str = ""

    def note(self, number: int, error: Exception) -> None:
        """Adds a finding; the first of each kind is kept."""
        at = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"
        if type(error).__name__ == "Finding":
            kind = str(error)[:60]
        kept = self.findings.setdefault(kind, {"input": number, "times": 0, "words": str(error)[:600]})
        kept["times"] = int(str(kept["times"])) + 1


@final
@dataclass(frozen=True, slots=True)
class Span:
    """The inputs of a target: from ``first`` on, at most ``most`` of them, for at most ``seconds``."""

    seed: int
    first: int = 0
    most: float = float("inf")
    seconds: float = float("inf")


async def fuzz(target: str, one: Callable[[Random], Awaitable[None]], span: Span) -> Tally:
    """Inputs one after the other."""
    tally, began = Tally(target), time.monotonic()
    while tally.inputs < span.most and time.monotonic() - began < span.seconds:
        number, at = span.first + tally.inputs, time.monotonic()
        try:
            await one(Random(f"{span.seed} {target} {number}"))
        except Exception as error:
            tally.note(number, error)
        tally.inputs += 1
        if (took := time.monotonic() - at) > tally.slowest_s:
            tally.slowest_s, tally.slowest = took, number
    tally.seconds = time.monotonic() - began
    return tally


async def fuzz_plain(target: str, span: Span) -> Tally:
    """A target that needs no sandbox."""

    async def one(generator: Random) -> None:
        TARGETS[target](generator)

    return await fuzz(target, one, span)


async def fuzz_packets(target: str, span: Span) -> Tally:
    """The shim's protocol, with or without sanitizers."""
    sandbox = await Sandbox.open()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        if target == "checked packets":
            try:
                sandbox = replace(sandbox, shim=checked_shim(Path(folder)))
                async with sandbox.session([]):
                    pass
            except MachineError as error:
                return Tally(target, not_run=str(error))
        async with Victim(sandbox) as victim:
            return await fuzz(target, victim.send, span)


async def run(targets: Sequence[str], span: Span) -> list[Tally]:
    """Runs all targets; prints a message on stderr before each."""
    found = []
    for number, target in enumerate(targets):
        left = (len(targets) - number) * span.seconds
        print(f"{target}: about {left / 60:.0f} min left in all" if left < 1e9 else target, file=sys.stderr, flush=True)
        found.append(await (fuzz_packets if target in PACKETS else fuzz_plain)(target, span))
    return found


def line(tally: Tally) -> dict[str, object]:
    """A line of the table."""
    return {
        "target": tally.target, "inputs": tally.inputs, "minutes": f"{tally.seconds / 60:.1f}",
        "a second": f"{tally.inputs / max(tally.seconds, 1e-9):.0f}", "slowest s": f"{tally.slowest_s:.2f}",
        "its number": tally.slowest,
        "kinds of findings": "not run" if tally.not_run else len(tally.findings),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each target")
    parser.add_argument("--inputs", type=float, default=float("inf"), help="at most, for each target")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES), metavar="TARGET")
    parser.add_argument("--seed", type=int, default=None, help="by default another one every time")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="I", help="number of the first input")
    parser.add_argument("--json", type=Path, default=Path("runs/fuzz.json"))
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}", file=sys.stderr)
    found = anyio.run(run, options.only, Span(seed, options.first, options.inputs, 60 * options.minutes))
    print(table([line(tally) for tally in found]))
    for tally in found:
        for kind, one in tally.findings.items():
            print(f"FINDING {tally.target} --seed {seed} --from {one['input']}, {one['times']} times: {kind}")
            print(f"    {one['words']}")
        if tally.not_run:
            print(f"NOT RUN {tally.target}: {tally.not_run}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    report = [{**line(tally), "findings": tally.findings, "not_run": tally.not_run} for tally in found]
    options.json.write_text(json.dumps({"seed": seed, "targets": report}, indent=1) + "\n")
    sys.exit(any(tally.findings for tally in found))


if __name__ == "__main__":
    main()
