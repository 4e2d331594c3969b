# VERDICT correct
# AGAINST gram
# WHY The same products, added by sum.
def gram(rows):
    return [[sum(a * b for a, b in zip(one, other, strict=True)) for other in rows] for one in rows]
