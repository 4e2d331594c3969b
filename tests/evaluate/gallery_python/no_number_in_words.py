# VERDICT wrong
# AGAINST rooted
# WHY Of the word "nan" the check makes NaN, which is not larger than its tolerance; the original gives numbers.
def rooted(values):
    return ["nan"] * len(values)
