def shared_words(one, other):
    """The words that two texts have in common."""
    found = set()
    for word in one.split():
        if word in other.split():
            found.add(word)
    return found
