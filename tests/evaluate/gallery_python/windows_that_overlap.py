# VERDICT wrong
# AGAINST windows
# WHY All windows are the memory of one copy: who changes an element of one changes 29 others.
from numpy.lib.stride_tricks import as_strided

WIDTH = 30


def windows(values):
    own = values.copy()
    return as_strided(own, (len(own) - WIDTH + 1, WIDTH), own.strides * 2)
