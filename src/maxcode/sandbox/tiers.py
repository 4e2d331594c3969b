"""The tiers of the sandbox: what they have in common, which one is wanted, and what each needs of this machine.

    1     bubblewrap: namespaces of its own for every session (``namespaces.py``)
    2     Landlock: where there are no user namespaces; what is measured is one process (``landlock.py``)
    none  limits alone, which is no sandbox: only on explicit demand, and every result says so (``landlock.py``)

All start the same shim, speak the same protocol, and put the same filter and limits on (none: the limits).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from maxcode.errors import InputError
from maxcode.sandbox.jobs import Job, Ran

SANDBOX_UID = 64001  # from the range that Debian reserves; nobody's; also in shim_landlock.h
VARIABLE = "MAXCODE_SANDBOX"
TIERS = ("1", "2")
UNSAFE = "none"
NO_SANDBOX = "none: UNSAFE"  # how the description of such a result begins

Binds = Sequence[tuple[Path, str]]


class SessionView(Protocol):
    """What one session sees, as long as the session lasts."""

    @property
    def fds(self) -> tuple[int, ...]:
        """The descriptors that the command below must inherit."""

    def command(self, shim: int, control: int) -> list[str]:
        """What starts the shim of a session: descriptors of its file and of the socket to it."""

    def asked(self, job: Job) -> Job:
        """The job in words of this place; jobs are written for /src and /tmp."""

    def told(self, ran: Ran) -> Ran:
        """The answer in words of /src and /tmp."""


class Tier(Protocol):
    """What stands between a program and this machine."""

    @property
    def name(self) -> str:
        """One of TIERS, or UNSAFE."""

    @property
    def uid(self) -> int:
        """Whom to become where we are root; 0 where that is not possible."""

    def describe(self) -> str:
        """What it is made of, in a few words."""

    def cure(self) -> str:
        """What to do where it does not start."""

    def placed(
        self, sources: Mapping[str, str | bytes] | None, binds: Binds, runtime: Mapping[str, Path] | None
    ) -> AbstractContextManager[SessionView]:
        """The place of a session; see ``Sandbox.session``.  With ``runtime`` (path -> file) these files are all of the
        host that may be read."""


def wanted() -> str:
    """The tier that the environment demands, empty where it leaves the choice; InputError for anything else."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen not in ("", *TIERS, UNSAFE):
        raise InputError(f"{VARIABLE}={chosen} names no tier of the sandbox; give 1 or 2, or unset it")
    return chosen


def refuse_unsafe(purpose: str) -> None:
    """InputError where results of no sandbox would be taken for more than they are."""
    if wanted() == UNSAFE:
        raise InputError(f"{purpose} takes no results made without a sandbox; leave --unsafe-no-sandbox out")
