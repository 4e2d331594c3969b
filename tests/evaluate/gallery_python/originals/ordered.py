def ordered(values):
    """The values in order, with the number of smaller ones; the argument stays as it is."""
    if values[0] < 0:
        raise ValueError(f"{values[0]} is below 0")
    found = []
    for value in sorted(values):
        found.append((value, sum(1 for other in values if other < value)))
    return found
