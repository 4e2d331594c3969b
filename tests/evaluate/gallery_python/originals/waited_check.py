import numpy as np


def is_solution(starts, ends, result):
    none = np.timedelta64(0, "s")
    error = result - (ends - starts).astype("<m8[s]")
    return len(result) == len(starts) and not (error > none).any() and not (error < none).any()
