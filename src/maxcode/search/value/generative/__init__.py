"""The generative value model: a causal language model that reads a situation and writes its class.

This package is imported only when such a model is opened or trained; so are torch, transformers and peft (extra
``train``).
"""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from maxcode.errors import InputError
from maxcode.search.value.settings import Generative
from maxcode.search.value.situation import Predictor

_ONE_AT_A_TIME = threading.Lock()
_Mark = tuple[str, int, int]  # of a file: name, size, modification time


def open_network(folder: Path, settings: Generative) -> Predictor:
    """The network in a folder, loaded only once per content of the folder; InputError if it cannot be loaded."""
    with _ONE_AT_A_TIME:
        return _opened(folder.resolve(), settings, tuple(_mark(folder / name) for name in settings.files))


def needs_extra() -> Any:
    """The module that needs torch; InputError with the install command if that is missing."""
    try:
        from maxcode.search.value.generative import network
    except ImportError as error:
        raise InputError(
            f"a generative value model needs torch, transformers and peft ({error}); install them: "
            "pip install 'maxcode[train]'"
        ) from error
    return network


@lru_cache(maxsize=1)  # every run of a bench opens it, and weights of 7B take long to load
def _opened(folder: Path, settings: Generative, marks: tuple[_Mark, ...]) -> Predictor:
    found: Predictor = needs_extra().reopened(folder, settings)
    return found


def _mark(path: Path) -> _Mark:
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; train the model again") from error
    return path.name, found.st_size, found.st_mtime_ns
