# VERDICT correct
# AGAINST rooted
# WHY Words of numbers, which the check takes as it takes numbers.
def rooted(values):
    return [str(one**0.5) for one in values]
