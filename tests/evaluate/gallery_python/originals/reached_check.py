import numpy as np


def is_solution(steps, result):
    if len(result) != len(steps) + 1 or not np.isinf(result[-1]):
        return False
    with np.errstate(invalid="ignore"):
        return not (np.abs(np.diff(result[:-1]) - steps[1:]) > 1e-6).any()
