"""What base's build, tests and first runs gave, kept for a run that goes on, by ``tell`` or by the same command again.

Only a run that goes on reads it, and only if all that it rests on is the same; a new run, ``evaluate`` and a
certificate admit base anew.  Nothing of it is in the run folder, which may come from anybody: it is in the folder
``bases`` of the cache, which is the user's alone, under a hash of the problem.  No verdict is kept, and nothing of a
candidate: base runs beside it in every pair, and what it prints there is compared with what it printed here.

Other kinds of problems are admitted each time: theirs takes seconds, that of a repository may take an hour.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.types import HotFunction, Problem
from maxcode.evaluate.ladder.kept_builds import VARIABLE
from maxcode.evaluate.ladder.own_folder import OwnFolder, processor
from maxcode.evaluate.ladder.prepare import identity
from maxcode.evaluate.repo.commands import Place, memory_mb
from maxcode.sandbox import session_layout
from maxcode.sandbox.jobs import Blob

FOLDER = "bases"
FILES_AT_MOST, BYTES_AT_MOST = 32, 1600 << 20
FILE_AT_MOST = 400 << 20
# What every session for a build shows of this machine, or where links from there lead.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
_CODE = (Path(__file__).parent, Path(session_layout.__file__).parent)  # what runs base and reads what it prints
_NOT_KEPT = "base was built, tested and run again: its admission is not kept here"


@final
@dataclass(frozen=True, slots=True)
class FirstRuns:
    """What base's build, tests and first runs gave.

    ``built``: an archive of all files after the build; empty without one.  ``second``: in which it was packed.
    ``counts``: the summary of the tests.  ``outputs``, ``seconds``: of each run of the benchmark, on the clock of the
    goal.  ``canary``: the test file that takes the test that must fail.
    ``build_s``, ``test_s``, ``all_s``: wall seconds; the last of the whole admission.
    """

    built: bytes
    build_s: float
    test_s: float
    counts: Mapping[str, int]
    outputs: tuple[bytes, ...]
    seconds: tuple[float, ...]
    hot: tuple[HotFunction, ...]
    second: int
    canary: str = ""
    all_s: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class _Kept:
    """``rests_on``: name in words -> hash.  ``at``: when it was made."""

    rests_on: dict[str, str]
    at: str
    runs: FirstRuns


@final
@dataclass(frozen=True, slots=True)
class KeptBases:
    """The first runs in ``folder``; None: nothing is kept.  ``goes_on``: whether the run goes on, and so reads them."""

    folder: Path | None = None
    goes_on: bool = False

    @classmethod
    def below(cls, cache_folder: Path, keeps: bool, goes_on: bool) -> KeptBases:
        """Those of this cache folder; none if the user asked for none."""
        return cls(cache_folder / FOLDER if keeps and not os.environ.get(VARIABLE) else None, goes_on)

    def rests_on(self, place: Place, tree: Blob) -> dict[str, str]:
        """What the first runs rest on besides the problem: name in words -> hash.  ``tree``: the files of base after
        its set-up.  Ask before they run, so that what changes meanwhile is noticed."""
        if self.folder is None:
            return {}
        shown = (str(folder) for folder, _ in place.binds)  # refused here as where they are shown
        return {
            "maxcode": _hash((version("maxcode"), *_code())),
            "the machine": _hash((*map(repr, processor()), *_machine())),
            "the sandbox": place.sandbox.describe(),
            "the files after its set-up": tree.sha256,
            "a compiler or another file of the system": _hash(_stamps((*_SYSTEM, *session_layout.SETTINGS))),
            "a file in a folder of `show`": _hash(_stamps(shown)),
        }

    def find(self, problem: Problem, rests_on: Mapping[str, str]) -> tuple[FirstRuns | None, tuple[str, ...]]:
        """The first runs of a problem that rest on the same, and a note on them; None, with the reason if the run goes
        on, if there are none that may be used."""
        if self.folder is None or not self.goes_on:
            return None, ()
        content = _own(self.folder).find(identity(problem))
        try:
            kept = msgspec.msgpack.decode(content, type=_Kept) if content is not None else None
        except msgspec.MsgspecError:
            kept = None
        if kept is None:
            return None, (_NOT_KEPT,)
        if changed := [name for name, now in rests_on.items() if kept.rests_on.get(name) != now]:
            return None, (f"base was built, tested and run again: {', '.join(changed)} has changed since {kept.at}",)
        return kept.runs, (f"base was not built, tested and run again: nothing has changed since {kept.at}",)

    def keep(self, problem: Problem, rests_on: Mapping[str, str], runs: FirstRuns) -> None:
        """Keeps first runs; does nothing if they are too large or cannot be written."""
        if self.folder is not None:
            kept = _Kept(dict(rests_on), time.strftime("%Y-%m-%d %H:%M:%S"), runs)
            _own(self.folder).keep(identity(problem), msgspec.msgpack.encode(kept))


def _own(folder: Path) -> OwnFolder:
    return OwnFolder(folder, FILES_AT_MOST, BYTES_AT_MOST, FILE_AT_MOST)


def _hash(parts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode(errors="surrogateescape") + b"\0")
    return found.hexdigest()


def _code() -> Iterator[str]:
    for folder in _CODE:
        for path in sorted(one for one in folder.iterdir() if one.suffix in (".py", ".c", ".h")):
            yield hashlib.sha256(path.read_bytes()).hexdigest()


def _machine() -> tuple[str, ...]:
    """What decides how a build and its time limits come out, besides the processor."""
    return platform.node(), platform.release(), str(len(os.sched_getaffinity(0))), str(memory_mb())


def _stamps(tops: Iterable[str]) -> Iterator[str]:
    """Mode, size, inode and times of change of all that is below these folders, and of themselves; no link is
    followed."""
    waiting = sorted(tops)
    while waiting:
        path = waiting.pop()
        yield _stamp(path)
        if os.path.islink(path) or not os.path.isdir(path):
            continue
        try:
            with os.scandir(path) as entries:
                found = sorted(entries, key=lambda one: one.name)
        except OSError:
            yield "closed"
            continue
        waiting += [one.path for one in found if one.is_dir(follow_symlinks=False)]
        yield from (_stamp(one.path) for one in found if not one.is_dir(follow_symlinks=False))


def _stamp(path: str) -> str:
    try:
        about = os.lstat(path)
    except OSError:
        return f"{path} -"
    return f"{path} {about.st_mode} {about.st_size} {about.st_ino} {about.st_mtime_ns} {about.st_ctime_ns}"
