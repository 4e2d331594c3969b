"""Prints one input for orbits: python3 gen.py SEED [SIZE]; SIZE is the number of bodies."""

import random
import sys


def main(seed: int, size: int = 160) -> None:
    rng = random.Random(seed)
    print(size, rng.randint(20, 25), "0.001")
    for _ in range(size):
        place = [f"{rng.uniform(-5, 5):.4f}" for _ in range(3)]
        speed = [f"{rng.uniform(-1, 1):.4f}" for _ in range(3)]
        print(f"{rng.uniform(0.1, 3):.3f}", *place, *speed)


main(*map(int, sys.argv[1:]))
