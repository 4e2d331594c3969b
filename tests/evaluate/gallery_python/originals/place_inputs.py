import random


def inputs(seed, size):
    draw = random.Random(seed)
    return sorted(draw.randrange(1 << 40) for _ in range(20000)), draw.randrange(1 << 40)
