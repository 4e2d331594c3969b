"""Tier 2 of the sandbox, for machines without user namespaces: Landlock, seccomp and limits around every program.

The same shim runs the same jobs; it is a subreaper instead of process 1 (``shim_landlock.h``).  A measured program is
one process with any number of threads, so its address space is all of its memory, and no process can be left behind.  A
build may fork; it works in a private folder, which is removed with its session.

Limits of this tier:
- programs that fork do not run, and the number of threads that a run started is not known;
- without a control group, the memory limit of a build holds for each process alone, and if its shim is killed, its
  processes run on up to their limits; the size of its folder is measured from time to time, without unlinked files;
- a program can see that a file or process of the host exists, its size and its times, but not its content;
- a run can leave information for the next one: which files of the interpreter a Python program reads, and which names
  of the host a program looks up.  To reduce this, libraries are read when a session starts, so that no run is the
  first, and process numbers, which belong to the whole machine, are blurred between runs;
- a program cannot read counters of the whole machine, with two exceptions: the inodes of /proc, where a compiled
  program can open nothing but can look up a name, and the CPU time of the host's processes, except that of the shim.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import final

import anyio

from maxcode.errors import MachineError, UnsafeError
from maxcode.sandbox.binds import Binds
from maxcode.sandbox.jobs import Job, Ran
from maxcode.sandbox.session_layout import SETTINGS, TMP_MB, place_of
from maxcode.sandbox.tiers import NO_SANDBOX, SANDBOX_UID, UNSAFE, Mounts

_PREFIX = "maxcode-"
_SHOWN = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", *SETTINGS)
_SHORT = {"src": "s", "tmp": "t"}  # "../s/" is as long as "/src/": a cut text keeps its length
_COMPILERS = ("gcc", "g++", "cc", "c++", "clang", "clang++")
_MEMORY = Path("/dev/shm")
_LATE_S = 86_400.0  # Linux then leaves the time of last access alone for two days


@final
@dataclass(frozen=True, slots=True)
class Landlock:
    """Tier 2.  ``abi``: the version of the kernel's interface, from 1.  From 6 on Landlock scopes signals; before, the
    seccomp filter does."""

    abi: int
    uid: int
    name: str = "2"

    def describe(self) -> str:
        return f"Landlock ABI {self.abi} (tier 2: one process per run) + seccomp + rlimits"

    def cure(self) -> str:
        return "see the message of the sandbox; the filter of a container may forbid what Landlock or seccomp need"

    def placed(
        self, mounts: Mounts, runtime: Mapping[str, Path] | None, sealed: Path | None
    ) -> AbstractContextManager[_Beside]:
        return _beside("2", self.uid, mounts, runtime)


@final
@dataclass(frozen=True, slots=True)
class Unconfined:
    """No sandbox: only the shim and its limits.  Programs can do whatever their user can."""

    uid: int
    name: str = UNSAFE

    def describe(self) -> str:
        return f"{NO_SANDBOX}, rlimits only"

    def cure(self) -> str:
        return "see the message of the shim"

    def placed(
        self, mounts: Mounts, runtime: Mapping[str, Path] | None, sealed: Path | None
    ) -> AbstractContextManager[_Beside]:
        return _beside("0", self.uid, mounts, runtime)


async def find_landlock(shim: Path) -> Landlock:
    """Asks the kernel for its version of Landlock, through the shim; UnsafeError with the cure if there is none."""
    said = await anyio.run_process([str(shim), "landlock"], check=False)
    abi, why = (said.stdout.decode().split() or ["0", "?"])[:2]
    if abi == "0":
        raise UnsafeError(f"the kernel offers no Landlock ({why}): {_CURES.get(why, _CURES['?'])}")
    return Landlock(int(abi), dedicated_uid())


_CURES = {
    "ENOSYS": f"Linux {os.uname().release} was built without it; 5.13 or later with CONFIG_SECURITY_LANDLOCK is needed",
    "EOPNOTSUPP": "it is switched off at boot; add `landlock` to the kernel's parameter lsm= (and to CONFIG_LSM)",
    "EPERM": "a container's filter forbids it; use a newer Docker (23 or later), or --security-opt seccomp=unconfined",
    "?": "5.13 or later with CONFIG_SECURITY_LANDLOCK is needed",
}


def dedicated_uid() -> int:
    """The sandbox user if root can become it; 0 (keep the current user) if not, or if the user namespace lacks it."""
    maps = (Path("/proc/self", kind).read_text().splitlines() for kind in ("uid_map", "gid_map"))
    ranges = [[tuple(map(int, line.split())) for line in lines] for lines in maps]
    known = all(any(low <= SANDBOX_UID < low + count for low, _, count in lines) for lines in ranges)
    return SANDBOX_UID if known and os.geteuid() == 0 else 0


# ------------------------------------------------------------------------------------------------------------- a place


@final
@dataclass(frozen=True, slots=True)
class _Beside:
    """A place on the host itself.

    ``folder``: the folder of a build, with ``s`` for /src, where jobs start, ``t`` for /tmp, and a link for each bind;
    None if nothing can be written.
    ``start``: where programs start if there is no such folder.
    ``shown``: the other paths that may be read.
    """

    level: str
    folder: Path | None
    names: tuple[str, ...]
    shown: tuple[str, ...]
    start: str = "/"

    @property
    def fds(self) -> tuple[int, ...]:
        return ()

    def command(self, shim: int, control: int) -> list[str]:
        words = (str(control), self.level, str(self.folder or ""), self.start, *self.shown)
        return [f"/proc/self/fd/{shim}", "alone", *words]

    def asked(self, job: Job) -> Job:
        """Makes absolute paths relative, so that they are the same in every session and reveal nothing about the host.
        The paths that a compiler records are those of tier 1."""
        if self.folder is None:
            return job
        argv = tuple(self._relative(word) for word in job.argv)
        if os.path.basename(argv[0]) in _COMPILERS:
            argv = (argv[0], "-ffile-prefix-map=../s=/src", *argv[1:])
        if os.path.basename(argv[0]) == "rustc":
            argv = (argv[0], "--remap-path-prefix=../s=/src", *argv[1:])
        return replace(job, argv=argv, collect=tuple(map(self._relative, job.collect)))

    def _relative(self, word: str) -> str:
        names = "|".join(map(re.escape, self.names))
        pattern = rf"(?:(?<![\w./-])|(?<=-[IL]))/({names})(?![\w.-])"
        return re.sub(pattern, lambda found: f"../{_SHORT.get(found[1], found[1])}", word)

    def told(self, ran: Ran) -> Ran:
        texts = {path: data if b"\0" in data else _named(data) for path, data in ran.files.items()}
        return replace(ran, stderr=_named(ran.stderr), files=texts)


def _named(text: bytes) -> bytes:
    return text.replace(b"../s/", b"/src/").replace(b"../t/", b"/tmp/")


@contextmanager
def _beside(level: str, uid: int, mounts: Mounts, runtime: Mapping[str, Path] | None) -> Iterator[_Beside]:
    if mounts.room is not None:
        raise UnsafeError(
            "a folder in memory for each run needs tier 1 of the sandbox (bubblewrap); see `maxcode doctor`"
        )
    readable = runtime.values() if runtime is not None else _SHOWN
    shown = (*map(str, readable), *(str(folder) for folder, _ in mounts.binds))
    sources, binds = mounts.sources, mounts.binds
    if sources is None and not mounts.data:
        yield _Beside(level, None, (), shown)
        return
    folder = _new_folder(uid)
    try:
        if sources is None:
            _fill_data(folder, uid, mounts.data)
            yield _Beside(level, None, (), (*shown, str(folder)), str(folder))
            return
        _fill(folder, uid, sources, binds)
        names = ("src", "tmp", *(path.lstrip("/") for _, path in _elsewhere(binds)))
        yield _Beside(level, folder, names, shown)
    finally:
        _remove(folder)


def _elsewhere(binds: Binds) -> Binds:
    """The binds that need a link: a folder at its own path on the host is reached without one."""
    return [(host, path) for host, path in binds if str(host) != path]


def _new_folder(uid: int) -> Path:
    """A new private folder, in memory if there is room; that also bounds what all builds together can write."""
    top = Path(tempfile.gettempdir())
    if _has_room(_MEMORY):
        top = _MEMORY
    folder = top / f"{_PREFIX}{os.getpid()}-{_processes()}-{secrets.token_hex(6)}"
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise MachineError(f"cannot make a folder for a build in {top}: {error.strerror}; change TMPDIR") from error
    if uid:
        os.chown(folder, uid, uid)
    return folder


def _has_room(memory: Path) -> bool:
    """Whether builds can write there and can start what they build (for example a generator); containers often allow
    neither."""
    if not os.access(memory, os.W_OK):
        return False
    about = os.statvfs(memory)
    return about.f_bavail * about.f_frsize > 2 * TMP_MB << 20 and not about.f_flag & os.ST_NOEXEC


def _fill(folder: Path, uid: int, sources: Mapping[str, str | bytes], binds: Binds) -> None:
    for path, text in sources.items():
        file = folder / "s" / PurePosixPath(place_of(path)).relative_to("/src")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        file.chmod(0o555)
    (folder / "s").mkdir(exist_ok=True)
    for inner in (folder / "s", *(path for path in (folder / "s").rglob("*") if path.is_dir())):
        inner.chmod(0o755)
    for host, path in _elsewhere(binds):
        link = folder / path.lstrip("/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(host)
    (folder / "t").mkdir(mode=0o700)
    if uid:
        os.chown(folder / "t", uid, uid)


def _fill_data(folder: Path, uid: int, data: Mapping[str, bytes]) -> None:
    """Files that the programs of a session can read and not change.  Their owner is not the user of the programs if
    maxcode can choose one; the time of last access is so late that reading does not change it."""
    for path, content in data.items():
        file = folder / PurePosixPath(place_of(path)).relative_to("/src")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    for one in (*folder.rglob("*"), folder):
        if uid:
            os.chown(one, 0, uid)
        one.chmod((0o750 if uid else 0o700) if one.is_dir() else (0o440 if uid else 0o400))
        now = time.time()
        os.utime(one, (now + _LATE_S, now))


def _remove(folder: Path) -> None:
    """Removes the folder, whatever depth and permissions a build gave it; MachineError if it cannot be removed."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(folder)], capture_output=True, check=False)
    if folder.exists():
        raise MachineError(f"cannot remove the folder of a build, {folder}; remove it by hand")


def sweep() -> None:
    """Removes the folders of maxcode processes that have ended."""
    for top in (_MEMORY, Path(tempfile.gettempdir())):
        for folder in top.glob(f"{_PREFIX}[0-9]*-{_processes()}-*"):
            pid = folder.name.removeprefix(_PREFIX).split("-")[0]
            if not Path("/proc", pid).exists() and _is_ours(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _processes() -> int:
    """The inode of our process namespace: another container has other process numbers, and may share the folder."""
    return os.stat("/proc/self/ns/pid").st_ino


def _is_ours(folder: Path) -> bool:
    try:
        about = folder.lstat()
    except OSError:
        return False
    return about.st_uid in (os.geteuid(), dedicated_uid()) and stat.S_ISDIR(about.st_mode)
