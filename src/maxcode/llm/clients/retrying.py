"""Retries: back-off, the time limit of an attempt, and the cap on concurrent calls.

The retries of the SDKs are off, so that one place counts attempts, bounds waits and repeats incomplete answers.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import final

import anyio

from maxcode.errors import ProviderError
from maxcode.llm.clients import Completion, Model, ModelRequest
from maxcode.llm.clients.faults import Endpoint, TransientFault

FIRST_WAIT_S = 0.5
LONGEST_BACK_OFF_S = 30.0
_TOLD_S = 5.0  # a shorter wait is not worth a line
_tell: ContextVar[Callable[[str], None] | None] = ContextVar("maxcode retries", default=None)


@contextmanager
def told_of_retries(tell: Callable[[str], None]) -> Iterator[None]:
    """Calls ``tell`` with every wait of the block before another attempt: why, and how long it is."""
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)


@final
@dataclass(frozen=True, slots=True)
class Patience:
    """The limits of retries.

    ``attempts``: the most attempts for a call.
    ``timeout_s``: the time limit of one attempt, in seconds.
    ``concurrency``: the most calls at the same time.
    ``longest_wait_s``: the longest ``Retry-After`` that is obeyed, in seconds; a longer one ends the call.
    """

    attempts: int = 6
    timeout_s: float = 600.0
    concurrency: int = 8
    longest_wait_s: float = 300.0


@final
@dataclass(frozen=True, slots=True)
class Pace:
    """How to wait: ``sleep(seconds)``, and ``jitter()`` in [0, 1)."""

    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = random.random


@final
class Retrying:
    """A model with retries after transient failures: 429 (Retry-After is obeyed), 5xx, timeouts, broken connections,
    incomplete streams.  ProviderError if no attempt is left, or at once if no attempt can succeed.

    The usage is that of the successful attempt, because the charge for an incomplete answer is not known.  A call that
    waits for its next attempt keeps its place under the cap, so an endpoint that asks to slow down gets fewer requests.
    """

    def __init__(
        self, model: Model, endpoint: Endpoint | str, patience: Patience | None = None, pace: Pace | None = None
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._patience = patience or Patience()
        self._pace = pace or Pace()
        self._cap = anyio.CapacityLimiter(self._patience.concurrency)

    async def complete(self, request: ModelRequest) -> Completion:
        async with self._cap:
            attempt = 1
            while True:
                answer = await self._attempt(request)
                if isinstance(answer, Completion):
                    return answer
                if attempt == self._patience.attempts:
                    raise self._gave_up(attempt, answer) from answer
                wait_s = self._wait(attempt, answer)
                attempt += 1
                if (tell := _tell.get()) is not None and wait_s >= _TOLD_S:
                    of_all = f"attempt {attempt} of {self._patience.attempts}"
                    tell(f"{self._endpoint} failed ({answer}): {of_all} in {wait_s:.0f} s")
                await self._pace.sleep(wait_s)

    async def _attempt(self, request: ModelRequest) -> Completion | TransientFault:
        limit = self._patience.timeout_s
        try:
            with anyio.fail_after(limit):
                return await self._model.complete(request)
        except TransientFault as fault:
            return fault
        except TimeoutError:
            return TransientFault(f"no complete answer within {limit:g} s")

    def _wait(self, attempt: int, fault: TransientFault) -> float:
        """Seconds to wait after attempt number ``attempt``: the back-off, at least ``Retry-After``.  Providers may set
        that to milliseconds while many callers wait for the same quota, so the back-off holds too."""
        asked, jitter = fault.retry_after or 0.0, self._pace.jitter()
        if asked > self._patience.longest_wait_s:
            raise self._gave_up(attempt, fault) from fault
        back_off = min(LONGEST_BACK_OFF_S, FIRST_WAIT_S * 2.0 ** (attempt - 1))
        return max(back_off * (0.5 + jitter / 2), asked * (1 + jitter / 10))

    def _gave_up(self, attempts: int, fault: TransientFault) -> ProviderError:
        asked = f"; it asks to wait {fault.retry_after:g} s" if fault.retry_after is not None else ""
        tried = "attempt" if attempts == 1 else "attempts"
        return ProviderError(
            f"{self._endpoint} failed after {attempts} {tried} (last: {fault}{asked}); what was answered is recorded: "
            "run the same command again when the endpoint is back, or with fewer concurrent calls, more attempts or a "
            "longer time limit"
        )
