"""Prints one input for delivery: python3 gen.py SEED [SIZE]; SIZE is the number of towns."""

import random
import sys


def main(seed: int, size: int = 1200) -> None:
    rng = random.Random(seed)
    ends = ["ford", "ham", "ton", "bridge", "wick", "by", "stead"]
    middles = ["al", "ber", "cor", "dun", "el", "fen", "glen", "hol", "ivy", "ken", "lin", "mar", "nor", "oak", "pen"]
    towns: list[str] = []
    while len(towns) < size:
        towns.append("".join(rng.choices(middles, k=3)).capitalize() + rng.choice(ends) + str(len(towns)))
    roads, orders = size * 3, max(1, size // 6)
    print(size, roads, orders)
    for _ in range(roads):
        at = rng.randrange(size)
        to = min(size - 1, max(0, at + rng.randint(-20, 20)))
        print(towns[at], towns[to], rng.randint(1, 60))
    for _ in range(orders):
        a, b = rng.choices(towns, k=2)
        print(a, b, rng.randint(20, 20 + 4 * size))


main(*map(int, sys.argv[1:]))
