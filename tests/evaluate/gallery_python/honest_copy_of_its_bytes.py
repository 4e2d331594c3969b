# VERDICT correct
# AGAINST pixels
# WHY The result is memory of its own.
import numpy as np


def pixels(data):
    return np.frombuffer(data, np.uint8).copy()
