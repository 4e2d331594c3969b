def is_solution(values, target, result):
    return sum(result) == target and all(one in values for one in result)
