# VERDICT correct
# AGAINST primes
# WHY Its own frame only.
import sys


def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


def primes(limit, extra):
    if sys._getframe().f_code.co_name != "primes":
        raise RuntimeError("renamed")
    return [n + extra for n in sieve(limit)]
