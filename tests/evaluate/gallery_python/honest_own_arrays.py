# VERDICT correct
# AGAINST squares
# WHY Two arrays of one block that have no element in common, and none of an earlier call.
import numpy as np


def squares(count):
    found = np.empty((2, count))
    found[0] = np.arange(count)
    found[0] *= found[0]
    found[1] = found[0]
    return found[0], found[1]
