"""The settings of a generative value model: plain numbers, read without torch."""

from __future__ import annotations

from typing import Literal

import msgspec

from maxcode.search.value.text import VERSION

SMALL = "small"  # a Qwen2-architecture model trained from scratch, with its tensors in the folder
TOKENIZER, BASE, ADAPTER = "tokenizer.json", "base.safetensors", "adapter.safetensors"


class NetworkShape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The size of a Qwen2-architecture model that is trained from scratch."""

    hidden: int = 128
    layers: int = 4
    heads: int = 4
    vocabulary: int = 1024

    def __post_init__(self) -> None:
        bounded = 0 < self.hidden <= 4096 and 0 < self.layers <= 64 and 0 < self.vocabulary <= 1 << 18
        if not bounded or not 0 < self.heads <= self.hidden or self.hidden % (2 * self.heads):
            raise ValueError(f"this shape is not possible: {self}")


class Generative(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="generative"):
    """A causal language model with LoRA.

    ``base``     "small", or the name or folder of weights
    ``context``  tokens of a prompt at most
    ``classes``  the number of label tokens

    Rank and modules of LoRA are the paper's; alpha is ours.
    """

    reads: str
    base: str = SMALL
    shape: NetworkShape | None = None
    classes: int = 5
    context: int = 2048
    rank: int = 8
    alpha: int = 16
    targets: Literal["all-linear"] = "all-linear"

    def __post_init__(self) -> None:
        if not 2 <= self.classes <= 10 or not 16 <= self.context <= 1 << 17 or not 0 < self.rank <= 256:
            raise ValueError(f"these settings are not possible: {self}")
        if (self.base == SMALL) != (self.shape is not None):
            raise ValueError("only the base 'small' has a shape")

    @property
    def files(self) -> tuple[str, ...]:
        """The files besides ``value.json``; weights by name or folder stay where they are, with their tokenizer."""
        return (ADAPTER,) if self.shape is None else (TOKENIZER, BASE, ADAPTER)

    def needs(self) -> str:
        """The version of the text that a model of this kind reads."""
        return VERSION
