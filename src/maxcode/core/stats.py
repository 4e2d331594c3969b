"""Statistics of paired ratios: the anytime-valid race, intervals, bootstrap.  Pure functions, no clock.

Race: bets on the signs of log(original / candidate), which for equally fast programs are fair coins (``bets.py``).  A
win must exceed ``margin``, and so must the median, because the placement of code alone can give half a per cent.

Sessions (``sittings`` in the code): if one process runs a side for many pairs, the random placement of its memory
affects all of them, and more pairs do not average it out.  Such pairs are split into several sessions with new
processes in each.  The inference is over sessions: Student's t on the logarithms of their medians.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, final

from maxcode.core.bets import most_wealth, wealth
from maxcode.core.types import Interval

Verdict = Literal["faster", "slower", "tie"]

LOOKS = {4: 0.2, 8: 0.8}  # after how many sessions a confirmation may end -> the share of alpha for that look
FLIPPED_ALL = 14  # gaps of which all 2**13 flips are taken
COUNT_MARGIN = 0.001  # share of counted instructions that is a gain: a thousand times the variation of a count
_STOPPING = 0.97


@final
@dataclass(frozen=True, slots=True)
class RaceRule:
    """When a race stops, and how many pairs a confirmation has.

    ``alpha``: P(ever "faster" | equal).  The other rules only end a race without a winner.  They can miss a gain; they
    cannot report a false one: ``beta`` for "slower"; ``gross``: two pairs, all slower by more than this share;
    ``futile``: few wins so far; ``narrow``: the upper end of the interval shows less than this gain; ``most`` pairs,
    and before that, so many losses that winning all the rest would prove nothing.
    ``evident``: two pairs, all faster by more than this share, are enough to go on to the confirmation, which alone
    decides; None where the race itself counts, as in a search.
    A confirmation ends at ``confirm_least`` pairs or later, when its interval is within +-``confirm_target``.  It goes
    on while the interval shows a gain that the evidence does not yet prove.  It ends from half of ``confirm_most``
    pairs on, if the gain is proven and the interval will not be so narrow at ``confirm_most``, and always there.  A
    large gain need not be known as well as a small one: the interval may be as wide as ``confirm_share`` of the gain's
    logarithm, up to +-``confirm_widest``.
    """

    alpha: float = 0.01
    beta: float = 0.10
    margin: float = 0.01
    gross: float = 0.25
    least: int = 8
    most: int = 30
    evident: float | None = None
    futile_after: int = 6
    futile_share: float = 0.25
    narrow_after: int = 10
    narrow: float = 0.015
    confirm_least: int = 9
    confirm_most: int = 60
    confirm_target: float = 0.02
    confirm_share: float = 0.20
    confirm_widest: float = 0.10


def wins_over(ratios: Sequence[float], margin: float) -> int:
    """The number of pairs that the candidate wins by more than ``margin``.  ``ratios``: original / candidate."""
    return sum(1 for ratio in ratios if ratio > 1 + margin)


def decide(ratios: Sequence[float], rule: RaceRule) -> Verdict | None:
    """The verdict on the pairs so far, None = continue.  ``ratios``: original / candidate seconds, one a pair."""
    pairs = len(ratios)
    if pairs >= 2 and max(ratios) < 1 / (1 + rule.gross):
        return "slower"
    if rule.evident is not None and pairs >= 2 and min(ratios) > 1 + rule.evident:
        return "faster"
    if pairs >= rule.least and _is_proven(ratios, rule):
        return "faster"
    if wealth([-math.log(ratio) for ratio in ratios]) >= 1 / rule.beta:
        return "slower"
    if pairs >= rule.futile_after and wins_over(ratios, rule.margin) < rule.futile_share * pairs:
        return "tie"
    if _is_lost(ratios, rule):
        return "tie"
    if pairs >= rule.narrow_after and median_interval(ratios).high < 1 + rule.narrow:
        return "tie"
    return "tie" if pairs >= rule.most else None


def _is_lost(ratios: Sequence[float], rule: RaceRule) -> bool:
    """Whether winning all the rest would prove nothing.  False where ``most`` pairs never prove anything: such a race
    only measures."""
    gaps, least = [math.log(ratio) for ratio in ratios], math.log1p(rule.margin)
    could = wealth([1.0] * rule.most) >= 1 / rule.alpha
    return could and most_wealth(gaps, least, rule.most - len(gaps)) < 1 / rule.alpha


def median_interval(ratios: Sequence[float], confidence: float = 0.95) -> Interval:
    """The median of the ratios with a distribution-free interval from order statistics.

    With too few values for ``confidence``, the result is the extremes with their own confidence.
    """
    if not ratios:
        raise ValueError("no ratios to take a median of")
    ordered = sorted(ratios)
    count = len(ordered)
    median = math.sqrt(ordered[count // 2] * ordered[(count - 1) // 2])
    cut = 0
    while cut + 1 <= (count - 1) // 2 and _coverage(count, cut + 1) >= confidence:
        cut += 1
    reached = _coverage(count, cut)
    return Interval(median, ordered[cut], ordered[count - 1 - cut], min(confidence, reached))


def _coverage(count: int, cut: int) -> float:
    """P(the median lies between the order statistics left after dropping ``cut`` at each end)."""
    return 1 - sign_test_p(cut, count)


def sign_test_p(fewer: int, count: int) -> float:
    """The two-sided p of the sign test: ``fewer`` of ``count`` values lie on the side where the fewer of them lie."""
    return min(1.0, 2 * sum(math.comb(count, i) for i in range(fewer + 1)) / 2.0**count)


def half_width(interval: Interval) -> float:
    """Half the interval relative to its value."""
    return (interval.high - interval.low) / 2 / interval.value


def interval_of(ratios: Sequence[float], sittings: Sequence[int] = (), confidence: float = 0.95) -> Interval:
    """The median with its interval.  ``sittings``: how many of the ratios belong to each session; with it, the result
    is the geometric mean of the sessions' medians with Student's interval over sessions."""
    if not sittings:
        return median_interval(ratios, confidence)
    if len(sittings) < 2 or sum(sittings) != len(ratios) or min(sittings) < 1:
        raise ValueError(f"{len(ratios)} ratios do not fill sessions of {list(sittings)}; give at least two sessions")
    ends = list(itertools.accumulate(sittings))
    logs = [math.log(median_interval(ratios[end - size : end]).value) for end, size in zip(ends, sittings, strict=True)]
    mean = mean_interval(logs, confidence)
    return Interval(math.exp(mean.value), math.exp(mean.low), math.exp(mean.high), confidence)


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean of at least two values, with Student's interval."""
    mean = statistics.fmean(values)
    reach = student(len(values) - 1, confidence) * statistics.stdev(values) / math.sqrt(len(values))
    return Interval(mean, mean - reach, mean + reach, confidence)


def student(freedom: int, confidence: float) -> float:
    """The t with P(|T| < t) = ``confidence``, for Student's T with ``freedom`` degrees of freedom."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if _within(angle, freedom) < confidence else (low, angle)
    return math.tan(low) * math.sqrt(freedom)


def _within(angle: float, freedom: int) -> float:
    """P(|T| < tan(angle) x sqrt(freedom)): the finite sum for whole degrees of freedom."""
    term = math.sin(angle) * (math.cos(angle) if freedom % 2 else 1.0)
    total = 0.0
    for power in range(1 + freedom % 2, freedom, 2):
        total += term
        term *= math.cos(angle) ** 2 * power / (power + 1)
    return 2 / math.pi * (angle + total) if freedom % 2 else total


def differ(one: Interval, other: Interval, confidence: float = 0.95) -> bool:
    """Whether two ratios that were measured independently differ, by the interval of the difference of their
    logarithms.

    Its reach is the root of the sum of the squares of the reaches that face each other (MOVER, Zou and Donner 2008,
    doi 10.1002/sim.3095).  For intervals of another confidence, as extremes are, they must lie apart.
    """
    above, below = (one, other) if one.value > other.value else (other, one)
    if below.high < above.low:
        return True
    ends = (below.value, above.low)
    if min(ends) <= 0 or not all(math.isclose(each.confidence, confidence) for each in (one, other)):
        return False
    reach = math.hypot(math.log(above.value / above.low), math.log(below.high / below.value))
    return math.log(above.value / below.value) > reach


def is_settled(ratios: Sequence[float], rule: RaceRule) -> bool:
    """Whether a confirmation may end (``RaceRule``).

    It looks at the 97 % interval.  The 95 % interval then holds the true ratio in 93 to 99 % of runs
    (``benchmarks/confirmations.py``: normal and heavy-tailed noise, gains of 1 to 10).
    """
    count = len(ratios)
    if count >= rule.confirm_most:
        return True
    if count < rule.confirm_least:
        return False
    interval = median_interval(ratios, _STOPPING)
    by_gain = rule.confirm_share * abs(math.log(interval.value))
    aim = max(rule.confirm_target, min(by_gain, rule.confirm_widest))
    at_the_end = half_width(interval) * math.sqrt(count / rule.confirm_most)
    if half_width(interval) > aim:
        return 2 * count >= rule.confirm_most and at_the_end > aim and is_faster(ratios, rule)
    return median_interval(ratios).low <= 1 or _is_proven(ratios, rule)


def is_faster(ratios: Sequence[float], rule: RaceRule, sittings: Sequence[int] = ()) -> bool:
    """Whether fresh pairs prove the candidate faster.

    Pairs: the evidence of the race, and an interval above 1.  Sessions: a gain above the margin, and an interval above
    1 that equal programs get with at most this look's share of ``alpha``; False between the looks.
    """
    if sittings:
        share = LOOKS.get(len(sittings), 0.0)
        interval = interval_of(ratios, sittings, 1 - 2 * rule.alpha * share)
        return share > 0 and interval.value > 1 + rule.margin and interval.low > 1
    return _is_proven(ratios, rule) and median_interval(ratios).low > 1


def _is_proven(ratios: Sequence[float], rule: RaceRule) -> bool:
    gaps, least = [math.log(ratio) for ratio in ratios], math.log1p(rule.margin)
    return statistics.median(gaps) > least and wealth(gaps, least) >= 1 / rule.alpha


def decide_sittings(ratios: Sequence[float], sittings: Sequence[int], rule: RaceRule) -> Verdict | None:
    """The verdict of a confirmation by sessions so far, None = run more sessions.

    It ends at a look that finds a gain, at a look that finds none on average, and at the last look.
    """
    if len(sittings) not in LOOKS:
        return None
    interval = interval_of(ratios, sittings)
    if is_faster(ratios, rule, sittings):
        return "faster"
    if interval.value > 1 and len(sittings) < max(LOOKS):
        return None
    return "tie" if interval.high > 1 else "slower"


def bootstrap(
    values: Sequence[float], statistic: Callable[[Sequence[float]], float], seed: int = 0, draws: int = 2000
) -> Interval:
    """A percentile-bootstrap 95 % interval of ``statistic`` over ``values``."""
    generator = random.Random(seed)
    return percentiles(statistic(values), [statistic(generator.choices(values, k=len(values))) for _ in range(draws)])


def percentiles(value: float, drawn: Sequence[float]) -> Interval:
    """``value`` with the middle 95 % of its bootstrap draws."""
    ordered = sorted(drawn)
    return Interval(value, ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1])


def all_resamples(size: int) -> list[tuple[int, ...]]:
    """Every way to draw ``size`` of ``size`` items with replacement, as indexes: size**size of them."""
    return list(itertools.product(range(size), repeat=size))


def random_resamples(size: int, count: int, generator: random.Random) -> list[tuple[int, ...]]:
    """``count`` random ways to draw ``size`` of ``size`` items with replacement, as indexes."""
    return [tuple(generator.choices(range(size), k=size)) for _ in range(count)]


def cluster_draws(clusters: int, variants: int, draws: int, seed: int = 0) -> Iterator[list[int]]:
    """The draws of a two-level bootstrap over ``clusters``, each with ``variants`` resamples of its members.

    A draw has ``clusters`` indexes into the list of all variants, ordered by cluster.  A uniform draw from that list is
    a draw of a cluster with replacement, and then of one of its resamples.
    """
    generator = random.Random(seed)
    pool = range(clusters * variants)
    for _ in range(draws):
        yield generator.choices(pool, k=clusters)


def sign_flip_p(gaps: Sequence[float], draws: int = 10_000, seed: int = 0) -> float:
    """The two-sided p-value of the sign-flip test: the null is that each gap has either sign equally often.

    It takes all flips if at most ``FLIPPED_ALL`` gaps differ from 0, else ``draws`` random ones.  So it is never below
    the least p-value of the sign test, and it is 1 if no gap differs from 0.
    """
    differing = [gap for gap in gaps if gap]
    reached = abs(sum(differing)) - 1e-12 * sum(map(abs, differing))  # the flips are summed in another order
    if len(differing) <= FLIPPED_ALL:
        flipped = _all_flips(differing)
        return sum(abs(total) >= reached for total in flipped) / len(flipped)
    return (1 + sum(abs(total) >= reached for total in _random_flips(differing, draws, seed))) / (1 + draws)


def _all_flips(gaps: Sequence[float]) -> list[float]:
    """The sums of all flips without their mirror images: the first gap keeps its sign."""
    sums = [sum(gaps[:1])]
    for gap in gaps[1:]:
        sums = [total + signed for signed in (gap, -gap) for total in sums]
    return sums


def _random_flips(gaps: Sequence[float], draws: int, seed: int) -> Iterator[float]:
    """The sums of random flips; a table gives the sum of eight gaps for each byte of signs."""
    generator = random.Random(seed)
    tables = [
        [sum(gap if byte >> at & 1 else -gap for at, gap in enumerate(gaps[start : start + 8])) for byte in range(256)]
        for start in range(0, len(gaps), 8)
    ]
    for _ in range(draws):
        yield sum(map(list.__getitem__, tables, generator.randbytes(len(tables))))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given.  If every given p-value is valid, "any adjusted p < 0.05" is
    false at most 1 time in 20."""
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = floor
    return adjusted


def mean_ranks(values: Sequence[float]) -> list[float]:
    """Ranks in the order given, 1 for the highest value; equal values share the mean of their ranks."""
    ordered = sorted(values, reverse=True)
    first = {value: ordered.index(value) for value in set(values)}
    return [first[value] + (values.count(value) + 1) / 2 for value in values]


def geometric_mean(values: Sequence[float]) -> float:
    """exp of the mean of the logarithms; values are positive."""
    return math.exp(sum(map(math.log, values)) / len(values))


def expected_best(values: Sequence[float], draws: int) -> float:
    """The largest of ``draws`` values, averaged over all ways to draw them without replacement.

    If the values are independent draws of one distribution, it is unbiased for the best of as many fresh samples, like
    the estimator of pass@k (Chen et al., arXiv 2107.03374).
    """
    ways = math.comb(len(values), draws)
    ordered = sorted(values)
    return sum(value * math.comb(below, draws - 1) for below, value in enumerate(ordered)) / ways


def draw(*words: object) -> int:
    """A 64-bit hash of the words, used instead of a random number: the same words give the same draw."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, words)).encode()).digest()[:8])
