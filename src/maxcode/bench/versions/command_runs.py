"""Runs the command of a side once and measures its whole process tree: in the sandbox, or without it.

In the sandbox each run has a new session, so a run leaves nothing for the next one: the side is read-only at /side,
/tmp is new, and there is no network.  Without a sandbox ``holder.py`` runs the command as the user, in a process
group of its own.  In both, times include orphans, and everything that a run leaves behind is killed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, final

import anyio
import msgspec

from maxcode.bench.versions.asked import RaceAsked
from maxcode.bench.versions.version_side import FOLDERS, VersionSide
from maxcode.bench.versions.worktrees import Scratch
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.repo.commands import BUILT_MB, OUTPUT_MB, PROCESSES, ended, memory_mb, said
from maxcode.evaluate.repo.git import last_line
from maxcode.sandbox.archives import BROKEN, content, opened, unpack
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Sandbox
from maxcode.sandbox.session_layout import OWN, is_covered

SIDE, _ROWS, _BUILT = "/side", "/tmp/maxcode-rows.tar", "/tmp/maxcode-built.tar"
BUILD_S = 1800.0
_HOLDER = Path(__file__).with_name("holder.py")
# The shell words before a command: it starts in the side, and TMPDIR is absolute.  Tier 2 has no /tmp of its own: its
# words say ../t instead, which must become absolute too, since the command starts elsewhere.
_THERE = f'cd -P "$TMPDIR" && export TMPDIR="$PWD" HOME="$PWD" && cd {SIDE} || exit 127; '
_ABSOLUTE = """n=$#; while [ $n -gt 0 ]; do w=$1; shift; o=; while :; do case $w in
*../t/*) o=$o${w%%../t/*}$TMPDIR/; w=${w#*../t/};; *) break;; esac; done; set -- "$@" "$o$w"; n=$((n-1)); done; """
_GO = 'exec "$@"'
# With the times of the files, which make compares.  In tier 2 those of folders and links cannot be set.
_COPY = (
    '{ LC_ALL=C cp -R --preserve=timestamps . "$TMPDIR/built" 2>"$TMPDIR/said" || '
    '! grep -v "preserving times" "$TMPDIR/said" >&2; }'
)
_GO_AND_PACK = (
    'p=$1; shift; "$@"; s=$?; tar -cf "$TMPDIR/maxcode-rows.tar" -C "${p%/*}" "${p##*/}" 2>/dev/null; exit $s'
)
_COUNTER = (
    *("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"),
    *("--log-fd=2", "--trace-children=yes", "--vgdb=no"),
)
_COUNT = re.compile(rb"==\d+== I +refs: +(\d[\d,]{0,30})")


@final
@dataclass(frozen=True, slots=True)
class CommandRun:
    """One run.  ``trouble``: how it failed, else empty.  ``files``: what it wrote at the path to read."""

    trouble: str
    cpu_s: float
    wall_s: float
    stdout: bytes
    files: Mapping[str, bytes] = field(default_factory=dict)
    instructions: int = 0


class CommandRunner(Protocol):
    """Runs commands of sides.  ``protection``: what is between them and this machine, in words."""

    @property
    def protection(self) -> str: ...

    async def build(self, side: VersionSide, command: str, place: Scratch) -> VersionSide:
        """The side after a build in a copy; InputError if the build fails."""

    async def run(self, side: VersionSide, wall_s: float) -> CommandRun:
        """One run, after the set-up.  InputError if the set-up fails."""


@asynccontextmanager
async def runner_of(asked: RaceAsked) -> AsyncIterator[CommandRunner]:
    """The runner that the user asked for."""
    if not asked.trusts_both:
        yield Sandboxed(asked, await Sandbox.open())
        return
    async with await anyio.open_process(
        [sys.executable, "-I", str(_HOLDER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None
    ) as process:
        try:
            yield Trusting(asked, process)
        finally:
            with anyio.CancelScope(shield=True):
                if process.stdin is not None:
                    await process.stdin.aclose()  # the holder then kills what runs, and ends
                await process.wait()


@final
class Sandboxed:
    def __init__(self, asked: RaceAsked, sandbox: Sandbox) -> None:
        self._asked, self._sandbox = asked, sandbox
        self._binds = [(_showable(folder.resolve()), str(folder.resolve())) for folder in asked.shown]
        self._stdin = Blob.of(asked.stdin) if asked.stdin is not None else None
        self._there = _THERE if sandbox.forks else _THERE + _ABSOLUTE

    @property
    def protection(self) -> str:
        return self._sandbox.describe()

    async def build(self, side: VersionSide, command: str, place: Scratch) -> VersionSide:
        script = (
            f'{self._there}mkdir "$TMPDIR/built" && {_COPY} && cd "$TMPDIR/built" && sh -c "$1" '
            '&& tar --exclude=./.git -cf "$TMPDIR/maxcode-built.tar" .'
        )  # fmt: skip
        job = Job(
            ("sh", "-c", script, "sh", command), cpu_s=BUILD_S, wall_s=BUILD_S, memory_mb=memory_mb(),
            output_mb=BUILT_MB, processes=PROCESSES, collect=(_BUILT,),
        )  # fmt: skip
        async with self._sandbox.session([], Mounts({}, [(side.folder, SIDE), *self._binds])) as session:
            ran = await session.run(job)
        if not ran.ok or _BUILT not in ran.files:
            raise InputError(_build_failed(side, command, said(ran), boxed=True))
        folder = place.place(f"{FOLDERS[side.name]}-built")
        await anyio.to_thread.run_sync(_unpacked, ran.files[_BUILT], folder, side)
        if not self._sandbox.forks:
            await anyio.to_thread.run_sync(_make_runnable, folder)
        return replace(side, folder=folder, owned=True)

    async def run(self, side: VersionSide, wall_s: float) -> CommandRun:
        job = self._job(side, wall_s)
        measured = self._sandbox.forks  # in tier 2 a measured program is one process; a command may be several
        binds = [(side.folder, SIDE), *self._binds]
        async with self._sandbox.session(job.blobs, Mounts({}, binds), measured=measured) as session:
            if self._asked.setup:
                setup = ("sh", "-c", self._there + _GO, "sh", "sh", "-c", self._asked.setup)
                first = replace(job, argv=setup, stdin=None)
                if not (ran := await session.run(replace(first, collect=(), cpu_s=BUILD_S, wall_s=BUILD_S))).ok:
                    raise InputError(f"--setup {self._asked.setup!r} fails on {side.described()}: {said(ran)}")
            ran = await session.run(job)
        trouble = "" if ran.ok else f"{ended(ran)}: {last_line(ran.stderr.decode(errors='replace'))}"
        rows = _rows_in(ran.files[_ROWS]) if _ROWS in ran.files else {}
        return CommandRun(trouble, ran.cpu_s, ran.wall_s, ran.stdout, rows, _counted(ran.stderr))

    def _job(self, side: VersionSide, wall_s: float) -> Job:
        path = self._asked.read.partition(":")[2]
        words = (*_COUNTER, *side.words) if self._asked.goal == "instructions" else side.words
        if path:
            words = (path, *words)
        script = self._there + (_GO_AND_PACK if path else _GO)
        return Job(
            ("sh", "-c", script, "sh", *words), stdin=self._stdin, cpu_s=wall_s * (os.cpu_count() or 1), wall_s=wall_s,
            memory_mb=memory_mb(), output_mb=OUTPUT_MB, processes=PROCESSES, collect=(_ROWS,) if path else (),
        )  # fmt: skip


@final
class Trusting:
    """As the user, without a sandbox."""

    protection = "none: both sides are trusted (--trust-both)"

    def __init__(self, asked: RaceAsked, process: anyio.abc.Process) -> None:
        self._asked, self._process, self._stdin = asked, process, _stdin_path(asked)

    async def build(self, side: VersionSide, command: str, place: Scratch) -> VersionSide:
        done = await self._ask(("sh", "-c", command), side.folder, BUILD_S)
        if done["trouble"]:
            raise InputError(_build_failed(side, command, _words(done), boxed=False))
        return side

    async def run(self, side: VersionSide, wall_s: float) -> CommandRun:
        if self._asked.setup:
            done = await self._ask(("sh", "-c", self._asked.setup), side.folder, BUILD_S)
            if done["trouble"]:
                raise InputError(f"--setup {self._asked.setup!r} fails on {side.described()}: {_words(done)}")
        counts = self._asked.goal == "instructions"
        done = await self._ask((*_COUNTER, *side.words) if counts else side.words, side.folder, wall_s)
        path, stderr = self._asked.read.partition(":")[2], done["stderr"]
        rows = _rows_at(side.folder / path, done["began_ns"]) if path and not done["trouble"] else {}
        trouble = _words(done) if done["trouble"] else ""
        return CommandRun(trouble, done["cpu_s"], done["wall_s"], done["stdout"], rows, _counted(stderr))

    async def _ask(self, words: tuple[str, ...], folder: Path, wall_s: float) -> dict[str, Any]:
        """One run by the holder, with stdout and stderr."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            request = {
                "words": words, "folder": str(folder), "wall_s": wall_s, "out": _path(out), "err": _path(err),
                "stdin": str(self._stdin), "most": OUTPUT_MB << 20,
            }  # fmt: skip
            assert self._process.stdin is not None and self._process.stdout is not None
            await self._process.stdin.send(msgspec.json.encode(request) + b"\n")
            told = b""
            while not told.endswith(b"\n"):
                try:
                    told += await self._process.stdout.receive()
                except anyio.EndOfStream as error:
                    raise MachineError("the process that runs the commands has ended; start the race again") from error
            done: dict[str, Any] = msgspec.json.decode(told)
            for name, file in (("stdout", out), ("stderr", err)):
                file.seek(0)
                done[name] = file.read(OUTPUT_MB << 20)
        return done


def _showable(folder: Path) -> Path:
    """The folder; InputError if the sandbox has something of its own there."""
    if is_covered(folder, _OWN):
        raise InputError(f"--show {folder}: the sandbox has its own {', '.join(_OWN)}; copy it to another place")
    return folder


_OWN = (*OWN, SIDE)


def _path(file: Any) -> str:
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


def _stdin_path(asked: RaceAsked) -> Path:
    """What the holder opens for each run; it cannot refuse it in words."""
    path = asked.stdin or Path(os.devnull)
    if path.is_dir() or not os.access(path, os.R_OK):
        raise InputError(f"cannot read --stdin {path}; correct its name, or its rights")
    return path.resolve()


def _words(done: Mapping[str, Any]) -> str:
    said = done["stderr"].decode(errors="replace") or done["stdout"].decode(errors="replace")
    return f"{done['trouble']}: {last_line(said)}"


def _build_failed(side: VersionSide, command: str, why: str, boxed: bool) -> str:
    cure = "; in the sandbox it has no network and sees /usr alone: --show FOLDER, or --trust-both" if boxed else ""
    return f"--build {command!r} fails on {side.described()}: {why}{cure}{side.lacks}"


def _unpacked(data: bytes, folder: Path, side: VersionSide) -> None:
    try:
        unpack(data, folder)
    except BROKEN as error:
        raise InputError(
            f"what the build of {side.described()} made cannot be taken over: {error}; let --build remove it, or give "
            "--trust-both"
        ) from error


def _make_runnable(folder: Path) -> None:
    """Programs and scripts may be started.  In tier 2, where maxcode is not root, a build cannot change modes, and a
    linker makes what it wrote executable by such a change."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                is_program = file.read(4).startswith((b"\x7fELF", b"#!"))
            if is_program:
                path.chmod(path.stat().st_mode | 0o111)


def _rows_in(data: bytes) -> dict[str, bytes]:
    """The files in an archive that a side made: only regular ones, by their path."""
    found = {}
    try:
        with opened(data) as packed:
            for member in packed:
                if (row := content(packed, member)) is not None:
                    found[str(PurePosixPath(member.name))] = row
    except BROKEN:
        return {}
    return found


def _rows_at(path: Path, began_ns: int) -> dict[str, bytes]:
    """The files at a path, or below it, that were written since then; paths are relative to the parent of the path."""
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {
        str(one.relative_to(path.parent)): one.read_bytes()
        for one in paths
        if one.is_file() and one.stat().st_mtime_ns >= began_ns
    }


def _counted(stderr: bytes) -> int:
    return sum(int(found.replace(b",", b"")) for found in _COUNT.findall(stderr))


def shown_command(side: VersionSide) -> str:
    """The command of a side in one line."""
    return side.words[2] if side.words[:2] == ("sh", "-c") and len(side.words) == 3 else shlex.join(side.words)


def missing_counter() -> str:
    """Why instructions cannot be counted, else empty."""
    return "" if shutil.which("valgrind") else "--goal instructions needs valgrind: `apt install valgrind`"
