# VERDICT wrong
# AGAINST ordered
# WHY Where the original raises, so must it.
import bisect


def ordered(values):
    if values[0] < 0:
        return []
    own = sorted(values)
    return [(value, bisect.bisect_left(own, value)) for value in own]
