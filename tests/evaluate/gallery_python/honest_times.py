# VERDICT correct
# AGAINST waited
# WHY The same times, worked out for all at once.
import numpy as np


def waited(starts, ends):
    return (np.asarray(ends) - np.asarray(starts)).astype("<m8[s]")
