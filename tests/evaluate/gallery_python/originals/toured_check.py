def is_solution(places, result):
    return sorted(result.order) == sorted(places) and result.length <= max(places) - min(places)
