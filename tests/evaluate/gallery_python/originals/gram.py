def gram(rows):
    """The products of all rows with each other."""
    found = []
    for one in rows:
        line = []
        for other in rows:
            total = 0.0
            for a, b in zip(one, other, strict=True):
                total = total + a * b
            line.append(total)
        found.append(line)
    return found
