# VERDICT not-faster
# AGAINST primes
# WHY No arguments come twice.
import functools


@functools.cache
def known(limit, extra):
    found = []
    for n in range(2, limit):
        for d in range(2, n):
            if n % d == 0:
                break
        else:
            found.append(n + extra)
    return found


def primes(limit, extra):
    return list(known(limit, extra))
