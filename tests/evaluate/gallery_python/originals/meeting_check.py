def is_solution(values, target, result):
    return (
        type(result) is tuple
        and len(result) == 2
        and result[0] < result[1]
        and sum(values[i] for i in result) == target
    )
