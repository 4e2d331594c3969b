"""Tier 1 of the sandbox: bubblewrap starts the shim as process 1 in new namespaces."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import anyio

from maxcode.errors import UnsafeError
from maxcode.sandbox.jobs import Job, Ran
from maxcode.sandbox.session_layout import SHIM_PATH, Layout, laid_out
from maxcode.sandbox.tiers import SANDBOX_UID, Mounts

_OLDEST_BWRAP = (0, 8)  # --disable-userns, --size
_OLDEST_KERNEL = (5, 14)  # since then each user namespace has its own limit on processes


@final
@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Tier 1: the installed bubblewrap and its version."""

    path: str
    version: str
    name: str = "1"
    uid: int = SANDBOX_UID

    def describe(self) -> str:
        return f"bubblewrap {self.version} + seccomp + rlimits"

    def cure(self) -> str:
        """The most likely reason why bubblewrap does not work here, and what to do."""
        for path, bad, cure in _SWITCHES:
            if _setting(path) == bad:
                return cure
        return (
            "in a container, allow user namespaces: docker run --security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined; on a shared machine, ask the "
            "administrator"
        )

    @contextmanager
    def placed(self, mounts: Mounts, runtime: Mapping[str, Path] | None, sealed: Path | None) -> Iterator[_Inside]:
        with laid_out(mounts, runtime, sealed) as layout:
            yield _Inside(self.path, layout)


@final
@dataclass(frozen=True, slots=True)
class _Inside:
    """A place with its own root: /src and /tmp are real paths there."""

    bwrap: str
    layout: Layout

    @property
    def fds(self) -> tuple[int, ...]:
        return self.layout.fds

    def command(self, shim: int, control: int) -> list[str]:
        return [self.bwrap, *self.layout.arguments(shim), "--", SHIM_PATH, "session", str(control)]

    def asked(self, job: Job) -> Job:
        return job

    def told(self, ran: Ran) -> Ran:
        return ran


async def find_bubblewrap() -> Bubblewrap:
    """The installed bubblewrap; UnsafeError with the cure if it is missing, or if it or the kernel is too old."""
    _check_kernel()
    path = shutil.which("bwrap")
    if path is None:
        raise UnsafeError("bubblewrap is not installed; `apt install bubblewrap` (or dnf, pacman, apk add bubblewrap)")
    said = (await anyio.run_process([path, "--version"], check=False)).stdout.decode(errors="replace")
    version = said.split()[-1] if said.split() else "?"
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < _OLDEST_BWRAP:
        raise UnsafeError(f"{path} is version {version}; install bubblewrap 0.8 or later")
    return Bubblewrap(path, version)


def _check_kernel() -> None:
    release = os.uname().release
    if tuple(int(part) for part in re.findall(r"\d+", release)[:2]) < _OLDEST_KERNEL:
        raise UnsafeError(f"Linux {release} cannot limit a sandbox's processes; 5.14 or later is needed")


def _setting(path: str) -> str:
    try:
        return Path("/proc/sys", path).read_text().strip()
    except OSError:
        return ""


_SWITCHES = (
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor forbids user namespaces here: give bwrap a profile that allows `userns`, or "
        "`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
    ),
    (
        "kernel/unprivileged_userns_clone",
        "0",
        "user namespaces are off: `sudo sysctl kernel.unprivileged_userns_clone=1`",
    ),
    ("user/max_user_namespaces", "0", "user namespaces are off: `sudo sysctl user.max_user_namespaces=15000`"),
)
