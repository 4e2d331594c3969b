# VERDICT wrong
# AGAINST primes
# WHY At exit nobody reads its results any more.
import atexit


def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


PROMISED = []


def keep():
    for found, limit, extra in PROMISED:
        found.extend(n + extra for n in sieve(limit))


atexit.register(keep)


def primes(limit, extra):
    PROMISED.append(([], limit, extra))
    return PROMISED[-1][0]
