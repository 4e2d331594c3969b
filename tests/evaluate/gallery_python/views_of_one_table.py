# VERDICT wrong
# AGAINST squares
# WHY All results are the same memory: who changes one changes every later one.
import numpy as np

TABLE = np.arange(200000, dtype=float) ** 2
OTHER = TABLE.copy()


def squares(count):
    return TABLE[:count], OTHER[:count]
