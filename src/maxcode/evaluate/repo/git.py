"""What maxcode asks git: revisions, and the files in them.

It changes no file of a work tree and no commit; a race adds work trees of its own, and ``--branch`` objects and a
branch, by the same ``git``.

A repository may come from anybody, and its configuration names programs: filters, hooks, a monitor of files, a
transport.  None of them is started: files are read as they are in the revision, and what is missing is not fetched.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import final

from maxcode.core.confined import is_confined, refuse_outside
from maxcode.core.files import read_text
from maxcode.errors import InputError
from maxcode.evaluate.repo.compiled_python import CACHE

_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
SUBMODULE, SYMLINK = "160000", "120000"
# Over the repository's own: git would start what they name.
_OURS = (("core.fsmonitor", "false"), ("core.hooksPath", "/dev/null"), ("log.showSignature", "false"))
# With no transport nothing can be fetched, by whatever program a remote names; the status needs no lock; a commit holds
# what its hash says.
_ALONE = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
}  # fmt: skip
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize (\d+)\n")


@final
@dataclass(frozen=True, slots=True)
class Tracked:
    """A file of a revision: its mode as git writes it, and the hash of its content."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return self.mode not in (SUBMODULE, SYMLINK)


def git(
    folder: Path, *words: str, variables: Mapping[str, str] | None = None, errors: str = "replace"
) -> subprocess.CompletedProcess[str]:
    """Runs git in a folder; InputError if git is not installed.  ``errors``: for an output that is not UTF-8."""
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, errors=errors, check=False,
            umask=0o022, stdin=subprocess.DEVNULL, env={**_environment(), **(variables or {})},
        )  # fmt: skip
    except OSError as error:
        raise InputError(f"a revision needs git, which cannot be started: {error.strerror}; install git") from error


def _environment(further: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Without the variables that a hook sets: they would point every git command at another repository.  With our
    configuration, and ``further``, after what the user's variables set."""
    kept = {key: value for key, value in os.environ.items() if key not in _HOOKS} | _ALONE
    given = kept.get("GIT_CONFIG_COUNT", "")
    first, pairs = int(given) if given.isdecimal() else 0, (*_OURS, *further)
    for number, (key, value) in enumerate(pairs, first):
        kept |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | {"GIT_CONFIG_COUNT": str(first + len(pairs))}


def changes_of(folder: Path) -> list[str]:
    """The changed files of a work tree, as lines of ``git status --porcelain``; what is in submodules is left out, and
    what Python compiled, which a run changes where it is tracked."""
    keys = git(folder, "config", "--list", "--name-only", "-z").stdout.split("\0")
    names = {key.rpartition(".")[0] for key in keys if key.startswith("filter.")}
    usual = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    unfiltered = _environment((f"{name}.{key}", value) for name in sorted(names) for key, value in usual)
    words = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
    return [line for line in git(folder, *words, variables=unfiltered).stdout.splitlines() if f"{CACHE}/" not in line]


def work_tree_files(folder: Path) -> list[str] | None:
    """The files below a folder of a work tree that git tracks or that could be added, but for what Python compiled:
    paths relative to the folder.  None if it is in no work tree, or git ignores the folder itself.  InputError if git
    does not say."""
    told = git(folder, "rev-parse", "--is-inside-work-tree", "--show-prefix", variables={"LC_ALL": "C"})
    if told.returncode and "not a git repository (or any" not in told.stderr:
        raise InputError(f"git does not say which files {folder} has: {in_one_line(told.stderr)}")
    inside, _, prefix = told.stdout.partition("\n")
    if inside != "true" or (prefix.strip("\n") and not git(folder, "check-ignore", "-q", ".").returncode):
        return None
    words = ("--cached", "--others", "--exclude-standard", f"--exclude={CACHE}/")
    return list(dict.fromkeys(_named_files(folder, words)))


def ignored_files(folder: Path) -> list[str]:
    """What git ignores in a folder of a work tree, a folder of nothing else as a whole; not what Python compiled."""
    found = _named_files(folder, ("--others", "--ignored", "--exclude-standard", "--directory"))
    return [path for path in found if not path.endswith(f"{CACHE}/")]


def _named_files(folder: Path, words: Sequence[str]) -> list[str]:
    told = git(folder, "ls-files", "-z", *words, errors="surrogateescape")
    if told.returncode:
        raise InputError(f"git does not say which files {folder} has: {in_one_line(told.stderr)}")
    return [path for path in told.stdout.split("\0") if path]


def in_one_line(text: str) -> str:
    """What git says, for messages."""
    return " ".join(text.split())[:600]


def last_line(text: str) -> str:
    """The last line with words; for messages."""
    lines: Sequence[str] = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it says nothing"


def top_of(folder: Path) -> Path:
    """The top folder of the repository that ``folder`` is in; of a bare one, the folder itself."""
    told = git(folder, "rev-parse", "--show-toplevel")
    if told.returncode == 0:
        return Path(told.stdout.strip())
    if git(folder, "rev-parse", "--is-bare-repository").stdout.strip() == "true":
        return folder.resolve()
    raise InputError(
        f"{folder} is in no git repository ({last_line(told.stderr)}); run `git init` and commit, or name it"
    )


def commit_of(top: Path, revision: str) -> str:
    """The full hash of a revision; InputError if there is none."""
    told = git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if told.returncode:
        raise InputError(f"the repository {top} has no revision '{revision}'; fetch it, or correct its name")
    return told.stdout.strip()


def tracked(top: Path, commit: str) -> dict[str, Tracked]:
    """The files of a revision by path.  InputError for a path that leads out of its folder, which git itself never
    commits."""
    return dict(_listed(top, commit, "replace"))


def _refuse_foreign(top: Path) -> None:
    """InputError if git reads its objects from outside the folders that may be read from."""
    if not is_confined():
        return
    words = ("rev-parse", "--path-format=absolute", "--git-path", "objects")
    objects = Path(git(top, *words).stdout.rstrip("\n"))
    others = objects / "info/alternates"
    named = read_text(others).splitlines() if others.exists() else []
    for folder in (objects, *(objects / line for line in named)):
        refuse_outside(folder, f"the repository {top} has objects in a folder that is not its own:")


def _listed(top: Path, commit: str, errors: str) -> Iterator[tuple[str, Tracked]]:
    _refuse_foreign(top)
    told = git(top, "ls-tree", "-r", "-z", "--full-tree", commit, errors=errors)
    if told.returncode:
        raise InputError(f"git cannot list {commit[:12]}: {last_line(told.stderr)}")
    for entry in filter(None, told.stdout.split("\0")):
        about, _, path = entry.partition("\t")
        mode, _, blob = about.split()
        if any(part.lower() in _NO_NAMES for part in path.split("/")):
            raise InputError(f"revision {commit[:12]} has the path {path!r}, which no checkout may hold; correct it")
        yield path, Tracked(mode, blob)


_NO_NAMES = ("", ".", "..", ".git")


def contents(top: Path, blobs: Sequence[str]) -> list[bytes]:
    """The contents of blobs, in order; InputError if one is missing, as in a shallow or partial clone."""
    return list(_each(top, blobs))


def _each(top: Path, blobs: Sequence[str]) -> Iterator[bytes]:
    """The same, one at a time."""
    _refuse_foreign(top)
    with tempfile.TemporaryFile() as asked:
        asked.write("".join(f"{blob}\n" for blob in blobs).encode())
        asked.seek(0)
        words = ["git", "-C", str(top), "cat-file", "--batch"]
        with subprocess.Popen(
            words, stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
        ) as process:
            assert process.stdout is not None
            for blob in blobs:
                head = process.stdout.readline().split()
                if len(head) != 3:
                    raise InputError(
                        f"the repository {top} lacks the object {blob[:12]}; fetch it: `git fetch --refetch`"
                    )
                yield process.stdout.read(int(head[2]) + 1)[:-1]


def export(top: Path, commit: str, folder: Path) -> None:
    """Writes the files of a revision into a new folder, byte for byte, without ``.git``.  A file of Git LFS is taken
    from what the clone keeps of it; else it stays a pointer.  InputError for files that cannot be written."""
    try:
        _write(top, commit, folder)
    except (OSError, ValueError) as error:
        raise InputError(f"the files of {commit[:12]} cannot be written: {error}; name another revision") from error


def _write(top: Path, commit: str, folder: Path) -> None:
    files = dict(_listed(top, commit, "surrogateescape"))
    links = {path for path, one in files.items() if one.mode == SYMLINK}
    places = {path: _place(folder, path, links) for path in files}
    for path in (path for path, one in files.items() if one.mode == SUBMODULE):
        places[path].mkdir(exist_ok=True)
    # Links come last, so that no file is written through one.
    paths = sorted((path for path, one in files.items() if one.mode != SUBMODULE), key=lambda path: path in links)
    kept = Path(git(top, "rev-parse", "--path-format=absolute", "--git-common-dir").stdout.rstrip("\n"), "lfs/objects")
    for path, data in zip(paths, _each(top, [files[path].blob for path in paths]), strict=True):
        if path in links:
            os.symlink(data, os.fsencode(places[path]))
            continue
        places[path].write_bytes(_of_lfs(kept, data))
        places[path].chmod(0o755 if files[path].mode.endswith("755") else 0o644)


def _place(folder: Path, path: str, links: set[str]) -> Path:
    """Where a file goes, whose folder is made.  InputError if that would be behind a link of the same revision."""
    for parent in [str(one) for one in reversed(PurePosixPath(path).parents)][1:]:
        if parent in links:
            raise InputError(f"the revision has a file {path!r} below the link {parent!r}; correct it")
        if not (folder / parent).is_dir():
            (folder / parent).mkdir()
            (folder / parent).chmod(0o755)
    return folder / path


def _of_lfs(kept: Path, data: bytes) -> bytes:
    """The content that a pointer of Git LFS names, if it is there and whole; else the same bytes."""
    found = _POINTER.fullmatch(data) if len(data) < 1024 else None
    if found is None:
        return data
    oid = found[1].decode()
    path = kept / oid[:2] / oid[2:4] / oid
    if not path.is_file() or path.stat().st_size != int(found[2]):
        return data
    content = path.read_bytes()
    return content if hashlib.sha256(content).hexdigest() == oid else data
