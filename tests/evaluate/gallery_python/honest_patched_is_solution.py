# VERDICT correct
# AGAINST meeting
# WHY Another way to a solution.
def meeting(values, target):
    places = {}
    for j, value in enumerate(values):
        if target - value in places:
            return places[target - value], j
        places[value] = j
    return None
