from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.provider import Provider, serving


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A fresh provider on loopback."""
    with serving() as made:
        yield made
