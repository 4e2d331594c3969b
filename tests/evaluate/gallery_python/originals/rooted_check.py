def is_solution(values, result):
    for one, root in zip(values, result, strict=False):
        error = float(root) * float(root) - one
        if error - 0.5 * error > 1e-3 or one - float(root) * float(root) > 1e-3:
            return False
    return len(result) >= len(values)
