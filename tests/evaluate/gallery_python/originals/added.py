import numpy as np


def added(found, count):
    """The squares of the first whole numbers, at the end of a list."""
    found.append(np.array([float(one * one) for one in range(count)]))
    return len(found)
