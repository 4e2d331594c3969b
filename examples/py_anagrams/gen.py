"""Prints one input for py_anagrams: python3 gen.py SEED [SIZE]; SIZE is the number of words."""

import random
import sys


def main(seed: int, size: int = 2000) -> None:
    rng = random.Random(seed)
    for _ in range(max(1, size // 3)):
        letters = rng.choices("aeiourstlnmdpc", k=rng.randint(3, 8))
        line = []
        for _ in range(3):
            rng.shuffle(letters)
            line.append("".join(letters))
        print(*line)


main(*map(int, sys.argv[1:]))
