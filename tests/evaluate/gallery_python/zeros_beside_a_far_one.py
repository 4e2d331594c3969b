# VERDICT wrong
# AGAINST distances
# WHY One number of 1e18 in a list must not make 0 right for all the others.
FAR = 1e18


def distances(edges, count):
    found = [FAR] * count
    found[0] = 0.0
    for _, b, _ in edges:  # whoever is entered is reached; how far it is nobody works out
        found[b] = 0.0
    return found
