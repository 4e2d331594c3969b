def primes(limit, extra):
    """The primes below a limit, each with something added."""
    found = []
    for n in range(2, limit):
        for d in range(2, n):
            if n % d == 0:
                break
        else:
            found.append(n + extra)
    return found
