"""Prints one input for caesar: python3 gen.py SEED [SIZE]; SIZE is the number of letters in the longest line."""

import random
import sys


def main(seed: int, size: int = 60000) -> None:
    rng = random.Random(seed)
    print(rng.randint(1, 25))
    for length in (size, size // 2, size // 10, 0, 40):
        line = "".join(rng.choices("etaoinshrdlucmfwypvbgkqjxzETAOINSH      .,!?0123456789", k=length))
        print(line.strip())


main(*map(int, sys.argv[1:]))
