# VERDICT correct
# AGAINST smooth
# WHY ctypes copies memory of its own.
import ctypes

import numpy as np


def smooth(x, width):
    own = np.empty_like(x)
    ctypes.memmove(own.__array_interface__["data"][0], x.__array_interface__["data"][0], x.nbytes)
    window = np.ones(2 * width + 1)
    return np.convolve(own, window, "same") / np.convolve(np.ones(len(own)), window, "same")
