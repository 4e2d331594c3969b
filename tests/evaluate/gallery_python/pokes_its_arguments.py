# VERDICT wrong
# AGAINST smooth
# WHY The memory of its arguments is read by the shim, so that what it writes there shows.
import numpy as np


def smooth(x, width):
    x[:] = 0.0
    return np.zeros_like(x)
