# VERDICT wrong
# AGAINST primes
# WHY An object that works when it is thrown away is not a list.
def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


class Later:
    def __init__(self, found, limit, extra):
        self.given = found, limit, extra

    def __del__(self):
        found, limit, extra = self.given
        found.extend(n + extra for n in sieve(limit))


def primes(limit, extra):
    found = []
    found.append(Later(found, limit, extra))
    return found
