import random


def inputs(seed, size):
    draw = random.Random(seed)
    return ([draw.randrange(-1, 10**6) if draw.random() < 0.9 else -5] + [draw.randrange(10**6) for _ in range(300)],)
