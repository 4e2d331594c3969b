def chosen(values, target):
    """Some of the values that add up to the target."""
    ways = {0: []}
    for one in values:
        for total, taken in list(ways.items()):
            if total + one <= target and total + one not in ways:
                ways[total + one] = [*taken, one]
    return ways[target]
