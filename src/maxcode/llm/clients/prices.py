"""The prices of tokens: a small dated table (``prices.toml``) and the user's own table.  An unknown price is None.

The published table applies only at the hosts of the providers, because another endpoint may charge another price for
the same name.  The user's table applies at every endpoint.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from maxcode.core.files import FileKind, read_text

Dollars = Annotated[float, msgspec.Meta(ge=0)]


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens.

    ``cached``: for prompt tokens read from the provider's cache; ``written``: for those written to it.
    ``up_to``: the longest prompt, in tokens, for which the price applies.
    """

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    written: Dollars | None = None
    up_to: int | None = None

    @property
    def knows_cache(self) -> bool:
        """Whether the cost of caching a prompt is known."""
        return self.cached is not None and self.written is not None

    def dollars(self, prompt: int, completion: int, cached: int = 0, written: int = 0) -> float | None:
        """The cost of a call whose ``prompt`` tokens include ``cached`` and ``written`` ones; None if the price does
        not cover it."""
        if (cached and self.cached is None) or (written and self.written is None):
            return None
        if self.up_to is not None and prompt > self.up_to:
            return None
        saved = cached * (self.input - (self.cached or 0.0)) + written * (self.input - (self.written or 0.0))
        return (prompt * self.input - saved + completion * self.output) / 1e6


def price(model: str, base_url: str, own: Path | None = None) -> Price | None:
    """The price of ``model`` at ``base_url``: from the table ``own``, else from the published one, else None.

    InputError if a table cannot be read.
    """
    if own is not None and (own_price := read_prices(own).get(model)) is not None:
        return own_price
    return _published().get(urlsplit(base_url).hostname or "", {}).get(model)


def read_prices(path: Path) -> dict[str, Price]:
    """Reads a user's table: one ``"model" = { input = DOLLARS, output = DOLLARS }`` per line, per million tokens."""
    text = read_text(path, _TABLE)
    try:
        return msgspec.convert(tomllib.loads(text), dict[str, Price])
    except (ValueError, msgspec.ValidationError) as error:  # ValueError: no TOML
        raise _TABLE.fault(path, str(error)) from error


_TABLE = FileKind(
    "the price table",
    'it needs lines like "my-model" = { input = 0.5, output = 1.5 } in dollars per million tokens',
)


def _published() -> dict[str, dict[str, Price]]:
    text = files(__package__).joinpath("prices.toml").read_text()
    return msgspec.convert(tomllib.loads(text), dict[str, dict[str, Price]])
