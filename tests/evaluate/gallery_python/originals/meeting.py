def meeting(values, target):
    """Two places whose values add up to the target."""
    for i, one in enumerate(values):
        for j, other in enumerate(values):
            if i < j and one + other == target:
                return i, j
    return None
