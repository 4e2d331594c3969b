# VERDICT correct
# AGAINST windows
# WHY The windows overlap in a view, and the result is a copy of it.
from numpy.lib.stride_tricks import sliding_window_view

WIDTH = 30


def windows(values):
    return sliding_window_view(values, WIDTH).copy()
