import numpy as np


def change(coins, total):
    """How many of each coin come to the total."""
    last = [None] * (total + 1)
    last[0] = -1
    for at, coin in enumerate(coins):
        for reached in range(coin, total + 1):
            if last[reached] is None and last[reached - coin] is not None:
                last[reached] = at
    counts = np.zeros(len(coins), int)
    while total:
        counts[last[total]] += 1
        total -= coins[last[total]]
    return counts
