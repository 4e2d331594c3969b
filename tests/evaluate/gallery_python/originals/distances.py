FAR = 1e18


def distances(edges, count):
    """The length of the shortest way from place 0 to every place; FAR where no way leads."""
    found = [FAR] * count
    found[0] = 0.0
    for _ in range(count):
        changed = False
        for a, b, length in edges:
            if found[a] + length < found[b]:
                found[b] = found[a] + length
                changed = True
        if not changed:
            break
    return found
