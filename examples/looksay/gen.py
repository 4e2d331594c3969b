"""Prints one input for looksay: python3 gen.py SEED [SIZE]; SIZE is the number of steps."""

import random
import sys


def main(seed: int, size: int = 35) -> None:
    rng = random.Random(seed)
    first = "".join(rng.choices("123456789", k=rng.randint(2, 3)))
    print(first, size)


main(*map(int, sys.argv[1:]))
