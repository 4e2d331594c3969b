# VERDICT correct
# AGAINST arranged
# WHY The library's order, in whole numbers of 32 bits, whose differences have a sign.
import numpy as np


def arranged(values):
    return np.sort(values.astype(np.int32))
