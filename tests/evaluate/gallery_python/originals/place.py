from bisect import bisect_left


def place(values, target):
    """Where the target stands, or would stand, among the sorted values."""
    return bisect_left(values, target)
