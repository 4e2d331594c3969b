"""The view of a session in tier 1: the arguments of bubblewrap, and the sources as memory files.

The sources are in memory because the sandbox user may have no permission to enter their folder on the host.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import final

from maxcode.errors import InputError
from maxcode.sandbox.tiers import Mounts

TMP_MB = 1024
SHIM_PATH = "/shim"
OWN = ("/tmp", "/proc", "/dev", "/usr", "/src")  # what a session for a build has, whatever the host has there
_START = "/tmp"  # where programs start if there are no sources; nothing there can be written
_DEVICES = ("null", "full", "random", "urandom")
_GPU = "/dev/nvidia"
# Counters of the whole machine that a program can change on purpose, to leave information for a later session.
_COUNTERS = (
    *(
        "vmstat",
        "zoneinfo",
        "buddyinfo",
        "pagetypeinfo",
        "interrupts",
        "softirqs",
        "stat",
        "schedstat",
        "diskstats",
        "loadavg",
    ),
    *("pressure/cpu", "pressure/io", "pressure/memory", "pressure/irq"),
    *("sys/fs/inode-nr", "sys/fs/inode-state", "sys/fs/dentry-state", "sys/fs/file-nr", "sys/fs/aio-nr"),
)
# The usage of process 1 and its children: with it a program can distinguish a pass (with a slow original) from a
# verification.
_PROCESS_1 = ("1/stat", "1/status", "1/statm", "1/schedstat", "1/sched")
SETTINGS = tuple(
    sorted(glob.glob("/etc/java-*-openjdk"))
)  # folders of settings without which a compiler does not start
_HOST = [
    *("--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"),
    *(word for folder in SETTINGS for word in ("--ro-bind", folder, folder)),
]
_ALIASES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_ALWAYS = [
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--cap-drop",
    "ALL",
    "--new-session",
    "--die-with-parent",
    "--as-pid-1",
    "--uid",
    "65534",
    "--gid",
    "65534",
    "--hostname",
    "sandbox",
    "--clearenv",
    "--setenv",
    "PATH",
    "/usr/bin:/bin",
    "--dir",
    "/tmp",
    "--dir",
    "/dev/shm",
]
# Not in a bare session: its inode and process numbers come from counters of the whole machine.
_PROC = [
    "--proc",
    "/proc",
    *(
        word
        for name in (*_COUNTERS, *_PROCESS_1)
        if os.path.exists(f"/proc/{name}")
        for word in ("--ro-bind", "/dev/null", f"/proc/{name}")
    ),
    "--tmpfs",
    "/proc/1/task",
    "--remount-ro",
    "/proc/1/task",
    "--symlink",
    "/proc/self/fd",
    "/dev/fd",
    "--symlink",
    "/proc/self/fd/0",
    "/dev/stdin",
    "--symlink",
    "/proc/self/fd/1",
    "/dev/stdout",
    "--symlink",
    "/proc/self/fd/2",
    "/dev/stderr",
]


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """The files and folders of a session.

    ``files``: (descriptor, path) of read-only sources; None for a session that only runs programs.
    ``folders``: (host path, path) of read-only binds; a device file is bound so that it works.
    ``runtime``: (descriptor, path) of the files that replace the host's /usr; None if the host's /usr is shown.
    ``data``: (descriptor, path) of read-only files beside the programs, which start in their folder.
    ``sealed``: the folder whose parts are shown in place of the host's /usr.
    ``room``: path and MB of a further folder in memory that programs can write, as they can /dev/shm then; None: none.
    """

    files: tuple[tuple[int, str], ...] | None
    folders: tuple[tuple[Path, str], ...]
    runtime: tuple[tuple[int, str], ...] | None = None
    sealed: Path | None = None
    data: tuple[tuple[int, str], ...] = ()
    room: tuple[str, int] | None = None

    @property
    def fds(self) -> tuple[int, ...]:
        """All descriptors that bubblewrap must inherit."""
        return tuple(fd for fd, _ in (*(self.files or ()), *(self.runtime or ()), *self.data))

    def arguments(self, shim: int) -> list[str]:
        """The arguments of bubblewrap: everything is read-only in the end, except a limited /tmp if there are sources.

        ``shim``: the descriptor of the program that becomes process 1, at SHIM_PATH.
        """
        bare = self.runtime is not None
        host = _HOST if self.sealed is None else _parts(self.sealed)
        words = [*_ALWAYS, *([] if bare else [*_PROC, *self._proc_closed(), *host])]
        words += _aliases(bare or self.sealed is not None)
        for fd, path in ((shim, SHIM_PATH), *(self.runtime or ())):
            words += ["--perms", "0555", "--file", str(fd), path]
        for name in _DEVICES if bare else (*_DEVICES, "zero"):  # a mapping of /dev/zero takes an inode number
            words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
        for folder, path in self.folders:
            words += ["--dev-bind" if path.startswith("/dev/") else "--ro-bind", str(folder), path]
        for fd, path in self.data:
            words += ["--perms", "0444", "--file", str(fd), path]
        words += self._workplace() if self.files is not None else ["--chdir", _START]
        if self.room is not None:
            words += ["--size", str(TMP_MB << 20), "--perms", "1777", "--tmpfs", "/dev/shm"]  # named semaphores
            words += ["--size", str(self.room[1] << 20), "--perms", "0777", "--tmpfs", self.room[0]]
        return [*words, "--remount-ro", "/"]

    def _proc_closed(self) -> list[str]:
        """What makes /proc read-only.  With a GPU it is not: CUDA starts only if it can name its threads there.  What
        a program without rights can write there is about itself, and ends with it."""
        on_device = any(path.startswith(_GPU) for _, path in self.folders)
        return [] if on_device else ["--remount-ro", "/proc"]

    def _workplace(self) -> list[str]:
        alternatives = [] if self.sealed is not None else ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
        words = [*alternatives, "--dir", "/src", "--chdir", "/src"]
        words += ["--size", str(TMP_MB << 20), "--perms", "1777", "--tmpfs", "/tmp"]
        for fd, path in self.files or ():
            words += ["--perms", "0555", "--ro-bind-data", str(fd), path]
        return words


def _parts(sealed: Path) -> list[str]:
    """Each folder at the top of ``sealed``, at the top of the sandbox."""
    names = sorted(os.listdir(sealed))
    return [word for name in names for word in ("--ro-bind", str(sealed / name), f"/{name}")]


def _aliases(bare: bool) -> Iterator[str]:
    """/bin and similar paths as on the host: a link into /usr, or on older systems a folder, if the host's is shown."""
    for path in _ALIASES:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path) and not bare:
            yield from ("--ro-bind", path, path)


@contextmanager
def laid_out(mounts: Mounts, runtime: Mapping[str, Path] | None, sealed: Path | None) -> Iterator[Layout]:
    """The layout for these mounts; its descriptors are open inside the block.

    With ``runtime`` (path in the sandbox -> file of the host), the session sees only copies of these files of the host,
    and no /proc.
    InputError for a source or data outside its folder.
    """
    sources = mounts.sources
    with ExitStack() as stack:
        files = [(_memory_file(stack, text), place_of(path)) for path, text in (sources or {}).items()]
        bare = None if runtime is None else tuple((_opened(stack, file), path) for path, file in runtime.items())
        beside = tuple((_memory_file(stack, held), place_of(path, _START)) for path, held in mounts.data.items())
        shown = None if sources is None else tuple(files)
        yield Layout(shown, tuple(mounts.binds), bare, sealed, beside, mounts.room)


def is_below(path: str, folder: str) -> bool:
    """Whether an absolute path lies below a folder of a session, such as its /tmp, by its words alone."""
    pure = PurePosixPath(path)
    return ".." not in pure.parts and pure.is_relative_to(folder) and pure != PurePosixPath(folder)


def is_covered(path: Path, own: Sequence[str] = OWN) -> bool:
    """Whether a session has a folder of its own at this absolute path, above it or below it."""
    return any(path.is_relative_to(one) or Path(one).is_relative_to(path) for one in own)


def place_of(path: str, folder: str = "/src") -> str:
    """The path of a file in the sandbox; InputError if that is not below ``folder``."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or "\0" in path:
        raise InputError(f"the path {path!r} must be relative and stay below the program's folder")
    return str(folder / pure)


def _memory_file(stack: ExitStack, text: str | bytes) -> int:
    fd = os.memfd_create("source", os.MFD_CLOEXEC)
    stack.callback(os.close, fd)
    with open(fd, "wb", closefd=False) as file:
        file.write(text.encode() if isinstance(text, str) else text)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _opened(stack: ExitStack, path: Path) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    stack.callback(os.close, fd)
    return fd
