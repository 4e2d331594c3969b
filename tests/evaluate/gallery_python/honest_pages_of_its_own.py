# VERDICT correct
# AGAINST standard
# WHY Its results lie in pages that it asked the kernel for itself, new ones in every call.
import mmap

import numpy as np


def standard(x):
    pages = mmap.mmap(-1, max(1, x.nbytes), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    found = np.frombuffer(pages, np.float64)[: len(x)]
    y = x - x.mean()
    y /= np.sqrt((y * y).mean())
    np.tanh(y, out=y)
    y *= np.exp(-y * y)
    found[:] = y
    return found
