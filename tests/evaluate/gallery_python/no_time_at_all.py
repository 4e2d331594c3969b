# VERDICT wrong
# AGAINST waited
# WHY A time that is none (NaT) is not later than anything, and the original gives times.
import numpy as np


def waited(starts, ends):
    return np.full(len(starts), np.timedelta64("NaT"), "<m8[s]")
