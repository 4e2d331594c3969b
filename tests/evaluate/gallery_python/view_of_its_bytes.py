# VERDICT wrong
# AGAINST pixels
# WHY The result is the memory of its argument: who changes one changes the other.
import numpy as np


def pixels(data):
    return np.frombuffer(data, np.uint8)
