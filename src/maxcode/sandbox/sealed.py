"""A copy of a runtime (an interpreter and its library) in memory, which programs see in place of the host's /usr.

All runs share a file of the host, and a run can leave a note for a later one in the set of its pages that are in
memory: a page that an earlier run has read costs no fault from the disk.  One program kept whole answers in this way.
The pages of a memory file system are always there (a machine that swaps excepted), so there is nothing to leave.  One
copy serves every session and every process of a user until the machine restarts; programs cannot write it.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import anyio
import anyio.to_thread

from maxcode.sandbox.runtime import CACHE, find_linkers

INTERPRETER = "/usr/bin/python3"
MOST_BYTES = 1 << 30
_SPARE_BYTES = 256 << 20
_SHELL = "/bin/sh"  # links with what the shim links with; it is not copied
_PLACES = ("/dev/shm", f"/run/user/{os.geteuid()}", "/run")
_ASK = (
    "import json, os, sys; folders = [one for one in sys.path if one.startswith('/usr/') and os.path.isdir(one)]; "
    "print(json.dumps([os.path.realpath(sys.executable), folders]))"
)
_ZONES, _ZONES_LEFT_OUT = "/usr/share/zoneinfo", ("posix", "right")


@final
@dataclass(frozen=True, slots=True)
class Runtime:
    """What a copy holds beside the dynamic linker.

    ``program``: the program that starts an artefact; empty if the artefact starts by itself.
    ``folders``: patterns of its folders; of each, ``left_out`` is not copied.
    ``asks``: whether the program, which is Python then, tells its folders.
    """

    program: str = ""
    folders: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    asks: bool = False


RUNTIMES: Mapping[str, Runtime] = {
    "python": Runtime(
        INTERPRETER, (), ("config-*", "ensurepip", "idlelib", "lib2to3", "test", "tkinter", "turtledemo", "pip"), True
    ),
    "java": Runtime(
        "/usr/lib/jvm/default-java/bin/java",
        ("/usr/lib/jvm/default-java", "/etc/java-*-openjdk"),
        ("docs", "include", "jmods", "legal", "man"),
    ),
    "node": Runtime("/usr/bin/node", ("/usr/share/nodejs",), ("@types",)),
    "none": Runtime(),  # a program that holds its runtime
}
_LINKED = re.compile(r"^\s*\S+ => (/\S+) \(0x", re.MULTILINE)


@final
@dataclass(slots=True)
class RuntimeCopy:
    """The copy of the runtime ``name``, made when the first session asks for it.

    ``trouble``: why there is none, empty if there is, or if none was asked for.
    """

    name: str
    trouble: str = ""
    _made: Path | None = None
    _making: anyio.Lock = field(default_factory=anyio.Lock)

    async def folder(self) -> Path | None:
        """The folder of the copy, laid out like the root of a file system; None if this machine cannot have one."""
        async with self._making:
            if self._made is None and not self.trouble:
                try:
                    self._made = await _found_or_made(self.name)
                except OSError as error:
                    self.trouble = f"a copy of the runtime in memory failed: {error}"
            return self._made


def runtime_copies() -> dict[str, RuntimeCopy]:
    """A copy of each runtime, none of them made yet."""
    return {name: RuntimeCopy(name) for name in RUNTIMES}


async def _found_or_made(name: str) -> Path:
    """The copy; OSError with the reason if it cannot be made."""
    runtime = RUNTIMES[name]
    real, folders = await _parts_of(runtime)
    files = await anyio.to_thread.run_sync(lambda: sorted(_files(_tops(folders), runtime.left_out)))
    own = [*(Path(one) for one in real), *find_linkers(), CACHE]
    name = f"maxcode-{name}-{os.geteuid()}-{await anyio.to_thread.run_sync(_digest, [*files, *own])}"
    if (known := next((one / name for one in map(Path, _PLACES) if _is_ours(one / name)), None)) is not None:
        return known
    binaries = [_SHELL, *real, *(str(one) for one in files if ".so" in one.name)]
    linked = (await anyio.run_process(["ldd", *binaries], check=False)).stdout.decode(errors="replace")
    libraries = [Path(one) for one in sorted(set(_LINKED.findall(linked)))]
    return await anyio.to_thread.run_sync(_copied, name, [*files, *own, *libraries])


async def _parts_of(runtime: Runtime) -> tuple[list[str], list[Path]]:
    """The paths of its program, and its folders."""
    if not runtime.asks:
        found = [Path(one) for pattern in runtime.folders for one in sorted(glob.glob(pattern))]
        return ([runtime.program] if runtime.program else []), found
    said = await anyio.run_process([runtime.program, "-I", "-c", _ASK], check=False)
    if said.returncode:
        raise OSError(f"{runtime.program} does not start")
    real, folders = json.loads(said.stdout)
    return [runtime.program, real], [Path(one) for one in folders]


def _tops(folders: Sequence[Path]) -> list[Path]:
    return [one for one in folders if not any(one != other and one.is_relative_to(other) for other in folders)]


def _files(folders: Sequence[Path], left_out: tuple[str, ...]) -> Iterator[Path]:
    """The files and links below these folders, and the time zones, without what no program under test needs."""
    for top, unused in (*((folder, left_out) for folder in folders), (Path(_ZONES), _ZONES_LEFT_OUT)):
        ignored = shutil.ignore_patterns(*unused)
        for folder, inner, names in os.walk(top):
            inner[:] = sorted(set(inner) - (ignored(folder, inner) if Path(folder) == top else set()))
            yield from (Path(folder, name) for name in names)


def _digest(files: Sequence[Path]) -> str:
    """A hash over what the copy is made from.  The cache of the linker changes with every library."""
    about = ((path, path.stat()) for path in files if path.exists())
    text = "\n".join(f"{path} {one.st_size} {one.st_mtime_ns} {one.st_ino}" for path, one in about)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _copied(name: str, files: Sequence[Path]) -> Path:
    """A new copy of the files, called ``name``."""
    places = dict(_placed(files))
    size = sum(source.stat().st_size for source in set(places.values()))
    if size > MOST_BYTES:
        raise OSError(f"it has {size >> 20} MB below /usr, at most {MOST_BYTES >> 20}")
    top = next((one for one in map(Path, _PLACES) if _has_room(one, size)), None)
    if top is None:
        raise OSError(f"no memory file system with {size + _SPARE_BYTES >> 20} MB of room that runs programs")
    _make(top / name, places)
    return top / name


def _placed(files: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """(path in the sandbox, file of the host); a link stands for its file, also at the path that a linked folder gives
    it."""
    for path in files:
        if path.is_file() and os.access(path, os.R_OK):
            yield str(path.parent.resolve() / path.name), path.resolve()
            if str(path).startswith("/usr/"):
                yield os.path.normpath(path), path.resolve()


def _is_ours(folder: Path) -> bool:
    """Whether it is there, a folder of this user that no other can write."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o022


def _has_room(place: Path, size: int) -> bool:
    if not os.access(place, os.W_OK) or not _is_in_memory(place):
        return False
    about = os.statvfs(place)
    return about.f_bavail * about.f_frsize > size + _SPARE_BYTES and not about.f_flag & os.ST_NOEXEC


def _is_in_memory(place: Path) -> bool:
    """Whether a tmpfs is mounted there."""
    mounted = (line.split(" - ", 1) for line in Path("/proc/self/mountinfo").read_text().splitlines())
    kinds = [after.split()[0] for before, after in mounted if before.split()[4] == str(place)]
    return kinds[-1:] == ["tmpfs"]


def _make(folder: Path, places: dict[str, Path]) -> None:
    """Copies the files; who finds the folder finds it whole."""
    scratch = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}")
    scratch.mkdir(mode=0o755)
    done: dict[Path, Path] = {}
    try:
        for path, source in places.items():
            target = scratch / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if source in done:
                target.hardlink_to(done[source])
                continue
            shutil.copyfile(source, target)
            shutil.copystat(source, target)  # the library's compiled files hold the times of its sources
            target.chmod(0o555 if source.stat().st_mode & 0o111 else 0o444)
            done[source] = target
        for inner, _, _ in os.walk(scratch):
            os.chmod(inner, 0o755)  # whatever the umask is
        scratch.rename(folder)
    except FileExistsError:
        pass  # another process was faster
    except OSError:
        if not _is_ours(folder):
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
