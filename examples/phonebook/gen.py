"""Prints one input for phonebook: python3 gen.py SEED [SIZE]; SIZE is the number of entries."""

import random
import sys


def main(seed: int, size: int = 1500) -> None:
    rng = random.Random(seed)
    syllables = [c + v for c in "bdfgklmnprst" for v in "aeiou"]
    names: set[str] = set()
    while len(names) < size:
        names.add("".join(rng.choices(syllables, k=rng.randint(2, 9))).capitalize())
    book = sorted(names)
    rng.shuffle(book)
    queries = size * 2
    print(size, queries)
    for name in book:
        print(name, rng.randint(100000, 999999))
    for _ in range(queries):
        name = rng.choice(book)
        print(name if rng.random() < 0.7 else name[:-1] + rng.choice("aeioux"))


main(*map(int, sys.argv[1:]))
