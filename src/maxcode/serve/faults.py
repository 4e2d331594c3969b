"""Faults that a provider may have, made on purpose: for tests of clients, by request number and a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from maxcode.errors import InputError, unknown

KINDS = {
    "hang": "never answers, until the client leaves",
    "garbage": "answers with what is not JSON",
    "truncated": "cuts the answer in the middle, finish reason 'length'",
    "half": "ends in the middle of the answer without a word",
    "slow": "lets the answer dribble",
}
STATUSES = ("429", "500", "502", "503", "529")


@final
@dataclass(frozen=True, slots=True)
class Faults:
    """How often each fault comes: a rate in 0..1 by kind of ``KINDS`` or status, together at most 1; ``slow_s`` is how
    long a slow answer takes."""

    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    slow_s: float = 1.0

    def __post_init__(self) -> None:
        for kind, rate in self.rates.items():
            if kind not in KINDS and kind not in STATUSES:
                raise unknown("fault", kind, (*KINDS, *STATUSES))
            if not 0.0 <= rate <= 1.0:
                raise InputError(f"the fault '{kind}' has the rate {rate:g}; give a share between 0 and 1")
        if sum(self.rates.values()) > 1.0 + 1e-9:
            raise InputError(f"the rates of the faults add up to {sum(self.rates.values()):g}; at most 1 is possible")

    def of(self, number: int) -> str:
        """The fault of a request by its number, empty for none; a pure function of number and seed."""
        if not self.rates:
            return ""
        at = random.Random(f"{self.seed} {number}").random()
        for kind, rate in self.rates.items():
            at -= rate
            if at < 0:
                return kind
        return ""


def faults(told: str, seed: int = 0) -> Faults:
    """Faults written as ``429=0.1,hang=0.02``; InputError with the cure for anything else."""
    rates: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in told.split(","))):
        kind, _, rate = part.partition("=")
        try:
            rates[kind.strip()] = float(rate)
        except ValueError:
            raise InputError(f"'{part}' is no fault; write for example 429=0.1,hang=0.02") from None
    return Faults(rates, seed)
