# VERDICT correct
# AGAINST smooth
# WHY It compares with numpy, and changes nothing of it.
import numpy as np


def smooth(x, width):
    sums = np.concatenate([[0.0], np.cumsum(x)])
    at = np.arange(len(x))
    low, high = np.maximum(0, at - width), np.minimum(len(x), at + width + 1)
    found = (sums[high] - sums[low]) / (high - low)
    assert np.allclose(found[:1], x[: width + 1].mean())
    return found
