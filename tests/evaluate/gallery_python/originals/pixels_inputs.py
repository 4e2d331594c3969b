import numpy as np


def inputs(seed, size):
    return (bytearray(np.random.default_rng(seed).bytes(200000)),)
