# VERDICT wrong
# AGAINST squares
# WHY Both arrays of a result are the same memory: who changes one changes the other.
import numpy as np


def squares(count):
    found = np.arange(count, dtype=float)
    found *= found
    return found, found[:]
