def rooted(values):
    """The square roots."""
    found = []
    for one in values:
        low, high = 0.0, 2000.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if middle * middle < one else (low, middle)
        found.append(low)
    return found
