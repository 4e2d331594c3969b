"""The generative value model: a causal language model that reads a situation and writes its class.

Imported only when such a model is opened or trained; torch, transformers and peft (extra ``train``) only when it is
asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

from maxcode.errors import InputError
from maxcode.value.settings import Generative
from maxcode.value.situation import Situation


@final
class Network:
    """A predictor whose tensors are read when it is asked for the first time."""

    def __init__(self, folder: Path, settings: Generative) -> None:
        self._folder, self._settings = folder, settings
        self._opened: Any = None

    def expected(self, situations: Sequence[Situation]) -> list[float]:
        """The expected class of every situation; InputError where the model cannot be opened."""
        if self._opened is None:
            self._opened = needs_extra().reopened(self._folder, self._settings)
        told: list[float] = self._opened.expected(situations)
        return told


def open_network(folder: Path, settings: Generative) -> Network:
    """The network in a folder; nothing is read yet."""
    return Network(folder, settings)


def needs_extra() -> Any:
    """The module that needs torch; InputError with the cure where that is not installed."""
    try:
        from maxcode.value.generative import network
    except ImportError as error:
        raise InputError(
            f"a generative value model needs torch, transformers and peft ({error}); install them: "
            "pip install 'maxcode[train]'"
        ) from error
    return network
