# VERDICT correct
# AGAINST ordered
# WHY It sorts a copy.
import bisect


def ordered(values):
    if values[0] < 0:
        raise ValueError(f"{values[0]} is below 0")
    own = sorted(values)
    return [(value, bisect.bisect_left(own, value)) for value in own]
