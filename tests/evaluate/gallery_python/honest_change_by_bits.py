# VERDICT correct
# AGAINST change
# WHY Other counts than the original's, which come to the total; what the first coins reach is the bits of a number.
def change(coins, total):
    whole, reached = (1 << total + 1) - 1, [1]
    for coin in coins:
        now, step = reached[-1], coin
        while step <= total:
            now |= now << step & whole
            step *= 2
        reached.append(now)
    counts = [0] * len(coins)
    for at in reversed(range(len(coins))):
        while not reached[at] >> total & 1:
            counts[at] += 1
            total -= coins[at]
    return counts
