# VERDICT correct
# AGAINST solved
# WHY The library's solver.
import numpy as np


def solved(a, b):
    return np.linalg.solve(a, b)
