"""The tree of base after its set-up, as an archive: exported from git, set up once, and kept in the cache.

The set-up is the user's own word: it runs as the user, with the network.  Where it may be somebody else's
(``core/confined.py``), only one runs that this user has run before.  It runs in the folder in which every command
of the repository runs later in the sandbox, at the same absolute path, so that what it writes down (virtual
environments, build folders) holds there.  The folder is removed once the archive is made; one that a killed run left
is removed by the next run of the same repository.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from maxcode.core.confined import is_confined, runs_setup
from maxcode.core.types import Problem, RepoSpec
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.repo.git import SUBMODULE, Tracked, export, last_line, tracked
from maxcode.sandbox.jobs import Blob
from maxcode.sandbox.toolchain import cache_root

SETUP_S = 3600.0
ARCHIVE_MB = 900
KEPT = 6  # archives on disk
_TIME = "--mtime=@946684800"  # the year 2000: zip archives, such as a build may make, take no file from before 1980
WHOLE = "--hard-dereference"  # each name of a file as a file: what a candidate changes is taken over name by name
# Runs a command that ends when its parent is killed.
_TIED = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execvp('sh', ['sh', '-c', sys.argv[1]])"
_POINTER = b"version https://git-lfs.github.com/spec/"


def place_of(problem: Problem) -> Path:
    """The absolute path at which every command of the repository runs, on this machine and in the sandbox; another one
    for all that the set-up may rest on."""
    spec = problem.spec.repo_spec
    said = json.dumps([spec.folder, spec.commit, spec.setup, sorted(problem.spec.env)])
    return cache_root() / "repos" / hashlib.sha256(said.encode()).hexdigest()[:16] / "tree"


def base_tree(problem: Problem, keeps: bool = True) -> Blob:
    """The archive of base's files after the set-up.  ``keeps``: use the one that an earlier command has kept.

    InputError if the set-up is not allowed, or fails, or leaves a submodule empty or a pointer of Git LFS in place of a
    file.
    """
    spec = problem.spec.repo_spec
    place = place_of(problem)
    with _locked(place.parent):
        _refuse_setup(spec, _log(place))
        kept = place.parent / "tree.tar"
        if keeps and kept.is_file():
            os.utime(place.parent)
            return Blob.of(kept)
        try:
            _remove(place)
            place.mkdir(mode=0o755)
            files = tracked(Path(spec.folder), spec.commit)
            export(Path(spec.folder), spec.commit, place)
            _set_up(spec, place, dict(problem.spec.env))
            _check(files, place)
            _pack(place, kept, bool(spec.setup))
        finally:
            _remove(place)
        _drop_old(place.parent.parent)
        return Blob.of(kept)


@contextmanager
def _locked(folder: Path, wait: bool = True) -> Iterator[None]:
    """Only one process makes a tree; the kernel drops the lock of a killed one.  OSError if it must not wait."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o755)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)


def _log(place: Path) -> Path:
    """What the set-up says: once it is there, this user has run it."""
    return place.with_name("setup.log")


def _refuse_setup(spec: RepoSpec, log: Path) -> None:
    """InputError for a set-up that may be somebody else's, and that this user has neither allowed nor run before."""
    if spec.setup and not runs_setup() and (is_confined() or not log.exists()):
        raise InputError(
            f"setup {spec.setup!r} was not run: it would run as you, with the network and without a sandbox; read it, "
            "and allow it with --run-setup (of `maxcode verify`, `tell`, `compare` or `maxcode mcp`)"
        )


def _set_up(spec: RepoSpec, place: Path, env: Mapping[str, str]) -> None:
    if not spec.setup:
        return
    named = {name: value.replace("{repo}", str(place)) for name, value in env.items()}
    log = _log(place)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _TIED, spec.setup], cwd=place, env={**os.environ, **named},
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(SETUP_S)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise InputError(f"setup {spec.setup!r} takes more than {SETUP_S:.0f} s; make it shorter") from error
            raise
    if status:
        said = last_line(log.read_text(errors="replace"))
        raise InputError(f"setup {spec.setup!r} fails with status {status}: {said}; all it said is in {log}")


def _check(files: Mapping[str, Tracked], place: Path) -> None:
    for path, one in files.items():
        if one.mode == SUBMODULE and not any((place / path).glob("*")):
            raise InputError(
                f"base has the submodule {path}, whose files are not in the revision; let `setup` put them there, for "
                f"example setup = 'git clone URL {path}', or, if nothing needs them, 'touch {path}/.none'"
            )
        if one.is_file and _is_pointer(place / path):
            raise InputError(
                f"{path} is a pointer of Git LFS, not the file; install git-lfs and run `git lfs pull` in the clone"
            )


def _is_pointer(path: Path) -> bool:
    with suppress(OSError):
        if path.stat().st_size < 1024:
            return path.read_bytes().startswith(_POINTER)
    return False


def _pack(place: Path, kept: Path, is_set_up: bool) -> None:
    """Packs the tree: the same names, modes and contents give the same bytes.

    What a set-up made keeps its times: ``make``, and Python for its compiled files, compare them with the sources'.
    """
    scratch = kept.with_suffix(".new")
    same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", WHOLE, *([] if is_set_up else [_TIME])]
    words = ["tar", *same, "-cf", str(scratch), "-C", str(place), "."]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MachineError(f"tar cannot pack {place}: {last_line(done.stderr)}")
    size = scratch.stat().st_size >> 20
    if size > ARCHIVE_MB:
        scratch.unlink()
        raise InputError(
            f"the files of base take {size} MB after `setup`, at most {ARCHIVE_MB}; put what never changes, such as a "
            "virtual environment or a toolchain, into another folder and name it in `show`"
        )
    scratch.replace(kept)


def _remove(place: Path) -> None:
    """Removes a folder, whatever permissions a set-up gave its files."""
    if place.exists():
        subprocess.run(["chmod", "-R", "u+rwX", "--", str(place)], capture_output=True, check=False)
        shutil.rmtree(place, ignore_errors=True)
        if place.exists():
            raise MachineError(f"cannot remove {place}; remove it by hand")


def _drop_old(folder: Path) -> None:
    """Removes the archives that were not used for the longest time."""
    archives = sorted(folder.glob("*/tree.tar"), key=lambda path: path.parent.stat().st_mtime)
    for stale in archives[:-KEPT]:
        with suppress(OSError), _locked(stale.parent, wait=False):  # not while another process reads it
            stale.unlink()
    for left in folder.glob("*/tree"):  # of a killed run, whose lock the kernel has dropped
        with suppress(OSError), _locked(left.parent, wait=False):
            _remove(left)
