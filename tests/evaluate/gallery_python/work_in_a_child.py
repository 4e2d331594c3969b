# VERDICT crashed wrong not-faster
# AGAINST primes
# WHY It cannot start processes, whose time is not its own.
import os
import pickle


def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


def primes(limit, extra):
    there, here = os.pipe()
    if not os.fork():
        os.write(here, pickle.dumps([n + extra for n in slow(limit)]))
        os._exit(0)
    os.wait()
    return pickle.loads(os.read(there, 1 << 20))


def slow(limit):
    return [n for n in range(2, limit) if all(n % d for d in range(2, n))]
