"""The failures between maxcode and the provider of a model.

Clients raise ``TransientFault`` if a later attempt may succeed, and ``Retrying`` catches it.  Otherwise they raise
``ProviderError``.  No message contains a key or the user part of a URL.
"""

from __future__ import annotations

import email.utils
import ipaddress
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final
from urllib.parse import urlsplit

from maxcode.errors import ProviderError

DETAIL_LENGTH = 400
RUN_DRY = ("insufficient_quota", "billing_hard_limit_reached")
SHORTEST_KEY = 8  # a shorter one is a placeholder, and may be a word of the message


@final
@dataclass(frozen=True, slots=True)
class Endpoint:
    """The model, its base URL, and the environment variable of its key; never the key itself."""

    model: str
    base_url: str
    key_variable: str

    def __str__(self) -> str:
        return f"model {self.model} at {shown(self.base_url)}"


@final
class TransientFault(Exception):
    """A failure after which the same request may succeed; ``retry_after``: seconds to wait, None if not known."""

    def __init__(self, cause: str, retry_after: float | None = None) -> None:
        super().__init__(cause)
        self.retry_after = retry_after


def without_key(text: str, key: str) -> str:
    """The message of an endpoint on one line, without the key (some repeat it) and without unprintable characters."""
    words = text.replace(key, "(key)") if len(key) >= SHORTEST_KEY else text
    return " ".join("".join(letter if letter.isprintable() else " " for letter in words).split())


def shown(url: str) -> str:
    """A base URL for messages: without user, password and query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port is not None else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    """Whether a base URL points at this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def fault(endpoint: Endpoint, error: Any, key: str) -> TransientFault | ProviderError:
    """The exception for an ``APIStatusError`` of an SDK: transient for 408, 409, 429, 5xx and an error inside a stream
    (status 200), unless the account has no credit left."""
    status, detail = error.status_code, without_key(str(error.message), key)[:DETAIL_LENGTH] or "no explanation"
    words = f"HTTP {status}: {detail}" if status != 200 else f"the endpoint ended the answer early: {detail}"
    dry = status == 402 or (isinstance(error.body, dict) and error.body.get("code") in RUN_DRY)
    if not dry and (status in (200, 408, 409, 429) or status >= 500):
        return TransientFault(words, retry_after(error.response.headers))
    return ProviderError(f"{endpoint} refused the request ({words}); {_cure(endpoint, 402 if dry else status)}")


def _cure(endpoint: Endpoint, status: int) -> str:
    cures = {
        401: f"set {endpoint.key_variable} to a key that is valid there",
        402: "the account has no credit left there: add some, or use another key or endpoint",
        403: f"the key in {endpoint.key_variable} may not use this model: use another key or another model",
        404: "check the model's name and the base URL (for most servers it ends in /v1)",
        413: "the prompt is too long for it: use a model with a longer context, or switch parts of the prompt off",
    }
    return cures.get(
        status,
        "if it names a parameter, switch that one off in the model's settings "
        "(seed, temperature, stream_usage, max_tokens_field, thinking)",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait in seconds that an answer asks for (``retry-after-ms``, ``Retry-After`` as a number or a date); None if
    it asks for none.  ``headers`` must ignore case."""
    if (exact := _number(headers.get("retry-after-ms", ""))) is not None:
        return exact / 1000
    text = headers.get("retry-after", "")
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
