# VERDICT wrong
# AGAINST arranged
# WHY An array without elements, all of which are as they should be; the original's has some.
import numpy as np


def arranged(values):
    return np.empty((0, len(values)))
