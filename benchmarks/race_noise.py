"""Simulates `maxcode race` on recorded and on made noise: false verdicts, gains found, pairs.  Nothing is timed.

    python benchmarks/race_noise.py [--races 300] [--only KIND ...] [--pairs 60]

Races are judged by the code of the product after each pair, and again by bets on the sizes of the gaps alone, the
evidence before.  recorded: nine races of commands with and without 5 % more work, 60 pairs of three runs each, on a
virtual machine where a gap is noisy by 8 to 22 % (``noise/recorded.jsonl``).  A simulated race takes two of the three
runs, head's moved so that its median gap is 0, gives both times of a pair to the sides by a coin, starts anywhere, and
makes all times of the candidate shorter by the gain.  The other kinds are made: a gap is noisy by about 6 %.

"false": races of equal programs with a verdict "faster" or "slower"; each should be at most 1 %.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from maxcode.core import two_sided
from maxcode.core.bets import level_of
from maxcode.core.bets import wealth as present_wealth
from maxcode.core.two_sided import TwoSidedRule, judge
from maxcode.run.certificate.earlier_formats import wealth_by_sizes
from trust.rows import table

GAINS = (1.0, 1.02, 1.05, 1.2)
NOISE = 0.06 / math.sqrt(2)  # of one time
RECORDED = [json.loads(line) for line in (Path(__file__).parent / "noise" / "recorded.jsonl").read_text().splitlines()]

Times = list[tuple[float, float]]


def recorded(generator: random.Random, pairs: int) -> Times:
    """Two equal programs with the noise of a recorded race, at most its pairs."""
    row: dict[str, Any] = generator.choice(RECORDED)
    first, second = generator.choice([("base", "control"), ("base", "head"), ("control", "head")])
    moved = statistics.median(a / b for a, b in zip(row[first], row[second], strict=True)) if second == "head" else 1
    times = [(a, b * moved) for a, b in zip(row[first], row[second], strict=True)]
    start = generator.randrange(len(times))
    return [pair if generator.random() < 0.5 else pair[::-1] for pair in (times[start:] + times[:start])[:pairs]]


def made(
    noise: Callable[[random.Random], float], steps: Callable[[random.Random, float], float]
) -> Callable[..., Times]:
    """Two equal programs with this noise of a time, and this level of a pair after the one before it, in logarithms."""

    def times(generator: random.Random, pairs: int) -> Times:
        level, found = 0.0, []
        for _ in range(pairs):
            level = steps(generator, level)
            found.append((math.exp(level + noise(generator)), math.exp(level + noise(generator))))
        return found

    return times


def normal(generator: random.Random) -> float:
    return generator.gauss(0, NOISE)


def heavy(generator: random.Random) -> float:
    """Student's t with two degrees of freedom."""
    return 0.5 * NOISE * generator.gauss(0, 1) / math.sqrt(generator.expovariate(1))


def two_speeds(generator: random.Random) -> float:
    return (2 * NOISE if generator.random() < 0.3 else 0.0) + generator.gauss(0, NOISE / 4)


KINDS = {
    "recorded": recorded,
    "lognormal": made(normal, lambda _, level: 0.0),
    "heavy tails": made(heavy, lambda _, level: 0.0),
    "two speeds": made(two_speeds, lambda _, level: 0.0),
    "drift": made(normal, lambda _, level: level + NOISE / 4),
    "autocorrelated": made(normal, lambda generator, level: 0.9 * level + generator.gauss(0, 2 * NOISE)),
}


def raced(times: Times, gain: float, most: int) -> tuple[str, int]:
    """The verdict, and after how many pairs."""
    times, rule = [(base, head / gain) for base, head in times], TwoSidedRule(most=most)
    ratios, levels = [base / head for base, head in times], [level_of(*pair) for pair in times]
    for pairs in range(rule.least, most + 1):
        if (word := judge(ratios[:pairs], rule, levels[:pairs])) != "undecided":
            return word, pairs
    return "undecided", most


@contextmanager
def by_sizes() -> Iterator[None]:
    """Races are judged by the evidence before."""
    two_sided.wealth = lambda gaps, least=0.0, levels=(): wealth_by_sizes(gaps, least)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        two_sided.wealth = present_wealth  # type: ignore[attr-defined]


def row_of(kind: str, gain: float, races: int, most: int) -> dict[str, object]:
    """A line of the table."""
    generator = random.Random(f"{kind} {gain}")
    drawn = [KINDS[kind](generator, most) for _ in range(races)]
    now = [raced(times, gain, most) for times in drawn]
    with by_sizes():
        then = [raced(times, gain, most) for times in drawn]
    return {"noise": kind, "gain": f"{gain - 1:.0%}", **told("", now), **told(" by sizes", then)}


def told(name: str, found: Sequence[tuple[str, int]]) -> dict[str, object]:
    shares = {word: sum(said == word for said, _ in found) / len(found) for word in ("faster", "slower", "no change")}
    return {f"{word}{name}": f"{share:.1%}" for word, share in shares.items()} | {
        f"pairs{name}": f"{statistics.fmean(pairs for _, pairs in found):.1f}"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=300, help="a line; three times as many of equal programs")
    parser.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND")
    parser.add_argument("--pairs", type=int, default=60, help="most pairs of a race")
    options = parser.parse_args()
    rows = [
        row_of(kind, gain, options.races * (3 if gain == 1 else 1), options.pairs)
        for kind in options.only for gain in GAINS
    ]  # fmt: skip
    print(table(rows))


if __name__ == "__main__":
    main()
