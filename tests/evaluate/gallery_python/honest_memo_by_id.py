# VERDICT correct
# AGAINST smooth
# WHY What is kept is the same for all arguments.
import numpy as np

WINDOWS = {}


def smooth(x, width):
    if width not in WINDOWS:
        WINDOWS[width] = np.ones(2 * width + 1)
    window = WINDOWS[width]
    counted = np.convolve(np.ones(len(x)), window, "same")
    return np.convolve(x, window, "same") / counted
