"""Prints one input for tight: python3 gen.py SEED [SIZE]; SIZE is the number of rounds."""

import random
import sys


def main(seed: int, size: int = 40000000) -> None:
    rng = random.Random(seed)
    print(rng.getrandbits(64), size + rng.randrange(max(1, size // 10)))


main(*map(int, sys.argv[1:]))
