def is_solution(a, b, result):
    if abs(a @ result - b).max() > 1e-6:
        return False
    return len(result) == len(b)
