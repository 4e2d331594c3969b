import numpy as np


def arranged(values):
    """The values in order."""
    return np.array(sorted(values.tolist()))
