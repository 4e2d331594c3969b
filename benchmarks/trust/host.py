"""Finds what a candidate left behind or changed outside the sandbox."""

from __future__ import annotations

import hashlib
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, final

from maxcode.evaluate.function.comparing import LIBRARY
from maxcode.sandbox.sandbox import SANDBOX_UID, Sandbox
from maxcode.sandbox.toolchain import FILL, PROBE, SHIM, digest_of

ORIGINALS = Path(__file__).parents[2] / "tests" / "evaluate" / "gallery" / "originals"
MARK = "mcgallery"  # in every name a candidate tries to leave on the host
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/src", "~", ".")
_OWN = (SHIM, PROBE, FILL, LIBRARY)
_MEASURED = ("safe-", "floor-")
_PATIENCE_S = 3.0


@final
class Host:
    """All that a candidate could leave behind or change outside the sandbox, as marker -> finding.

    Other sandboxes may run at the same time.  So a process counts only if it is in one of our groups, is our
    descendant, or is an orphan with the gallery's mark; a file only if it has the mark or the sandbox's user owns it.
    """

    MARKERS = (
        "files and POSIX segments", "processes", "processes of the sandbox's user",
        "SysV segments, queues and semaphores", "sockets", "cgroups", "mounts", "locks", "cache folder",
        "tests and originals", "descriptors", "affinity, niceness and limits",
    )  # fmt: skip

    def __init__(self, sandbox: Sandbox) -> None:
        self.tier = sandbox.tier.name
        self._cache = sandbox.cache
        self._parents = sandbox.hierarchy.parents if sandbox.hierarchy is not None else ()
        self._uid = SANDBOX_UID if os.geteuid() == 0 else -1

    def look(self) -> dict[str, set[str]]:
        """All current markers."""
        found = (
            self._files(), self._processes(), self._strays(), self._ipc(), _sockets(), self._groups(), _mounts(),
            _locks(), self._cached(), _originals(), _descriptors(),
            {f"{os.sched_getaffinity(0)} {os.getpriority(os.PRIO_PROCESS, 0)} {_limits()}"},
        )  # fmt: skip
        return dict(zip(self.MARKERS, found, strict=True))

    def changes(self, before: dict[str, set[str]]) -> list[str]:
        """The differences from before, in words; processes and groups get some seconds to end."""
        deadline = time.monotonic() + _PATIENCE_S
        while (changed := _changed(before, self.look())) and time.monotonic() < deadline:
            time.sleep(0.1)
        return changed

    def _files(self) -> set[str]:
        found = set()
        for place in _PLACES:
            top = Path(place).expanduser()
            for path in (*_inside(top), *(inner for folder in _inside(top) for inner in _inside(folder))):
                if MARK in path.name or (_owner(path) == self._uid and not _is_of_another(path)):
                    found.add(str(path))
        return found

    def _processes(self) -> set[str]:
        return {
            f"{one.number} {one.name}" for one in _all_processes()
            if one.parent == os.getpid() or f"maxcode-{os.getpid()}-" in one.group
            or (one.parent == 1 and MARK in one.name)
        }  # fmt: skip

    def _strays(self) -> set[str]:
        """Processes of the sandbox's user that are our descendants or orphans: not those of another maxcode."""
        all_of_them = {one.number: one for one in _all_processes()}
        found = set()
        for one in all_of_them.values():
            above = one
            while above.user == self._uid and above.parent in all_of_them:
                above = all_of_them[above.parent]
            if one.user == self._uid and above.number in (1, os.getpid()):
                found.add(f"{one.number} {one.name}")
        return found

    def _ipc(self) -> set[str]:
        found = set()
        for kind in ("shm", "msg", "sem"):
            for line in Path("/proc/sysvipc", kind).read_text().splitlines()[1:]:
                if str(self._uid) in line.split():
                    found.add(f"{kind} {line}")
        return found

    def _groups(self) -> set[str]:
        return {str(path) for parent in self._parents for path in parent.glob(f"maxcode-{os.getpid()}-*")}

    def _cached(self) -> set[str]:
        """Names with contents, without those that any build or winner may add: precompiled headers, the mark of a
        passed self-test, the cost of a process, and the programs of another version of maxcode that runs here."""
        own = {f"{source.stem}-{digest_of(source)}" for source in _OWN}
        names = tuple(f"{source.stem}-" for source in _OWN)
        files = (path for path in self._cache.iterdir() if path.is_file() and not path.name.startswith(_MEASURED))
        files = (path for path in files if path.stem in own or not path.name.startswith(names))
        return {f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files}


def _changed(before: dict[str, set[str]], now: dict[str, set[str]]) -> list[str]:
    return [
        f"{marker}: {word} {thing}" for marker in before
        for word, things in (("new", now[marker] - before[marker]), ("gone", before[marker] - now[marker]))
        for thing in sorted(things) if not (word == "gone" and marker in ("processes", "files", "descriptors"))
    ]  # fmt: skip


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []
    except OSError:
        return []


def _is_of_another(path: Path) -> bool:
    """Whether it is, or lies in, the folder of a build of another maxcode process (tier 2 of the sandbox)."""
    names = [part for part in path.parts if part.startswith("maxcode-")]
    return bool(names) and not names[0].startswith(f"maxcode-{os.getpid()}-")


def _owner(path: Path) -> int:
    try:
        return path.lstat().st_uid
    except OSError:
        return -2


class _Process(NamedTuple):
    number: int
    parent: int
    user: int
    name: str
    group: str


def _all_processes() -> Iterator[_Process]:
    """Every process, with its control groups, without those that end during the call."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            head, tail = (folder / "stat").read_text().rsplit(")", 1)
            name, parent = head.split("(", 1)[1], int(tail.split()[1])
            group = (folder / "cgroup").read_text()
            yield _Process(int(folder.name), parent, folder.stat().st_uid, name, group)
        except (OSError, IndexError):
            continue


def _mounts() -> set[str]:
    return set(Path("/proc/self/mountinfo").read_text().splitlines())


def _locks() -> set[str]:
    """Locks of this process or of an ended one; locks of other processes do not count."""
    lines = (line.split(": ", 1)[1] for line in Path("/proc/locks").read_text().splitlines())
    return {line for line in lines if _is_ours_or_gone(int(line.replace("-> ", "").split()[3]))}


def _is_ours_or_gone(holder: int) -> bool:
    return holder == os.getpid() or (holder > 0 and not Path(f"/proc/{holder}").exists())


def _sockets() -> set[str]:
    return {line for line in Path("/proc/net/unix").read_text().splitlines() if MARK in line}


def _originals() -> set[str]:
    files = (path for path in ORIGINALS.rglob("*") if path.is_file())
    return {f"{path} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files}


def _descriptors() -> set[str]:
    """Open descriptors of this process, without blobs, which the evaluator's caches keep, and those of the loop."""
    links = (os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink())
    return {link for link in links if link.startswith(("/tmp", "anon_inode:[pid")) or "/memfd:words" in link}


def _limits() -> str:
    return str([resource.getrlimit(kind) for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_CPU)])
