# VERDICT correct
# AGAINST primes
# WHY The garbage collector is used for what it is there for.
import gc


def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


def primes(limit, extra):
    gc.collect(0)
    return [n + extra for n in sieve(limit)]
