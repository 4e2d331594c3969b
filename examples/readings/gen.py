"""Prints one input for readings: python3 gen.py SEED [SIZE]; SIZE is the number of queries."""

import random
import sys


def main(seed: int, size: int = 100000) -> None:
    rng = random.Random(seed)
    values = max(1, size // 50)
    print(values, size)
    print(*(rng.randint(-100, 100) for _ in range(values)))
    for _ in range(size):
        left = rng.randint(1, values)
        print(left, rng.randint(left, values))


main(*map(int, sys.argv[1:]))
