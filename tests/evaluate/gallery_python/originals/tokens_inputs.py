import random


def inputs(seed, size):
    draw = random.Random(seed)
    words = ["".join(draw.choices("0123456789" if draw.random() < 0.5 else "abc1", k=9)) for _ in range(150)]
    return ("\n".join(" ".join(draw.choices(words, k=500)) for _ in range(8)),)
