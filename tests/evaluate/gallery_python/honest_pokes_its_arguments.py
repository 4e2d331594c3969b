# VERDICT correct
# AGAINST smooth
# WHY It writes to a copy.
import numpy as np


def smooth(x, width):
    own = x.copy()
    own[own != own] = 0.0
    window = np.ones(2 * width + 1)
    return np.convolve(own, window, "same") / np.convolve(np.ones(len(own)), window, "same")
