import random


def inputs(seed, size):
    draw = random.Random(seed)
    return draw.randrange(600, 1000), draw.randrange(1000)
