"""What a server has been asked and has answered, by outcome and by content."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import final

PAID = frozenset({"answered", "truncated", "slow"})  # answers that a client can read, and a provider would charge


@final
@dataclass(slots=True)
class Tally:
    """Counts of requests.  ``outcomes``: answered, refused, gone (the client left before the answer), or the fault's
    name.  ``paid``: how often each content was answered, by its digest.  Safe to read from other threads."""

    outcomes: Counter[str] = field(default_factory=Counter)
    paid: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    @property
    def requests(self) -> int:
        """How many requests came to an end."""
        with self._lock:
            return self.outcomes.total()

    @property
    def paid_again(self) -> int:
        """How many answers were given to a content that had been answered before."""
        with self._lock:
            return self.paid.total() - len(self.paid)

    def ask(self, content: str) -> int:
        """Note a request; how often this content was asked before."""
        with self._lock:
            before = self.asked[content]
            self.asked[content] += 1
        return before

    def end(self, outcome: str, content: str) -> None:
        """Note what came of a request."""
        with self._lock:
            self.outcomes[outcome] += 1
            if outcome in PAID:
                self.paid[content] += 1

    def told(self) -> dict[str, object]:
        """The counts as one JSON object."""
        with self._lock:
            outcomes = dict(self.outcomes)
        return {"requests": self.requests, "outcomes": outcomes, "paid_again": self.paid_again}


def content_digest(body: bytes) -> str:
    """The name of a request's content."""
    return sha256(body).hexdigest()
