"""``--total-seconds``: when a whole command must have ended, from its start to its result.

``--max-seconds`` limits the search of a run with its resumes; this limits one command, with all that comes before and
after the search and with every wait.  What does not fit is left out by name, and the same command goes on with it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar, final

import anyio

from maxcode.core.stats import RaceRule
from maxcode.errors import InputError
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.race import SHORT_PASS_S
from maxcode.run.certificate.claim import RUNS_LEAST
from maxcode.run.certificate.unseen import PAIRS

Found = TypeVar("Found")
OPTION = "--total-seconds"
_START_S = 0.03  # the start of a process in the sandbox
_SLACK = 1.5  # builds, sanitizers, and a machine with other work
_MOST_SHARE = 0.5  # of what is left after the admission: the search gets the rest


class TimeEnded(Exception):
    """The time of the command ended in the work; the message says which limit it was."""


@final
@dataclass(slots=True)
class Deadline:
    """When a command must have ended.

    ``seconds``  of the whole command, waits included; None: no limit
    ``reserve``  of them are kept for what comes after the search
    """

    seconds: float | None = None
    reserve: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:  # also refuses NaN
            raise InputError(f"{OPTION} is {self.seconds}; give a number above 0, or leave it out")

    @property
    def left(self) -> float:
        """Seconds until the command must have ended; infinite without a limit."""
        passed = time.monotonic() - self.began
        return math.inf if self.seconds is None else max(0.0, self.seconds - passed)

    @property
    def for_search(self) -> float:
        """Seconds until the search must have ended."""
        return max(0.0, self.left - self.reserve)

    @property
    def words(self) -> str:
        """That it has ended."""
        return f"the time ended ({OPTION} {self.seconds:g})"

    def keep_for(self, admitted: Admitted, admission_s: float, certifies: bool) -> None:
        """Keeps what the confirmation of a winner, and its certificate if there will be one, are likely to take."""
        if self.seconds is not None:
            self.reserve = min(_MOST_SHARE * self.left, seconds_after(admitted, admission_s, certifies))

    def refusal(self) -> str | None:
        """Why no further candidate may start, in words; None if one may."""
        if self.seconds is None or self.for_search > 0:
            return None
        passed = self.seconds - self.left
        kept = f", and about {self.reserve:.0f} are kept for the confirmation and the certificate"
        return f"{passed:.0f} of {self.seconds:g} seconds of {OPTION} are spent{kept if self.reserve >= 1 else ''}"

    def scope(self) -> anyio.CancelScope:
        """Cancels its block when the command must have ended."""
        return anyio.CancelScope(deadline=anyio.current_time() + self.left)

    async def over(self, work: Callable[[], Awaitable[Found]]) -> Found:
        """The result of the work; TimeEnded if the command must have ended before it is done."""
        with self.scope():
            return await work()
        raise TimeEnded(self.words)


def seconds_after(admitted: Admitted, admission_s: float, certifies: bool) -> float:
    """Seconds that a confirmation takes, and a certificate, from what the original took in this run.

    A certificate admits the original again, verifies ten times, and times three times: the winner, the winner on newly
    generated inputs, and the original against itself.
    """
    pass_s, all_s = (sum(one.seconds + _START_S for one in given) for given in (admitted.timed, admitted.inputs))
    least = RaceRule().confirm_least
    pair_s = 2 * pass_s * (2 if pass_s < SHORT_PASS_S else 1)
    confirmation_s = all_s + least * pair_s
    certificate_s = admission_s + admitted.saved_s + RUNS_LEAST * all_s + (2 * least + PAIRS) * pair_s
    return _SLACK * (confirmation_s + (certificate_s if certifies else 0.0))
