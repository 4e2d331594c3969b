def nearest(rows, wanted):
    """Copies of the rows, the one of them that is nearest to the wanted one, and how many there are."""
    copies = [list(row) for row in rows]
    best, least = copies[0], None
    for row in copies:
        apart = 0.0
        for a, b in zip(row, wanted, strict=True):
            apart = apart + (a - b) * (a - b)
        if least is None or apart < least:
            best, least = row, apart
    return copies, best, len(copies)
