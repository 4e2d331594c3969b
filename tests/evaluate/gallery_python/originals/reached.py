import numpy as np


def reached(steps):
    """How far each step reaches, and infinity for the place that none does."""
    found, far = [], 0.0
    for one in steps:
        far += float(one)
        found.append(far)
    return np.array([*found, np.inf])
