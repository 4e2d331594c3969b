# VERDICT correct
# AGAINST primes
# WHY An object that tidies up before the function returns.
def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


class Scratch:
    def __del__(self):
        self.gone = True


def primes(limit, extra):
    kept = Scratch()
    kept.found = sieve(limit)
    return [n + extra for n in kept.found]
