# VERDICT wrong
# AGAINST shared_words
# WHY Sixteen sets, each with the one before in it twice: written out they have 2^16 items.
def shared_words(one, other):
    found = frozenset([0])
    for _ in range(16):
        found = frozenset([(found, 0), (found, 1)])
    return {found}
