import numpy as np

WIDTH = 30


def windows(values):
    """All windows of the values, one in a row."""
    return np.array([values[at : at + WIDTH] for at in range(len(values) - WIDTH + 1)])
