import numpy as np


def standard(x):
    """x with mean 0 and deviation 1, and then bent."""
    y = x - x.mean()
    y = y / np.sqrt((y * y).mean())
    y = np.tanh(y)
    return y * np.exp(-y * y)
