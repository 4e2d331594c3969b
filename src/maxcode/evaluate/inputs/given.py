"""The given inputs as text, and what they say of their format."""

from __future__ import annotations

from functools import lru_cache

from maxcode.core.ahead import computed
from maxcode.evaluate.inputs.format_model import Understood, understand
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.sandbox.sandbox import Blob


def text_of(blob: Blob) -> str | None:
    """An input as text, None where it is not ASCII."""
    try:
        return blob.read().decode("ascii")
    except UnicodeDecodeError:
        return None


async def understood(admitted: Admitted) -> Understood:
    """What the given inputs say of their format; those that were made larger are not asked."""
    texts = [text_of(given.stdin) for given in admitted.inputs if given.origin != "made"]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return Understood((), why="the given inputs are not ASCII text")
    return await computed(_understand, tuple(known))


@lru_cache(maxsize=4)
def _understand(texts: tuple[str, ...]) -> Understood:
    """Asked again for the same texts in every stage of a verdict."""
    return understand(texts)
