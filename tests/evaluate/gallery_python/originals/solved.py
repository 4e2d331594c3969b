import numpy as np


def solved(a, b):
    """The numbers x of which a @ x is b."""
    a, found = a.copy(), b.copy()
    for i in range(len(b)):
        for j in range(i + 1, len(b)):
            share = a[j, i] / a[i, i]
            a[j] -= share * a[i]
            found[j] -= share * found[i]
    for i in reversed(range(len(b))):
        found[i] = (found[i] - a[i, i + 1 :] @ found[i + 1 :]) / a[i, i]
    return np.array(found)
