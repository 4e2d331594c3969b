"""The tiers of the sandbox: their common roles, and the choice of the user.

    1     bubblewrap: separate namespaces for every session (``namespaces.py``)
    2     Landlock: for machines without user namespaces; a measured program is one process (``landlock.py``)
    none  only limits, no sandbox: only if the user asks for it, and every result says so (``landlock.py``)

All start the same shim, use the same protocol, and set the same filter and limits (none: only the limits).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, final

from maxcode.errors import InputError
from maxcode.sandbox.binds import Binds
from maxcode.sandbox.jobs import Job, Ran

SANDBOX_UID = 64001  # from the range that Debian reserves, used by no other user; also in shim_landlock.h
VARIABLE = "MAXCODE_SANDBOX"
TIERS = ("1", "2")
UNSAFE = "none"
NO_SANDBOX = "none: UNSAFE"  # the beginning of the description in such a result


@final
@dataclass(frozen=True, slots=True)
class Mounts:
    """The files of a session, beside those of the system.

    ``sources`` (path below /src -> text): for builds and helpers.  The sources are read-only in /src, where jobs
    start, and /tmp can be written; jobs use these paths in every tier.  None: the session only runs programs.
    ``binds``: (host folder, path in the sandbox), read-only.
    ``data`` (relative path -> content): files that the programs of a session without sources can read in the folder
    where they start.  Every session has its own copy; a program can change neither it nor what is kept about it.
    ``room``: path and MB of a further folder in memory that programs can write, for the commands of a repository,
    which can also write to /dev/shm; both end with the session.  Only tier 1 has it: UnsafeError elsewhere.
    """

    sources: Mapping[str, str | bytes] | None = None
    binds: Binds = ()
    data: Mapping[str, bytes] = field(default_factory=dict)
    room: tuple[str, int] | None = None


class SessionView(Protocol):
    """The place of one session: what its programs see."""

    @property
    def fds(self) -> tuple[int, ...]:
        """The descriptors that ``command`` must inherit."""

    def command(self, shim: int, control: int) -> list[str]:
        """The command that starts the shim; the arguments are descriptors of its file and of the socket to it."""

    def asked(self, job: Job) -> Job:
        """The job with the paths of this place; jobs are written for /src and /tmp."""

    def told(self, ran: Ran) -> Ran:
        """The answer with the paths /src and /tmp."""


class Tier(Protocol):
    """The isolation between a program and this machine."""

    @property
    def name(self) -> str:
        """One of TIERS, or UNSAFE."""

    @property
    def uid(self) -> int:
        """The user to become if maxcode runs as root; 0 if that is not possible."""

    def describe(self) -> str:
        """Its parts, in a few words."""

    def cure(self) -> str:
        """What the user can do if it does not start."""

    def placed(
        self, mounts: Mounts, runtime: Mapping[str, Path] | None, sealed: Path | None
    ) -> AbstractContextManager[SessionView]:
        """The place of a session.  With ``runtime`` (path -> file), programs may read only these files of the host;
        with ``sealed``, in tier 1, they see this folder in place of the host's /usr."""


def wanted() -> str:
    """The tier that the environment selects, empty if it selects none; InputError for anything else."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen not in ("", *TIERS, UNSAFE):
        raise InputError(f"{VARIABLE}={chosen} is not a tier of the sandbox; give 1 or 2, or unset it")
    return chosen


def refuse_unsafe(purpose: str) -> None:
    """InputError if the user asked for no sandbox; for commands whose results must be trusted."""
    if wanted() == UNSAFE:
        raise InputError(f"{purpose} accepts no results made without a sandbox; leave --unsafe-no-sandbox out")
