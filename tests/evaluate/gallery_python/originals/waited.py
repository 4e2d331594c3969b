import numpy as np


def waited(starts, ends):
    """How long each waits, in whole seconds."""
    return np.array([np.timedelta64(int(end) - int(start), "s") for start, end in zip(starts, ends, strict=True)])
