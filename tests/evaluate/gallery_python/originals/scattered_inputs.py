import numpy as np


def inputs(seed, size):
    draw = np.random.default_rng(seed)
    return draw.integers(0, 700, 500), draw.integers(0, 700, 500), draw.random(500)
