"""Control groups, one per session: they limit the memory and the number of all processes of a program together.

They are optional: version 1 (memory and pids) or version 2, below the group of this process or next to it, if this
process may write there.  Without them the limits hold for each process alone.  A group can also count the CPU time
of its processes, whoever waits for their ends: always in version 2, in version 1 where there is cpuacct.
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
_COUNTER = "cpuacct"


@final
@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The folders in which groups can be made: one per controller (version 1), or one for all (version 2).

    ``counting``: version 1's further folder for groups that count processor time; None where there is none.
    """

    version: Literal[1, 2]
    parents: tuple[Path, ...]
    counting: Path | None = None

    def group(self, counts: bool = False) -> Group:
        """A new, empty group with the process number in its name; OSError if it cannot be made.

        ``counts``: it also counts processor time, where groups here can.
        """
        name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        counting = self.counting / name if counts and self.counting is not None else None
        group = Group(self.version, tuple(parent / name for parent in self.parents), counting)
        for folder in group.all_folders:
            folder.mkdir()
        return group

    def sweep(self) -> None:
        """Removes the groups of maxcode processes that have ended; a group in use cannot be removed."""
        for parent in (*self.parents, *([self.counting] if self.counting else [])):
            for folder in parent.glob(f"{_PREFIX}*"):
                pid = folder.name.removeprefix(_PREFIX).split("-")[0]
                if not Path("/proc", pid).exists():
                    _removed(folder)


@final
@dataclass(frozen=True, slots=True)
class Group:
    """The group of one session.  A process that writes to the files ``joins`` becomes a member."""

    version: Literal[1, 2]
    folders: tuple[Path, ...]
    counting: Path | None = None

    @property
    def all_folders(self) -> tuple[Path, ...]:
        return (*self.folders, self.counting) if self.counting else self.folders

    @property
    def joins(self) -> tuple[str, ...]:
        return tuple(str(folder / "cgroup.procs") for folder in self.all_folders)

    def used_s(self) -> float | None:
        """CPU seconds of all its processes so far, those included that nobody waited for; None if it does not count."""
        if self.counting is not None:
            return int((self.counting / "cpuacct.usage").read_text()) / 1e9
        counted = self.folders[0] / "cpu.stat"
        if self.version == 1 or not counted.exists():
            return None
        return next(int(line.split()[1]) for line in counted.read_text().splitlines() if "usage_usec" in line) / 1e6

    def limit(self, memory: int, processes: int) -> None:
        """Limits the group to ``memory`` bytes without swap, and to ``processes`` processes and threads."""
        if self.version == 1:
            _raise_memory(self.folders[0], memory)
        else:
            _write(self.folders[0] / "memory.max", memory)
            _write_if_there(self.folders[0] / "memory.swap.max", 0)
        _write(self.folders[-1] / "pids.max", processes)

    def kills(self) -> int:
        """The number of processes that the kernel has killed because the group was out of memory."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        for line in (self.folders[0] / name).read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
        return 0

    async def remove(self) -> None:
        """Removes the group after its last process has ended, which the kernel may notice a little late.

        A process that still runs is killed: without a namespace, a build can outlive its killed shim.
        """
        for folder in self.all_folders:
            for _ in range(_REMOVE_TRIES):
                if _removed(folder):
                    break
                _kill_members(folder)
                await anyio.sleep(0.005)


def find_hierarchy(proc: Path = _SELF) -> Hierarchy | None:
    """The place where this process can make groups that limit memory and processes; None if there is none."""
    mine, mounts = _memberships(proc), _mounts(proc)
    return _version_1(mine, mounts) or _version_2(mine, mounts)


@final
@dataclass(frozen=True, slots=True)
class Groups:
    """The control groups of this machine, for the user.

    ``version``: 0 if none is mounted.
    ``parents``: the folders in which groups are made; empty if that is not possible.
    ``handed_down``: the controllers that a group next to ours gets.
    ``trouble``: what is missing, with the cure; empty if nothing is.
    """

    version: int
    parents: tuple[str, ...] = ()
    handed_down: tuple[str, ...] = ()
    trouble: str = ""

    def __str__(self) -> str:
        if not self.parents:
            return f"none is used: {self.trouble}"
        return f"version {self.version}, {', '.join(self.handed_down)} below {', '.join(self.parents)}"


def survey(proc: Path = _SELF) -> Groups:
    """The result of ``find_hierarchy``, with the reason if there is none."""
    mine, mounts = _memberships(proc), _mounts(proc)
    hierarchy = _version_1(mine, mounts) or _version_2(mine, mounts)
    if hierarchy is not None:
        return Groups(hierarchy.version, tuple(map(str, hierarchy.parents)), _WANTED)
    if (at := next((m for m in mounts if m[0] == "cgroup2"), None)) is not None and "" in mine:
        beside = _below(at[1], at[2], mine[""]).parent if mine[""] != at[2] else at[1]
        known = _controllers(beside / "cgroup.subtree_control")
        return Groups(2, (), known, f"{_lacking(beside, known)}; {_cure(beside, known)}")
    if any(m[0] == "cgroup" for m in mounts):
        return Groups(1, (), (), f"groups of memory and pids cannot be made here; {_AS_ROOT}")
    return Groups(0, (), (), "no control group file system is mounted; memory is limited for each process")


def _lacking(beside: Path, known: tuple[str, ...]) -> str:
    """Why no groups can be made next to ours."""
    if missing := [name for name in _WANTED if name not in known]:
        return f"{beside} delegates {', '.join(known) or 'no controller'}, but {' and '.join(missing)} are needed too"
    return f"{beside} cannot be written"


def _cure(beside: Path, known: tuple[str, ...]) -> str:
    """What hands the controllers down; for root one line is enough."""
    missing = " ".join(f"+{name}" for name in _WANTED if name not in known)
    if os.geteuid() == 0 and missing:
        return f"`echo {missing} > {beside}/cgroup.subtree_control`, or {_DELEGATE}"
    return _DELEGATE


_DELEGATE = (
    "delegate a group: `systemd-run --user --scope -p Delegate=yes maxcode ...`; in a container, make /sys/fs/cgroup "
    "writable"
)
_AS_ROOT = "run as root, or give this user the folders of its group in both controllers"


def _controllers(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text().split())
    except OSError:
        return ()


def _memberships(proc: Path) -> dict[str, str]:
    """Controllers ("" for version 2) -> the group of this process."""
    return dict(line.split(":", 2)[1:] for line in (proc / "cgroup").read_text().splitlines())


def _mounts(proc: Path) -> list[tuple[str, Path, str, frozenset[str]]]:
    """(kind, mount point, group mounted there, options) of every control group file system."""
    mounts = []
    for line in (proc / "mountinfo").read_text().splitlines():
        before, after = line.split(" - ", 1)
        kind, _, options = after.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            root, point = before.split()[3:5]
            mounts.append((kind, Path(point), root, frozenset(options.split(","))))
    return mounts


def _version_1(mine: dict[str, str], mounts: list[tuple[str, Path, str, frozenset[str]]]) -> Hierarchy | None:
    found = {controller: _folder_of(controller, mine, mounts) for controller in (*_WANTED, _COUNTER)}
    parents = tuple(folder for name, folder in found.items() if folder is not None and name in _WANTED)
    hierarchy = Hierarchy(1, parents, found[_COUNTER])
    if len(parents) < len(_WANTED) or not _is_usable(hierarchy):
        return None
    return hierarchy if hierarchy.counting and _counts(hierarchy.counting) else Hierarchy(1, parents)


def _folder_of(
    controller: str, mine: dict[str, str], mounts: list[tuple[str, Path, str, frozenset[str]]]
) -> Path | None:
    """Where version 1 has our group of a controller."""
    own = next((path for names, path in mine.items() if controller in names.split(",")), None)
    at = next((m for m in mounts if m[0] == "cgroup" and controller in m[3]), None)
    return None if own is None or at is None else _below(at[1], at[2], own)


def _counts(parent: Path) -> bool:
    """Whether groups that count processor time can be made in this folder."""
    trial = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    try:
        trial.mkdir()
        return (trial / "cpuacct.usage").exists()
    except OSError:
        return False
    finally:
        _removed(trial)


def _version_2(mine: dict[str, str], mounts: list[tuple[str, Path, str, frozenset[str]]]) -> Hierarchy | None:
    """Finds a parent group that enables both controllers for its children: our own group, which rarely does (a group
    with members cannot), else the group above it, if it is delegated to us."""
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
    """The folder of group ``own``, if group ``root`` is mounted at ``point``."""
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
    """The kernel never accepts a limit on memory above the limit on memory with swap; so the order depends on whether
    the limit grows."""
    with_swap = folder / "memory.memsw.limit_in_bytes"
    growing = memory > int((folder / "memory.limit_in_bytes").read_text())
    if growing:
        _write_if_there(with_swap, memory)
    _write(folder / "memory.limit_in_bytes", memory)
    if not growing:
        _write_if_there(with_swap, memory)


def _kill_members(folder: Path) -> None:
    with suppress(OSError):  # the process or the group has ended in the meantime
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
