import random


def inputs(seed, size):
    draw = random.Random(seed)
    edges = [(draw.randrange(a), a, draw.uniform(1, 9)) for a in range(1, 500)]
    edges += [(draw.randrange(500), draw.randrange(500), draw.uniform(1, 9)) for _ in range(1500)]
    draw.shuffle(edges)
    return edges, 540
