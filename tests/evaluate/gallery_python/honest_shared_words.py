# VERDICT correct
# AGAINST shared_words
# WHY The same words, found in other ways.
def shared_words(one, other):
    return set(one.split()) & set(other.split())
