"""Runs the commands of a repository in the sandbox, each in a session of its own on fresh copies of its files.

A session has a folder in memory, at the path at which the set-up ran, into which the layers of a side are unpacked.  So
a command may write where it likes, and nothing that it writes reaches another run, another side or this machine.  There
is no ``.git``, no network, and of this machine only /usr and the folders of ``show``.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import final

from maxcode.core.confined import refuse_outside
from maxcode.core.types import Problem
from maxcode.errors import InputError, MachineError, UnsafeError
from maxcode.evaluate.repo.base_tree import WHOLE, place_of
from maxcode.evaluate.repo.git import last_line
from maxcode.evaluate.repo.layers import BuildError, Layers
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox, Session
from maxcode.sandbox.session_layout import OWN, is_covered

COMMAND_S = 1800.0  # wall seconds of a build, or of the tests, of base
OUTPUT_MB, PROCESSES, BUILT_MB = 64, 512, 900
SEED = "{seed}"  # in the command of a benchmark: another one in every pair
_BUILT = "/tmp/maxcode-built.tar"


@final
@dataclass(frozen=True)
class Place:
    """Where the commands of an admitted problem run."""

    sandbox: Sandbox
    problem: Problem

    def __post_init__(self) -> None:
        if self.sandbox.tier.name != "1":
            raise UnsafeError(
                f"repositories run only in tier 1 of the sandbox (bubblewrap), and this is {self.sandbox.describe()}; "
                "see `maxcode doctor`"
            )

    @cached_property
    def path(self) -> Path:
        """The folder of the repository's files, in the sandbox."""
        return place_of(self.problem)

    @cached_property
    def binds(self) -> list[tuple[Path, str]]:
        """The folders of ``show`` and their paths in the sandbox.  InputError for one that must not be shown."""
        found = []
        for name in self.problem.spec.repo_spec.show:
            folder = Path(os.path.abspath(Path(name).expanduser()))
            if not folder.is_dir():
                raise InputError(f"show names {name}, which is no folder here; correct it")
            if is_covered(folder):
                raise InputError(f"show names {name}, but the sandbox has its own {', '.join(OWN)}; copy it elsewhere")
            refuse_outside(folder, "the folder that show names,")
            found.append((folder.resolve(), str(folder)))
        return found

    @asynccontextmanager
    async def session(self, side: Layers) -> AsyncIterator[Commands]:
        """A session with the files of a side.  BuildError if one of its further layers does not go over base."""
        room_mb = max(1024, 4 * sum(blob.size for blob in side.blobs) >> 20)
        room = (str(self.path), min(room_mb + 1024, memory_mb() // 2))
        async with self.sandbox.session(side.blobs, Mounts({}, self.binds, room=room)) as session:
            commands = Commands(self, session)
            for layer in side.blobs:
                await commands.unpack(layer, is_base=layer is side.base)
            yield commands

    async def run(self, side: Layers, command: str, wall_s: float, measured: bool = False) -> Ran:
        """One run of a command on the files of a side."""
        async with self.session(side) as commands:
            return await commands.run(command, wall_s, measured)

    async def run_over(self, side: Layers, extra: Blob, command: str, wall_s: float) -> Ran:
        """One run of a command on the files of a side with one more layer."""
        async with self.session(replace(side, further=(*side.further, extra))) as commands:
            return await commands.run(command, wall_s)

    async def built(self, side: Layers, wall_s: float) -> tuple[Ran, bytes]:
        """The run of the build, and an archive of all files after it; empty if it failed."""
        async with self.session(side) as commands:
            ran = await commands.run(self.problem.spec.repo_spec.build, wall_s)
            return ran, await commands.packed() if ran.ok else b""


@final
@dataclass(frozen=True, slots=True)
class Commands:
    """Runs commands in one session."""

    place: Place
    session: Session

    async def unpack(self, layer: Blob, is_base: bool) -> None:
        job = Job(
            ("tar", "-xf", "-", "-C", str(self.place.path)), stdin=layer, cpu_s=600, wall_s=600, memory_mb=memory_mb(),
            output_mb=memory_mb() // 2,
        )  # fmt: skip
        ran = await self.session.run(job)
        if not ran.ok and not is_base and ran.ending == "exit":
            why = ran.stderr.decode(errors="replace").partition("\n")[0]
            raise BuildError(f"the files of the candidate cannot be unpacked over base: {why}")
        if not ran.ok:
            raise MachineError(f"the files of the repository do not fit into the sandbox: {said(ran)}")

    async def run(self, command: str, wall_s: float, measured: bool = False) -> Ran:
        """One run in the folder of the files.  ``measured``: as a program under test, not as a build."""
        env = [f"{name}={value.replace('{repo}', str(self.place.path))}" for name, value in self.place.problem.spec.env]
        words = ("env", "-C", str(self.place.path), *env, "sh", "-c", command)
        return await self.session.run(_job(words, wall_s), measured)

    async def packed(self) -> bytes:
        """An archive of all files."""
        words = ("tar", WHOLE, "-cf", _BUILT, "-C", str(self.place.path), ".")
        job = replace(_job(words, COMMAND_S), output_mb=BUILT_MB, collect=(_BUILT,))
        ran = await self.session.run(job)
        if not ran.ok or _BUILT not in ran.files:
            raise BuildError(
                f"the files after the build cannot be packed, or take more than {BUILT_MB} MB ({said(ran)}); build "
                "less, or in `setup`"
            )
        return ran.files[_BUILT]


def _job(words: Sequence[str], wall_s: float) -> Job:
    return Job(
        tuple(words), cpu_s=wall_s * (os.cpu_count() or 1), wall_s=wall_s, memory_mb=memory_mb(), output_mb=OUTPUT_MB,
        processes=PROCESSES, repository=True,
    )  # fmt: skip


def memory_mb() -> int:
    """Three quarters of this machine's memory."""
    return max(512, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4 >> 20)


def ended(ran: Ran) -> str:
    """How a run ended, in words."""
    if ran.out_of_memory:
        return "ran out of memory"
    if ran.ending == "timeout":
        return f"took more than {ran.wall_s:.0f} s"
    if ran.ending == "output":
        return f"wrote more than {OUTPUT_MB} MB"
    return f"ended with {'status' if ran.ending == 'exit' else 'signal'} {ran.code}"


def said(ran: Ran) -> str:
    """How a run ended, and its last line."""
    words = ran.stderr.decode(errors="replace").strip() or ran.stdout.decode(errors="replace")
    return f"{ended(ran)}: {last_line(words)}"


def output_of(ran: Ran) -> str:
    """What a run printed."""
    return (ran.stdout + b"\n" + ran.stderr).decode(errors="replace")


def now() -> int:
    """The current second."""
    return int(time.time())
