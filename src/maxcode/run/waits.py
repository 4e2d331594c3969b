"""Progress lines about waits: maxcode times in one process at a time, so a run may wait for another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from maxcode.run.display import Display
from maxcode.sandbox.lanes import holder, told_of_waits

_FIRST_S = 5.0  # a shorter wait is not worth a line


@contextmanager
def waits_on(display: Display) -> Iterator[None]:
    """Shows on ``display`` what the work of the block waits for, and for how long: on a live line every second, else
    after 5 s and whenever the wait has doubled."""
    following = _FIRST_S

    def tell(seconds: float, is_over: bool) -> None:
        nonlocal following
        if is_over:
            if following > _FIRST_S:
                display.say(f"waited {seconds:.0f} s for another maxcode run on this machine")
            following = _FIRST_S
        elif seconds >= following:
            following = max(following, seconds if display.is_live else 2 * seconds)
            display.say(
                f"waiting for another maxcode run on this machine, which is timing: {seconds:.0f} s so far{_whose()}"
            )

    with told_of_waits(tell):
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
