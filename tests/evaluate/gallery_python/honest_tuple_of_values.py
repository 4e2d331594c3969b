# VERDICT correct
# AGAINST chosen
# WHY With is_solution another type of sequence is right where the user's checker accepts it.
def chosen(values, target):
    ways = {0: ()}
    for one in values:
        more = {total + one: (*taken, one) for total, taken in ways.items() if total + one <= target}
        ways = more | ways
    return ways[target]
