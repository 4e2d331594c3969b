# VERDICT wrong crashed
# AGAINST standard
# WHY Its result lies on pages that nobody may read until a handler of the fault fills them; who reads them gets none.
import ctypes
import mmap

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.mmap(-1, 1 << 16, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
ADDRESS = ctypes.addressof(ctypes.c_char.from_buffer(PAGE))
TABLE = np.frombuffer(PAGE, np.float64)
LIBC.mprotect(ctypes.c_void_p(ADDRESS), 1 << 16, 0)


def standard(x):
    return TABLE[: len(x)]
