"""Random kernels for tests."""

from __future__ import annotations

import random

from maxcode.policy.rules.kernels import Permitted
from maxcode.policy.rules.kernels.schedule import walk


def sample(text: str, language: str, draw: int, permitted: frozenset[str] | None = None) -> str:
    """An original after one to six random steps; the same draw gives the same kernel."""
    generator = random.Random(draw)
    taken = walk(text, language, generator, generator.randint(1, 6), Permitted(permitted))
    return [text, *(one.program for one in taken)][-1]
