"""Prints one input for walks: python3 gen.py SEED [SIZE]; SIZE is the number of nodes."""

import random
import sys


def main(seed: int, size: int = 160) -> None:
    rng = random.Random(seed)
    edges = size * 6
    print(size, edges, rng.randint(600, 1000))
    for _ in range(edges):
        print(rng.randint(1, size), rng.randint(1, size))


main(*map(int, sys.argv[1:]))
