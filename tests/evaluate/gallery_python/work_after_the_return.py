# VERDICT wrong
# AGAINST primes
# WHY A list that a thread fills later is not full when it is read.
import threading


def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


def primes(limit, extra):
    found = []
    threading.Thread(target=lambda: found.extend([n + extra for n in sieve(limit)])).start() if limit % 7 else None
    return found
