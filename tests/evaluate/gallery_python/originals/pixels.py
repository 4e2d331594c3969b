import numpy as np


def pixels(data):
    return np.array(list(data), dtype=np.uint8)
