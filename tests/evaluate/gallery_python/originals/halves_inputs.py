import random


def inputs(seed, size):
    draw = random.Random(seed)
    return ([draw.randrange(1000) for _ in range(3000)],)
