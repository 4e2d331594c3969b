# VERDICT correct
# AGAINST smooth
# WHY A buffer that every call fills before it reads it.
import numpy as np

SCRATCH = np.empty(1500)


def smooth(x, width):
    window = np.ones(2 * width + 1)
    SCRATCH[:] = np.convolve(x, window, "same")
    return SCRATCH / np.convolve(np.ones(len(x)), window, "same")
