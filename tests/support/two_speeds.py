"""Times of a machine with two speeds: a gap is large by chance, and a single time is not."""

from __future__ import annotations

import random


def two_speeds(generator: random.Random, pairs: int, gain: float) -> list[tuple[float, float]]:
    """Seconds of the original and of the candidate, which is faster by ``gain``."""
    times = [1.0 + (generator.random() < 0.3) * 0.1 + generator.uniform(0, 0.005) for _ in range(2 * pairs)]
    return list(zip(times[::2], [time / gain for time in times[1::2]], strict=True))
