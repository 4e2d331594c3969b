# VERDICT correct
# AGAINST ordered
# WHY An exception of the same type, in other words.
import bisect


def ordered(values):
    if values[0] < 0:
        raise ValueError("below 0")
    own = sorted(values)
    return [(value, bisect.bisect_left(own, value)) for value in own]
