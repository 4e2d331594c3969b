def is_solution(text, result):
    return result.words == text.split()
