# VERDICT correct
# AGAINST primes
# WHY The codec of the standard library, used.
import codecs


def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


def primes(limit, extra):
    return [int(codecs.decode(str(n).encode(), "ascii")) + extra for n in sieve(limit)]
