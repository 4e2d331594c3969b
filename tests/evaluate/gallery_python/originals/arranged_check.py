import numpy as np


def is_solution(values, result):
    is_in_order = np.all(np.diff(result) >= 0)
    return bool(is_in_order) and np.allclose(np.sort(values), np.sort(result))
