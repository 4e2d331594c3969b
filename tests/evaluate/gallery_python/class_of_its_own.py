# VERDICT wrong
# AGAINST meeting
# WHY A class that only the candidate has cannot be read beside is_solution; the run goes on.
import collections

Places = collections.namedtuple("Places", "first second")


def meeting(values, target):
    places = {}
    for j, value in enumerate(values):
        if target - value in places:
            return Places(places[target - value], j)
        places[value] = j
    return None
