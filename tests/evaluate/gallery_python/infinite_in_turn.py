# VERDICT wrong
# AGAINST solved
# WHY Infinity less infinity is NaN, which is not larger than the tolerance of a check; the original gives numbers.
import numpy as np


def solved(a, b):
    found = np.full(len(b), np.inf)
    found[::2] = -np.inf
    return found
