import random


def inputs(seed, size):
    draw = random.Random(seed)
    return ([draw.randrange(1, 10**6) for _ in range(300)],)
