import numpy as np


def inputs(seed, size):
    draw = np.random.default_rng(seed)
    starts = draw.integers(0, 10**6, 3000)
    return starts, starts + draw.integers(1, 10**4, 3000)
