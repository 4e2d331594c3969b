# Loops over numpy arrays, one kind each; see tests/policy/test_array_rules.py.
import numpy as np


def dot(a, b, s=0.0):
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


def spread(xs):
    """Literal start, a name within the turn, two sums."""
    total = 0
    square = 0.0
    for x in xs:
        d = x - 0.5
        total += x
        square += d * d
    return total, square


def above(xs, ys, limit):
    count = 0
    s = rest = 0.0
    for x, y in zip(xs, ys):  # noqa: B905
        if (x > limit and not y < -0.5) or x == y:
            count += 2
            s += x * limit - y
        else:
            rest += abs(y)
    return count, s, rest


def ends(xs, low):
    """A list of what a condition chooses."""
    found = []
    for k, x in enumerate(xs):
        if x * xs[k] >= low:
            found.append(2 * x)
    return found


def smooth(out, xs, weight):
    for i in range(1, len(xs) - 1):
        out[i] = weight * (xs[i - 1] + xs[i + 1]) + xs[i] / 3
    for i in range(xs.shape[0]):
        xs[i] = np.sqrt(abs(xs[i])) / weight
    return out


def heat(new, old):
    rows, columns = old.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i][j - 1] + old[i, j + 1])
    return new


def products(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s
    return out
