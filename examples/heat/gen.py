"""Prints one input for heat: python3 gen.py SEED [SIZE]; SIZE is the width of the plate."""

import random
import sys


def main(seed: int, size: int = 500) -> None:
    rng = random.Random(seed)
    steps = 50
    spots = [(rng.randrange(size), rng.randrange(size)) for _ in range(size // 4)]
    print(size, steps, f"{rng.uniform(0.1, 0.9):.4f}", len(spots))
    for row, column in spots:
        print(row, column, f"{rng.uniform(-50, 400):.2f}")


main(*map(int, sys.argv[1:]))
