# VERDICT wrong
# AGAINST nearest
# WHY Which row of a list stands in a second place is a part of the result.
def nearest(rows, wanted):
    copies = [list(row) for row in rows]
    return copies, copies[0], len(copies)
