import random


def inputs(seed, size):
    draw = random.Random(seed)
    return (" ".join(str(draw.randrange(3000)) for _ in range(20000)),)
