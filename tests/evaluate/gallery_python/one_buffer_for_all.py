# VERDICT wrong
# AGAINST smooth
# WHY Results of earlier calls change when the buffer is written again.
import numpy as np

FOUND = np.empty(1500)


def smooth(x, width):
    window = np.ones(2 * width + 1)
    FOUND[:] = np.convolve(x, window, "same") / np.convolve(np.ones(len(x)), window, "same")
    return FOUND
