"""Prints one input for stream: python3 gen.py SEED [SIZE]; SIZE is the number of readings."""

import random
import sys


def main(seed: int, size: int = 80000) -> None:
    rng = random.Random(seed)
    modulus = 2**31 - 1
    x, a, b = (rng.randrange(1, modulus) for _ in range(3))
    keys = max(1, int(size * rng.uniform(0.2, 0.6)))
    print(size, x, a, b, modulus, keys)


main(*map(int, sys.argv[1:]))
