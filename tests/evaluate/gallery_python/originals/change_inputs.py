import random


def inputs(seed, size):
    draw = random.Random(seed)
    coins = draw.sample(range(51, 400, 2), 8)
    return coins, sum(coin * draw.randrange(1, 9) for coin in coins)
