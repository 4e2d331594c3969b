# VERDICT wrong
# AGAINST arranged
# WHY In no order: a difference of two numbers without a sign is never below 0, whichever is larger.
import numpy as np


def arranged(values):
    return values.astype(np.uint64)
