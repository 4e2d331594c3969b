"""What a run may spend: candidates, model calls, tokens, dollars, wall seconds.

Caps are checked before each candidate starts, and candidates in progress count.  Every paid answer is recorded and
used.  So a run may end above a cap by what was in progress when it was reached; nothing starts after that.  Only a cap
on seconds also stops the candidates that are being measured (``run/batch.py``); the winner is then confirmed.  The wait
for siblings in the timing lane counts as time at work, that for other processes does not; the time of a candidate is
predicted from earlier ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, final

from maxcode.core.types import Usage
from maxcode.errors import InputError, unknown


@final
@dataclass(frozen=True, slots=True)
class Caps:
    """Upper bounds of a whole run, resumes included; None = no bound.  ``seconds`` are wall seconds at work."""

    calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "dollars", "seconds"):
            bound = getattr(self, name)
            is_number = isinstance(bound, int | float) and not isinstance(bound, bool)
            if bound is not None and not (is_number and bound >= 0):  # also refuses NaN
                raise InputError(f"the cap on {name} is {bound!r}; give a number from 0 up, or leave it out")


Unit = Literal["candidates", "calls", "tokens", "dollars", "seconds"]

MANY = 1_000_000  # candidates of a run whose budget is of another kind: more than any run makes
_UNITS: dict[str, tuple[Unit, int]] = {
    "candidates": ("candidates", 1),
    "calls": ("calls", 1),
    "tokens": ("tokens", 1),
    "dollars": ("dollars", 1),
    "seconds": ("seconds", 1),
    "minutes": ("seconds", 60),
    "hours": ("seconds", 3600),
}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)(k|M)?[- ]?([a-z]*)")


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """How far a run may go, in one unit of cost; "seconds" are wall seconds at work."""

    amount: float
    unit: Unit = "candidates"

    def __str__(self) -> str:
        amount = Decimal(repr(float(self.amount))).normalize()  # the shortest digits that are read as the same number
        return f"{amount:f} {self.unit}"  # without an exponent, which ``budget_of`` does not read

    @property
    def candidates(self) -> int:
        """The most candidates that it permits."""
        return int(self.amount) if self.unit == "candidates" else MANY

    @property
    def caps(self) -> Caps:
        """The caps that enforce it; none for candidates."""
        match self.unit:
            case "candidates":
                return Caps()
            case "calls":
                return Caps(calls=int(self.amount))
            case "tokens":
                return Caps(tokens=int(self.amount))
            case "dollars":
                return Caps(dollars=self.amount)
            case "seconds":
                return Caps(seconds=self.amount)


def budget_of(words: str) -> Budget:
    """Reads a budget as users write it: 24, 24-candidates, 200k-tokens, 1.5M-tokens, 0.5-dollars, 15-minutes.

    InputError for an unknown unit, with the nearest spelling, and for an amount that is no budget.
    """
    match = _AMOUNT.fullmatch(words.strip())
    if match is None:
        raise InputError(f"cannot read --budget {words!r}; give 24 (candidates), 200k-tokens, 0.5-dollars, 15-minutes")
    number, factor, name = match.groups()
    known = {**_UNITS, **{unit.removesuffix("s"): meant for unit, meant in _UNITS.items()}}
    if name and name not in known:
        raise unknown("unit of --budget", name, _UNITS)
    unit, scale = known[name or "candidates"]
    amount = float(Decimal(number) * {"k": 1_000, "M": 1_000_000, None: 1}[factor] * scale)
    if unit in ("candidates", "calls", "tokens") and (amount < 1 or amount != int(amount)):
        raise InputError(f"--budget is {words}; give a whole number of {unit}, at least 1")
    if unit == "candidates" and amount >= MANY:
        raise InputError(f"--budget is {words}; give less than {MANY:,} candidates")
    if amount <= 0:
        raise InputError(f"--budget is {words}; give more than 0 {unit}")
    return Budget(amount, unit)


@final
@dataclass(slots=True)
class BudgetTracker:
    """Tracks what is left of the caps: ``spent`` by models and ``seconds`` at work, both of the whole run.

    The predicted cost of a candidate is the mean over the finished ones.  ``known`` is False until one has finished;
    until then one candidate starts before its siblings.  This holds for seconds too: siblings wait for the same timing
    lane, so otherwise the whole batch starts in the first second and exceeds the cap.
    """

    caps: Caps
    spent: Callable[[], Usage]
    seconds: Callable[[], float]
    launched: int = 0
    _finished: int = 0
    _paid: Usage = field(default_factory=Usage)
    _took_s: float = 0.0

    @property
    def known(self) -> bool:
        """Whether the cost of a candidate is known, or does not matter."""
        return self._finished > 0 or self.caps == Caps()

    def refusal(self) -> str | None:
        """The cap that one more candidate would exceed, in words; None if it may start."""
        caps, spent = self.caps, self.spent()
        if (why := self._too_late()) is not None:
            return why
        if caps.dollars is not None and spent.dollars is None:
            return (
                "the price of an answer is not known, so the cap on dollars cannot be enforced; give it in --prices, "
                "with `cached` and `written` for prompts from a provider's cache, or cap tokens"
            )
        if (why := _passed(caps, spent)) is not None:
            return f"{why} are spent"
        if self._finished and (why := _passed(caps, self._foreseen(), beyond=True)) is not None:
            return f"one more candidate would make it {why}"
        return None

    def _too_late(self) -> str | None:
        """The message if the seconds are spent, or candidates in progress will spend them; else None."""
        bound, now = self.caps.seconds, self.seconds()
        if bound is None:
            return None
        if now >= bound:
            return f"{now:.0f} of {bound:.0f} seconds are spent"
        if self._finished and (foreseen := self._took_s / self._finished * self.launched) >= bound:
            return f"the candidates in progress will make it {foreseen:.0f} of {bound:.0f} seconds"
        return None

    def _foreseen(self) -> Usage:
        """The predicted total when all candidates in progress and one more have finished."""
        paid, times = self._paid, (self.launched + 1) / self._finished
        return Usage(
            calls=round(paid.calls * times),
            prompt_tokens=round(paid.tokens * times),
            dollars=None if paid.dollars is None else paid.dollars * times,
        )

    def settle_up(self, finished: int, under_way: int = 0) -> None:
        """Updates the cost of ``finished`` candidates, all that were paid for; ``under_way`` more have started."""
        self.launched, self._finished = finished + under_way, finished
        self._paid, self._took_s = self.spent(), self.seconds()


def _passed(caps: Caps, usage: Usage, beyond: bool = False) -> str | None:
    """The first cap that a usage has reached (with ``beyond``: exceeded), in words; None if there is none."""
    bounds = (
        (usage.calls, caps.calls, "model calls", "{:.0f}"),
        (usage.tokens, caps.tokens, "tokens", "{:.0f}"),
        (usage.dollars, caps.dollars, "dollars", "{:.4g}"),
    )
    for value, bound, what, form in bounds:
        if value is not None and bound is not None and (value > bound or (value == bound and not beyond)):
            return f"{form.format(value)} of {form.format(bound)} {what}"
    return None
