# VERDICT wrong
# AGAINST added
# WHY What it appends to the lists of all callers is the memory of one table.
import numpy as np

TABLE = np.arange(60000) ** 2.0


def added(found, count):
    found.append(TABLE[:count])
    return len(found)
