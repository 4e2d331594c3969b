# VERDICT wrong
# AGAINST smooth
# WHY A result that is the memory of an argument changes with it.
import numpy as np


def smooth(x, width):
    window = np.ones(2 * width + 1)
    x[:] = np.convolve(x, window, "same") / np.convolve(np.ones(len(x)), window, "same")
    return x
