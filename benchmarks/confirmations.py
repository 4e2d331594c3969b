"""Simulates confirmations: how many pairs they take, whether the interval holds the truth, what is called faster.

    python benchmarks/confirmations.py [--count 400] [--heavy]
    python benchmarks/confirmations.py --races [--count 400] [--heavy]

Each pair's ratio is the true one times exp(noise), by the code of the rule alone: nothing is timed.  --heavy: one pair
in ten has five times the noise.  Where the true ratio is 1, what is "called faster" is an error of the rule.

--races: races of a search in its place, and what the same bets find by the signs of the same pairs alone.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics

from maxcode.core.bets import wealth
from maxcode.core.stats import RaceRule, decide, half_width, is_faster, is_settled, median_interval
from trust.rows import table

RATIOS, NOISES = (1.0, 1.02, 1.05, 1.2, 1.5, 2.0, 3.2, 10.0), (0.01, 0.02, 0.03, 0.04, 0.06, 0.15)
GAINS = (1.0, 1.02, 1.05, 1.2)
OUTLIERS, TIMES = 0.1, 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400, help="confirmations a row")
    parser.add_argument("--heavy", action="store_true", help="one pair in ten is an outlier")
    parser.add_argument("--races", action="store_true", help="races in place of confirmations")
    options = parser.parse_args()
    ratios, row = (GAINS, row_of_races) if options.races else (RATIOS, row_of_confirmations)
    print(table([row(ratio, noise, options.count, options.heavy) for ratio in ratios for noise in NOISES]))


def row_of_confirmations(ratio: float, noise: float, count: int, heavy: bool) -> dict[str, object]:
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
        pairs.append(drawn(ratio, noise, heavy, generator))
    return pairs


def drawn(ratio: float, noise: float, heavy: bool, generator: random.Random) -> float:
    """The ratio of a pair."""
    wide = TIMES if heavy and generator.random() < OUTLIERS else 1.0
    return ratio * math.exp(generator.gauss(0, wide * noise))


def row_of_races(ratio: float, noise: float, count: int, heavy: bool) -> dict[str, object]:
    """What ``count`` races come to."""
    generator, rule = random.Random(f"{ratio} {noise}"), RaceRule()
    races = [[drawn(ratio, noise, heavy, generator) for _ in range(rule.most)] for _ in range(count)]
    ended = [race(one, rule) for one in races]
    signs = sum(is_shown_by_signs(one, rule) for one in races)
    return {
        "ratio": f"{ratio:g}",
        "noise": f"{noise:.0%}",
        "pairs": f"{statistics.fmean(pairs for _, pairs in ended):.1f}",
        "called faster": f"{sum(verdict == 'faster' for verdict, _ in ended) / count:.1%}",
        "by signs alone": f"{signs / count:.1%}",
    }


def race(ratios: list[float], rule: RaceRule) -> tuple[str, int]:
    """The verdict, and after how many pairs."""
    found = ((decide(ratios[:pairs], rule), pairs) for pairs in range(1, len(ratios) + 1))
    return next((verdict, pairs) for verdict, pairs in found if verdict is not None)


def is_shown_by_signs(ratios: list[float], rule: RaceRule) -> bool:
    """Whether the bets ever show a gain if all gaps have the same size; the rest of the rule is the same."""
    signs = [1.0 if ratio > 1 + rule.margin else -1.0 for ratio in ratios]
    looks = range(rule.least, len(signs) + 1)
    shown = [pairs for pairs in looks if wealth(signs[:pairs]) >= 1 / rule.alpha]
    return any(statistics.median(ratios[:pairs]) > 1 + rule.margin for pairs in shown)


if __name__ == "__main__":
    main()
