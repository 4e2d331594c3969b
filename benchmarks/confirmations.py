"""Simulates confirmations: how many pairs they take, whether the interval holds the truth, what is called faster.

    python benchmarks/confirmations.py [--count 400] [--heavy]

Each pair's ratio is the true one times exp(noise), by the code of the rule alone: nothing is timed.  --heavy: one pair
in ten has five times the noise.  Where the true ratio is 1, what is "called faster" is an error of the rule.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics

from maxcode.core.stats import RaceRule, half_width, is_faster, is_settled, median_interval
from trust.rows import table

RATIOS, NOISES = (1.0, 1.02, 1.05, 1.2, 1.5, 2.0, 3.2, 10.0), (0.01, 0.02, 0.03, 0.04, 0.06, 0.15)
OUTLIERS, TIMES = 0.1, 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400, help="confirmations a row")
    parser.add_argument("--heavy", action="store_true", help="one pair in ten is an outlier")
    options = parser.parse_args()
    rows = [row(ratio, noise, options.count, options.heavy) for ratio in RATIOS for noise in NOISES]
    print(table(rows))


def row(ratio: float, noise: float, count: int, heavy: bool) -> dict[str, object]:
    """What ``count`` confirmations come to."""
    generator, rule = random.Random(f"{ratio} {noise}"), RaceRule()
    runs = [confirmation(ratio, noise, heavy, generator) for _ in range(count)]
    intervals = [median_interval(one) for one in runs]
    return {
        "ratio": f"{ratio:g}",
        "noise": f"{noise:.0%}",
        "pairs": f"{statistics.fmean(map(len, runs)):.1f}",
        "holds the ratio": f"{sum(one.low <= ratio <= one.high for one in intervals) / count:.1%}",
        "called faster": f"{sum(is_faster(one, rule) for one in runs) / count:.1%}",
        "half width": f"{statistics.fmean(map(half_width, intervals)):.1%}",
    }


def confirmation(ratio: float, noise: float, heavy: bool, generator: random.Random) -> list[float]:
    """The ratios of the pairs of one confirmation."""
    pairs: list[float] = []
    while not is_settled(pairs, RaceRule()):
        wide = TIMES if heavy and generator.random() < OUTLIERS else 1.0
        pairs.append(ratio * math.exp(generator.gauss(0, wide * noise)))
    return pairs


if __name__ == "__main__":
    main()
