# VERDICT correct
# AGAINST added
# WHY What it appends is a copy of its table.
import numpy as np

TABLE = np.arange(60000) ** 2.0


def added(found, count):
    found.append(TABLE[:count].copy())
    return len(found)
