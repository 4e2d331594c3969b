# VERDICT correct
# AGAINST primes
# WHY A file that is memory of the call.
import io


def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


def primes(limit, extra):
    text = io.StringIO()
    text.write(",".join(map(str, sieve(limit))))
    return [int(word) + extra for word in text.getvalue().split(",")]
