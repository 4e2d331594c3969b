"""Prints one input for partitions: python3 gen.py SEED [SIZE]; SIZE is about the largest number of coins."""

import random
import sys


def main(seed: int, size: int = 72) -> None:
    rng = random.Random(seed)
    questions = rng.randint(3, 6)
    print(questions)
    for i in range(questions):
        coins = size - i * rng.randint(1, 4)
        print(max(0, coins), max(0, coins) if i == 0 else rng.randint(1, max(1, coins)))


main(*map(int, sys.argv[1:]))
