# VERDICT wrong
# AGAINST primes
# WHY The results of a call are read before the next one begins.
def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


PROMISED = []


def primes(limit, extra):
    found = []
    PROMISED.append((found, limit, extra))
    if len(PROMISED) == 8:
        for one, below, more in PROMISED:
            one.extend(n + more for n in sieve(below))
        PROMISED.clear()
    return found
