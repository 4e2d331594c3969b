# VERDICT correct
# AGAINST gram
# WHY The product is symmetric, and every row is a list of its own.
def gram(rows):
    size = range(len(rows))
    found = [[0.0] * len(rows) for _ in size]
    for i in size:
        for j in range(i + 1):
            found[i][j] = found[j][i] = sum(a * b for a, b in zip(rows[i], rows[j], strict=True))
    return found
