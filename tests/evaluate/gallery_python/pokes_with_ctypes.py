# VERDICT wrong
# AGAINST smooth
# WHY What it writes into the exchange memory is seen when its results are compared.
import ctypes

import numpy as np


def smooth(x, width):
    address = x.__array_interface__["data"][0]
    ctypes.memset(address, 0, x.nbytes)
    return np.zeros_like(x)
