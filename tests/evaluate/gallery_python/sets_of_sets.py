# VERDICT wrong
# AGAINST shared_words
# WHY Forty sets, each with the one before in it twice: written out they have 2^40 items.
def shared_words(one, other):
    found = frozenset([0])
    for _ in range(40):
        found = frozenset([(found, 0), (found, 1)])
    return {(found, at) for at, _ in enumerate(set(one.split()) & set(other.split()))}
