import random


def inputs(seed, size):
    return (random.Random(seed).randrange(100000, 200000),)
