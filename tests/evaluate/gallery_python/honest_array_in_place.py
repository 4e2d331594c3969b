# VERDICT correct
# AGAINST standard
# WHY An array of its own for every call, worked on in place.
import numpy as np


def standard(x):
    y = x - x.mean()
    y /= np.sqrt(y.dot(y) / len(y))
    np.tanh(y, out=y)
    y *= np.exp(-y * y)
    return y
