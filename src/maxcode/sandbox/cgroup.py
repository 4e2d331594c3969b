"""Control groups: one per session, so that all processes of a program together keep to its memory and number.

Used where they can be had: version 1 (memory and pids) or version 2, in both cases below the group this process is in
or beside it, and only if it may write there.  Without them the limits hold for each process alone.
"""

from __future__ import annotations

import os
import secrets
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

import anyio

_PREFIX = "maxcode-"
_SELF = Path("/proc/self")
_REMOVE_TRIES = 100
_WANTED = ("memory", "pids")


@final
@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where groups can be made: one folder per controller (version 1), or one for all (version 2)."""

    version: Literal[1, 2]
    parents: tuple[Path, ...]

    def group(self) -> Group:
        """A new, empty group, named after this process; OSError when it cannot be made."""
        name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        group = Group(self.version, tuple(parent / name for parent in self.parents))
        for folder in group.folders:
            folder.mkdir()
        return group

    def sweep(self) -> None:
        """Remove the groups of maxcode processes that are gone; a group in use cannot be removed."""
        for parent in self.parents:
            for folder in parent.glob(f"{_PREFIX}*"):
                pid = folder.name.removeprefix(_PREFIX).split("-")[0]
                if not Path("/proc", pid).exists():
                    _removed(folder)


@final
@dataclass(frozen=True, slots=True)
class Group:
    """One session's group.  ``joins`` are the files whose writer becomes a member."""

    version: Literal[1, 2]
    folders: tuple[Path, ...]

    @property
    def joins(self) -> tuple[str, ...]:
        return tuple(str(folder / "cgroup.procs") for folder in self.folders)

    def limit(self, memory: int, processes: int) -> None:
        """Allow so many bytes, without swap, and so many processes and threads, in all."""
        if self.version == 1:
            _raise_memory(self.folders[0], memory)
        else:
            _write(self.folders[0] / "memory.max", memory)
            _write_if_there(self.folders[0] / "memory.swap.max", 0)
        _write(self.folders[-1] / "pids.max", processes)

    def kills(self) -> int:
        """How many processes were killed for want of memory so far."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        for line in (self.folders[0] / name).read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
        return 0

    async def remove(self) -> None:
        """Remove the group once its last process is gone, which the kernel may notice a little late.

        A process that is still there (of a build whose shim was killed, where no namespace ends with it) is killed.
        """
        for folder in self.folders:
            for _ in range(_REMOVE_TRIES):
                if _removed(folder):
                    break
                _kill_members(folder)
                await anyio.sleep(0.005)


def find_hierarchy(proc: Path = _SELF) -> Hierarchy | None:
    """Where this process can make groups that limit memory and processes; None when nowhere."""
    mine, mounts = _memberships(proc), _mounts(proc)
    return _version_1(mine, mounts) or _version_2(mine, mounts)


@final
@dataclass(frozen=True, slots=True)
class Groups:
    """What there is of control groups, for people: ``version`` 0 where none is mounted; ``parents``, where groups are
    made, empty where that is not possible; ``handed_down``: the controllers that a group beside ours would get.
    ``trouble`` says what is missing, with the cure; empty where nothing is."""

    version: int
    parents: tuple[str, ...] = ()
    handed_down: tuple[str, ...] = ()
    trouble: str = ""

    def __str__(self) -> str:
        if not self.parents:
            return f"none is used: {self.trouble}"
        return f"version {self.version}, {', '.join(self.handed_down)} below {', '.join(self.parents)}"


def survey(proc: Path = _SELF) -> Groups:
    """What ``find_hierarchy`` finds here, and where that is nothing, why."""
    mine, mounts = _memberships(proc), _mounts(proc)
    found = _version_1(mine, mounts) or _version_2(mine, mounts)
    if found is not None:
        return Groups(found.version, tuple(map(str, found.parents)), _WANTED)
    if (at := next((m for m in mounts if m[0] == "cgroup2"), None)) is not None and "" in mine:
        beside = _below(at[1], at[2], mine[""]).parent if mine[""] != at[2] else at[1]
        known = _controllers(beside / "cgroup.subtree_control")
        return Groups(2, (), known, f"{_lacking(beside, known)}; {_DELEGATE}")
    if any(m[0] == "cgroup" for m in mounts):
        return Groups(1, (), (), f"groups of memory and pids cannot be made here; {_AS_ROOT}")
    return Groups(0, (), (), "no control group file system is mounted; memory is limited for each process")


def _lacking(beside: Path, known: tuple[str, ...]) -> str:
    """What keeps groups from being made beside ours."""
    if missing := [name for name in _WANTED if name not in known]:
        return f"{beside} hands down {', '.join(known) or 'no controller'}, {' and '.join(missing)} wanted"
    return f"{beside} cannot be written"


_DELEGATE = (
    "have a group delegated: `systemd-run --user --scope -p Delegate=yes maxcode ...`, in a container a writable "
    "/sys/fs/cgroup"
)
_AS_ROOT = "run as root, or have the folders of your group in both given to this user"


def _controllers(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text().split())
    except OSError:
        return ()


def _memberships(proc: Path) -> dict[str, str]:
    """Controllers (none: version 2) -> the group that this process is in."""
    return dict(line.split(":", 2)[1:] for line in (proc / "cgroup").read_text().splitlines())


def _mounts(proc: Path) -> list[tuple[str, Path, str, frozenset[str]]]:
    """(kind, mount point, the group mounted there, options) of every control group file system."""
    found = []
    for line in (proc / "mountinfo").read_text().splitlines():
        before, after = line.split(" - ", 1)
        kind, _, options = after.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            root, point = before.split()[3:5]
            found.append((kind, Path(point), root, frozenset(options.split(","))))
    return found


def _version_1(mine: dict[str, str], mounts: list[tuple[str, Path, str, frozenset[str]]]) -> Hierarchy | None:
    parents = []
    for controller in _WANTED:
        own = next((path for names, path in mine.items() if controller in names.split(",")), None)
        at = next((m for m in mounts if m[0] == "cgroup" and controller in m[3]), None)
        if own is None or at is None:
            return None
        parents.append(_below(at[1], at[2], own))
    hierarchy = Hierarchy(1, tuple(parents))
    return hierarchy if _is_usable(hierarchy) else None


def _version_2(mine: dict[str, str], mounts: list[tuple[str, Path, str, frozenset[str]]]) -> Hierarchy | None:
    """Below a group that hands both controllers down: ours, which hardly ever does (one with members cannot), else the
    one above it, if it was delegated to us."""
    at = next((m for m in mounts if m[0] == "cgroup2"), None)
    if at is None or "" not in mine:
        return None
    own = _below(at[1], at[2], mine[""])
    for parent in (own, own.parent):
        ours = parent.is_relative_to(at[1]) and os.access(parent / "cgroup.procs", os.W_OK)
        if ours and set(_WANTED) <= set(_controllers(parent / "cgroup.subtree_control")):
            hierarchy = Hierarchy(2, (parent,))
            if _is_usable(hierarchy):
                return hierarchy
    return None


def _below(point: Path, root: str, own: str) -> Path:
    """The folder of group ``own`` where ``root`` is what is mounted at ``point``."""
    relative = own.removeprefix(root) if root != "/" else own
    return point / relative.lstrip("/")


def _is_usable(hierarchy: Hierarchy) -> bool:
    try:
        group = hierarchy.group()
    except OSError:
        return False
    try:
        group.limit(memory=1 << 28, processes=16)
        return True
    except OSError:
        return False
    finally:
        for folder in group.folders:
            _removed(folder)


def _raise_memory(folder: Path, memory: int) -> None:
    """Memory alone may never exceed memory with swap, so the order depends on where the limit comes from."""
    with_swap = folder / "memory.memsw.limit_in_bytes"
    growing = memory > int((folder / "memory.limit_in_bytes").read_text())
    if growing:
        _write_if_there(with_swap, memory)
    _write(folder / "memory.limit_in_bytes", memory)
    if not growing:
        _write_if_there(with_swap, memory)


def _kill_members(folder: Path) -> None:
    with suppress(OSError):  # gone meanwhile
        for pid in (folder / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)


def _write(path: Path, value: int) -> None:
    path.write_text(str(value))


def _write_if_there(path: Path, value: int) -> None:
    if path.exists():
        _write(path, value)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
