import numpy as np


def squares(count):
    """The squares of the first whole numbers, and the same once more."""
    found = np.arange(count) ** 2.0
    return found, found.copy()
