"""What the admission of a problem found out, kept for later commands: a run that goes on, by ``tell`` or by the same
command again, and ``evaluate``, with a run folder too.

It is used only if all that it rests on is the same.  Nothing of it is in a run folder, which may come from anybody: it
is in a folder of the cache that is the user's alone, under a hash of the problem.  No verdict is kept, and nothing of a
candidate: the original runs beside it in every pair.  Without a sandbox nothing is kept, because a program could write
there.  A certificate, and a search that begins, admit anew.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Generic, TypeVar, final

import anyio.to_thread
import msgspec

from maxcode import errors
from maxcode.evaluate.ladder.kept_builds import VARIABLE
from maxcode.evaluate.ladder.own_folder import OwnFolder, processor, stamp
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.tiers import UNSAFE

NOT_KEPT = "its admission is not kept here"
NOT_AGAIN = "the original was not run again for its admission: {}"
AGAIN = "the original was run again for its admission: {}"
SYSTEM = "a compiler or another file of the system"
FILES_AT_MOST, BYTES_AT_MOST = 32, 1600 << 20
FILE_AT_MOST = 400 << 20
Found = TypeVar("Found")


@final
@dataclass(frozen=True, slots=True)
class _Kept:
    """``rests_on``: name in words -> hash.  ``at``: seconds of the clock when it was kept."""

    rests_on: dict[str, str]
    at: float
    found: bytes


@final
@dataclass(frozen=True, slots=True)
class Earlier(Generic[Found]):
    """What earlier commands have kept of one admission.

    ``found``: None if there is none that may be used.  ``notes``: since when nothing has changed, or what has, for the
    user.
    """

    kept: KeptAdmissions
    name: str
    rests_on: Mapping[str, str]
    found: Found | None
    notes: tuple[str, ...]

    async def keep(self, found: Found) -> None:
        """Keeps what was learned in its place."""
        await anyio.to_thread.run_sync(self.kept.keep, self.name, self.rests_on, found)


@final
@dataclass(frozen=True, slots=True)
class KeptAdmissions:
    """Those in ``folder``; None: nothing is kept.  ``reads``: whether this command uses them.  ``most_s``: the age up
    to which one is used, None: any."""

    folder: Path | None = None
    reads: bool = False
    most_s: float | None = None

    @classmethod
    def below(cls, sandbox: Sandbox, name: str, reads: bool, most_s: float | None = None) -> KeptAdmissions:
        """Those in this folder of the cache; none without a sandbox, or if the user asked for none."""
        is_none = sandbox.tier.name == UNSAFE or bool(os.environ.get(VARIABLE))
        return cls(None if is_none else sandbox.cache / name, reads, most_s)

    def rests_on(self, sandbox: Sandbox, parts: Mapping[str, Iterable[str]]) -> dict[str, str]:
        """What an admission rests on besides the problem and these parts of its own: name in words -> hash.  Ask before
        it begins, so that what changes meanwhile is noticed."""
        if self.folder is None:
            return {}
        common = {
            "maxcode": (version("maxcode"), *_code()),
            "the machine": (*map(repr, processor()), *_machine()),
            "the sandbox": (sandbox.describe(),),
        }
        return {name: _hash(part) for name, part in (*common.items(), *parts.items())}

    def find(self, name: str, rests_on: Mapping[str, str], kind: type[Found]) -> tuple[Found | None, str]:
        """What the admission of this name found out, if it rests on the same, and since when; None, and why, if there
        is none that may be used.  In words; without them where this command uses none."""
        if self.folder is None or not self.reads:
            return None, ""
        content = self._own(self.folder).find(name)
        try:
            kept = None if content is None else msgspec.msgpack.decode(content, type=_Kept)
            found = None if kept is None else msgspec.msgpack.decode(kept.found, type=kind)
        except msgspec.MsgspecError:
            return None, NOT_KEPT
        if kept is None or not self._is_young(kept):
            return None, NOT_KEPT
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(kept.at))
        if changed := [one for one, now in rests_on.items() if kept.rests_on.get(one) != now]:
            return None, f"{', '.join(changed)} {'has' if len(changed) == 1 else 'have'} changed since {since}"
        return found, f"nothing has changed since {since}"

    async def earlier(
        self, sandbox: Sandbox, identity: str, prompts: bool, parts: Mapping[str, Iterable[str]], kind: type[Found]
    ) -> Earlier[Found]:
        """What is kept of the admission of this problem.

        ``prompts``: with all that prompts tell.  One without that may be found in what a search has kept, which knows
        all that a single command needs.
        """
        names = (identity,) if prompts else (f"{identity}-single", identity)
        rests_on = await anyio.to_thread.run_sync(self.rests_on, sandbox, parts)
        found, notes = await anyio.to_thread.run_sync(partial(self._first, names, rests_on, kind))
        return Earlier(self, names[0], rests_on, found, notes)

    def _first(
        self, names: Sequence[str], rests_on: Mapping[str, str], kind: type[Found]
    ) -> tuple[Found | None, tuple[str, ...]]:
        """What is kept under the first of these names that may be used, with the note on it."""
        reasons = []
        for name in names:
            found, why = self.find(name, rests_on, kind)
            if found is not None:
                return found, (NOT_AGAIN.format(why),)
            reasons.append(why)
        changed = [AGAIN.format(why) for why in reasons if why not in ("", NOT_KEPT)]
        return None, tuple(changed[:1])

    def takes(self, size: int) -> bool:
        """Whether so many bytes would be kept: ask before they are copied."""
        return self.folder is not None and size <= FILE_AT_MOST

    def keep(self, name: str, rests_on: Mapping[str, str], found: object) -> None:
        """Keeps what an admission found out; does nothing if that is too large (``takes``) or cannot be written."""
        if self.folder is not None:
            kept = _Kept(dict(rests_on), time.time(), msgspec.msgpack.encode(found))
            self._own(self.folder).keep(name, msgspec.msgpack.encode(kept))

    def _is_young(self, kept: _Kept) -> bool:
        return self.most_s is None or 0 <= time.time() - kept.at <= self.most_s

    def _own(self, folder: Path) -> OwnFolder:
        return OwnFolder(folder, FILES_AT_MOST, BYTES_AT_MOST, FILE_AT_MOST)


def _hash(parts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode(errors="surrogateescape") + b"\0")
    return found.hexdigest()


def _code() -> Iterator[str]:
    """All of maxcode: what runs an original, and what reads its answers."""
    for path in sorted(Path(errors.__file__).parent.rglob("*")):
        if path.suffix in (".py", ".c", ".h"):
            yield hashlib.sha256(path.read_bytes()).hexdigest()


def _machine() -> tuple[str, ...]:
    """What decides how a build and its time limits come out, besides the processor."""
    return platform.node(), platform.release(), str(len(os.sched_getaffinity(0))), str(os.sysconf("SC_PHYS_PAGES"))


def stamps(tops: Iterable[str]) -> Iterator[str]:
    """Mode, size, inode and times of change of all that is below these folders, and of themselves; no link is
    followed."""
    waiting = sorted(tops)
    while waiting:
        path = waiting.pop()
        yield stamp(path, follows=False)
        if os.path.islink(path) or not os.path.isdir(path):
            continue
        try:
            with os.scandir(path) as entries:
                found = sorted(entries, key=lambda one: one.name)
        except OSError:
            yield "closed"
            continue
        waiting += [one.path for one in found if one.is_dir(follow_symlinks=False)]
        yield from (stamp(one.path, follows=False) for one in found if not one.is_dir(follow_symlinks=False))
