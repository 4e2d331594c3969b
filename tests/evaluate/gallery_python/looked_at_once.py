# VERDICT wrong
# AGAINST chosen
# WHY An iterator in place of the original's list is empty when is_solution looks at it for the second time.
def chosen(values, target):
    return iter([target])
