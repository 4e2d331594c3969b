# VERDICT wrong
# AGAINST reached
# WHY The original holds one infinity, so one may be there; a check that subtracts takes every further one as well.
import numpy as np


def reached(steps):
    return np.full(len(steps) + 1, np.inf)
