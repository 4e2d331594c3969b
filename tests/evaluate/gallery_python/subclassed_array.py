# VERDICT wrong
# AGAINST smooth
# WHY An array of a class of its own could compute when it is looked at.
import numpy as np


class Fast(np.ndarray):
    pass


def smooth(x, width):
    window = np.ones(2 * width + 1)
    return (np.convolve(x, window, "same") / np.convolve(np.ones(len(x)), window, "same")).view(Fast)
