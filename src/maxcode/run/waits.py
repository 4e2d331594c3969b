"""Progress lines about waits: maxcode times in one process at a time, so a run may wait for another; a model may fail,
and is asked again after a pause of known length."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from maxcode.llm.clients.retrying import told_of_retries
from maxcode.run.display import Display
from maxcode.sandbox.lanes import holder, told_of_waits

_FIRST_S = 5.0  # a shorter wait is not worth a line
_EVERY_S = 55.0  # where lines stay: sooner than the display says a line again


@contextmanager
def waits_on(display: Display) -> Iterator[None]:
    """Shows on ``display`` what the work of the block waits for, and for how long.

    For another run: on a live line every second, else after 5 s and then once a minute, however many waits that are.
    For another attempt at a model: once, with the seconds of the pause.
    """
    told_at, is_told = -_EVERY_S, False

    def tell(seconds: float, is_over: bool) -> None:
        nonlocal told_at, is_told
        if is_over:
            if is_told:
                display.say(f"waited {seconds:.0f} s for another maxcode run on this machine")
            is_told = False
        elif seconds >= _FIRST_S and (display.is_live or time.monotonic() - told_at >= _EVERY_S):
            told_at, is_told = time.monotonic(), True
            since = time.strftime("%H:%M:%S", time.localtime(time.time() - seconds))
            display.say(
                f"waiting for another maxcode run on this machine, which is timing: {seconds:.0f} s so far, since "
                f"{since}; only that run knows how long it takes{_whose()}"
            )

    with told_of_waits(tell), told_of_retries(display.say):
        yield


def _whose() -> str:
    """Which process it is, and in which folder it works, as far as the kernel says."""
    process = holder()
    if not process:
        return ""
    try:
        return f" (process {process} in {os.readlink(f'/proc/{process}/cwd')})"
    except OSError:
        return f" (process {process})"
