# VERDICT correct
# AGAINST reached
# WHY As many infinities as the original's result, at the same places.
import numpy as np


def reached(steps):
    return np.append(np.cumsum(steps), np.inf)
