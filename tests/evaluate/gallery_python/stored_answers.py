# VERDICT not-faster
# AGAINST primes
# WHY What it stored is not asked for, because every call has fresh arguments.
def primes(limit, extra):
    if (limit, extra) in KNOWN:
        return list(KNOWN[limit, extra])
    return slow(limit, extra)


def slow(limit, extra):
    found = []
    for n in range(2, limit):
        for d in range(2, n):
            if n % d == 0:
                break
        else:
            found.append(n + extra)
    return found


KNOWN = {(limit, 7): slow(limit, 7) for limit in range(600, 640)}
