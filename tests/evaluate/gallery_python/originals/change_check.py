import numpy as np


def is_solution(coins, total, result):
    counts = np.array(result)
    return len(result) == len(coins) and bool(np.all(counts >= 0)) and np.dot(coins, counts) == total
