"""What the sides of modules and of Python functions share inside the sandbox; never imported by maxcode.

The word of the shim comes by descriptor 5, the answer goes by 6, and the exchange memory is descriptor 4
(``shim_calls.h``).
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

GUARD = 4096
WRONG_OUTPUT = 97  # exit status for an output that is not what the contract says, or cannot be compared
BUILD_FAILED = 98  # exit status for a file that cannot be loaded, or native code that does not compile


def load_meta() -> dict[str, Any]:
    with open("/src/meta.json") as file:
        return dict(json.load(file))


def keep_memory() -> None:
    """Memory that was freed stays with the process, for the next call: malloc gives back what lies at the end of its
    heap and maps large blocks anew each time or not, by what was freed before.  Of two processes that run the same
    program one then pays for fresh pages in every call and the other does not, which has been a factor of 2.3."""
    trim_threshold, top_pad, mmap_threshold = -1, -2, -3  # from malloc.h
    libc = ctypes.CDLL(None)
    libc.mallopt(trim_threshold, 0x7FFFFFFF)
    libc.mallopt(top_pad, 64 << 20)
    if not libc.mallopt(mmap_threshold, 1 << 30):
        libc.mallopt(mmap_threshold, 32 << 20)  # the most that an older libc takes


def begin() -> None:
    """Wait for the word to load the program: the shim takes the time from here until we are ready."""
    os.write(6, b"d")
    os.read(5, 1)


def rounds(answer: Callable[[bytes], None]) -> None:
    """Say that we are ready, then answer every word of the shim."""
    while True:
        os.write(6, b"d")
        word = os.read(5, 1)
        if not word:
            return
        answer(word)


def built(load: Callable[[], Any]) -> Any:
    """What ``load`` gives; whatever goes wrong, an exit included, is an error of the program's build."""
    try:
        return load()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        os._exit(BUILD_FAILED)


def leave(status: int, why: str) -> NoReturn:
    sys.stderr.write("\n" + why + "\n")
    sys.stderr.flush()
    os._exit(status)


def imported(name: str, known: bool = False) -> Any:
    """A file beside the driver as a module; ``known``: under its name for other imports too."""
    spec: Any = importlib.util.spec_from_file_location(name, f"/src/{name}.py")
    module = importlib.util.module_from_spec(spec)
    if known:
        sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
