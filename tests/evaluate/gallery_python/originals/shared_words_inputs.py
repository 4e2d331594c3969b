import random


def inputs(seed, size):
    draw = random.Random(seed)
    return tuple(" ".join(str(draw.randrange(300)) for _ in range(100)) for _ in range(2))
