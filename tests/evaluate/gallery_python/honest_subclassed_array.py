# VERDICT correct
# AGAINST smooth
# WHY A class of its own on the way, and a plain array at the end.
import numpy as np


class Fast(np.ndarray):
    pass


def smooth(x, width):
    window = np.ones(2 * width + 1)
    found = (np.convolve(x.view(Fast), window, "same") / np.convolve(np.ones(len(x)), window, "same")).view(Fast)
    return np.asarray(found)
