# VERDICT correct
# AGAINST solved
# WHY The library's solver, in another type that the check takes.
import numpy as np


def solved(a, b):
    return np.linalg.solve(a, b).astype(np.longdouble)
