# VERDICT correct
# AGAINST primes
# WHY A list of its own class on the way, and a plain one at the end.
def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


class Bag(list):
    pass


def primes(limit, extra):
    return list(Bag(n + extra for n in sieve(limit)))
