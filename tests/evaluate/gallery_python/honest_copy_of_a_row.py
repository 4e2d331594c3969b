# VERDICT correct
# AGAINST nearest
# WHY A copy in the second place, where the original names a row again, harms no caller.
def nearest(rows, wanted):
    copies = [list(row) for row in rows]

    def apart(row):
        return sum((a - b) * (a - b) for a, b in zip(row, wanted, strict=True))

    return copies, list(min(copies, key=apart)), len(copies)
