"""What a run may spend beside its candidates: model calls, tokens, money, wall clock.

A cap is asked before a candidate is launched, with those under way counted; what was paid for is always recorded and
used, so a run may end a little above a cap, by what was under way when it was reached, never by a launch after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

from maxcode.types import Usage


@final
@dataclass(frozen=True, slots=True)
class Caps:
    """Upper bounds of a whole run, resumes included; None = no bound.  ``seconds`` are wall seconds at work."""

    calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None

    @property
    def on_models(self) -> bool:
        """Whether anything that models cost is bounded."""
        return (self.calls, self.tokens, self.dollars) != (None, None, None)


@final
@dataclass(slots=True)
class Purse:
    """What is left of the caps: ``spent`` by models and ``seconds`` at work, both of the whole run.

    What a candidate costs is the mean over those finished; ``known`` is False until there is one, and then a single
    candidate is launched ahead of its siblings, to learn it.
    """

    caps: Caps
    spent: Callable[[], Usage]
    seconds: Callable[[], float]
    launched: int = 0
    _finished: int = 0
    _each: Usage = field(default_factory=Usage)

    @property
    def known(self) -> bool:
        """Whether the cost of a candidate is known, or does not matter."""
        return self._finished > 0 or not self.caps.on_models

    def refusal(self) -> str | None:
        """The cap that one more candidate would pass, in words; None while it may be launched."""
        caps, spent = self.caps, self.spent()
        if caps.seconds is not None and self.seconds() >= caps.seconds:
            return f"{self.seconds():.0f} of {caps.seconds:.0f} seconds are spent"
        if (why := _passed(caps, spent)) is not None:
            return f"{why} are spent"
        ahead = self.launched + 1
        foreseen = Usage(
            calls=round(self._each.calls * ahead / max(1, self._finished)),
            prompt_tokens=round(self._each.tokens * ahead / max(1, self._finished)),
            dollars=None if self._each.dollars is None else self._each.dollars * ahead / max(1, self._finished),
        )
        if self._finished and (why := _passed(caps, foreseen, beyond=True)) is not None:
            return f"one more candidate would make it {why}"
        return None

    def settle_up(self, finished: int) -> None:
        """Nothing is under way: learn what ``finished`` candidates, all there are, have cost."""
        self.launched = self._finished = finished
        self._each = self.spent()


def _passed(caps: Caps, usage: Usage, beyond: bool = False) -> str | None:
    """The first cap that a usage has reached (or passed, ``beyond``), in words."""
    bounds = (
        (usage.calls, caps.calls, "model calls", "{:.0f}"),
        (usage.tokens, caps.tokens, "tokens", "{:.0f}"),
        (usage.dollars, caps.dollars, "dollars", "{:.4g}"),
    )
    for value, bound, what, form in bounds:
        if value is not None and bound is not None and (value > bound or (value == bound and not beyond)):
            return f"{form.format(value)} of {form.format(bound)} {what}"
    return None
