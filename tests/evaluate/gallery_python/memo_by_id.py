# VERDICT wrong
# AGAINST smooth
# WHY The memory of the arguments is the same in many calls, what is in it is not.
import numpy as np

KEPT = {}


def smooth(x, width):
    key = x.__array_interface__["data"][0], width
    if key not in KEPT:
        found = np.empty_like(x)
        for i in range(len(x)):
            found[i] = x[max(0, i - width) : i + width + 1].mean()
        KEPT[key] = found
    return KEPT[key].copy()
