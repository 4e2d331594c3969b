"""Prints one input for jobs: python3 gen.py SEED [SIZE]; SIZE is the number of jobs."""

import random
import sys


def main(seed: int, size: int = 850) -> None:
    rng = random.Random(seed)
    words = ["paint", "repair", "polish", "weld", "sand", "measure"]
    things = ["chair", "cupboard", "window-frame", "garden-gate", "bicycle", "staircase"]
    day = 1
    print(size)
    for i in range(size):
        day += rng.randint(0, 1)
        deadline = day + rng.randint(0, 400)
        print(day, deadline, rng.randint(1, 200), f"{rng.choice(words)}-{rng.choice(things)}-{i}")


main(*map(int, sys.argv[1:]))
