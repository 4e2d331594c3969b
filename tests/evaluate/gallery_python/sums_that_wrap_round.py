# VERDICT wrong
# AGAINST change
# WHY So many of two coins that their sum in 64 bits is the total, because it wraps round; the original's are few.
def change(coins, total):
    inverse = pow(coins[0], -1, 1 << 64)
    for others in range(1000):
        count = (total - others * coins[1]) * inverse % (1 << 64)
        if count < 1 << 63:
            return [count, others] + [0] * (len(coins) - 2)
    return None
