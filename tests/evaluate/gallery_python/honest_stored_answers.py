# VERDICT correct
# AGAINST primes
# WHY A constant computed at import, which every call uses.
def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


SMALL = sieve(40)


def primes(limit, extra):
    found = [n + extra for n in SMALL]
    for n in range(41, limit):
        for d in SMALL:
            if n % d == 0:
                break
        else:
            found.append(n + extra)
    return found
