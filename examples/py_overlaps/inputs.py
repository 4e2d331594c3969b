"""The arguments of a call; every timed call has other ones."""

import random


def inputs(seed, size):
    draw = random.Random(seed)
    starts = [draw.randrange(10 * size) for _ in range(draw.randrange(size // 2, size))]
    return [(start, start + draw.randrange(1, 200)) for start in starts], draw.randrange(1, 20)
