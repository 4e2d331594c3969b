# VERDICT wrong
# AGAINST ordered
# WHY The argument stays as it is, and this one sorts it.
import bisect


def ordered(values):
    if values[0] < 0:
        raise ValueError(f"{values[0]} is below 0")
    values.sort()
    return [(value, bisect.bisect_left(values, value)) for value in values]
