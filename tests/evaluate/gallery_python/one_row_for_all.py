# VERDICT wrong
# AGAINST gram
# WHY One row that stands in several places is one object for its caller.
def gram(rows):
    found = []
    line = []
    for one in rows:
        line[:] = [sum(a * b for a, b in zip(one, other, strict=True)) for other in rows]
        found.append(line)
    return found
