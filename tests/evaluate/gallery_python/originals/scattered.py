import numpy as np

SIDE = 700


def scattered(rows, columns, values):
    """A table of zeros but for these values."""
    found = np.zeros((SIDE, SIDE))
    found[rows, columns] = values
    return found
