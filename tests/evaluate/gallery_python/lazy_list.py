# VERDICT wrong
# AGAINST primes
# WHY A list that computes when it is looked at is not a list.
def sieve(limit):
    is_prime = bytearray([1]) * limit
    for d in range(2, int(limit**0.5) + 1):
        if is_prime[d]:
            is_prime[d * d :: d] = bytes(len(range(d * d, limit, d)))
    return [n for n in range(2, limit) if is_prime[n]]


class Lazy(list):
    def __init__(self, work):
        self.work = work

    def __iter__(self):
        return iter(self.work())

    def __len__(self):
        return len(self.work())

    def __getitem__(self, place):
        return self.work()[place]


def primes(limit, extra):
    return Lazy(lambda: [n + extra for n in sieve(limit)])
