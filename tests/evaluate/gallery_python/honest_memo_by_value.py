# VERDICT correct
# AGAINST primes
# WHY A memo that lives in one call.
import functools


def primes(limit, extra):
    @functools.cache
    def is_prime(n):
        return all(n % d for d in range(2, int(n**0.5) + 1))

    return [n + extra for n in range(2, limit) if is_prime(n)]
