# VERDICT wrong
# AGAINST gram
# WHY Real numbers of double precision are not those of single precision.
from array import array


def gram(rows):
    rows = [array("f", row) for row in rows]
    return [[sum(a * b for a, b in zip(one, other, strict=True)) for other in rows] for one in rows]
