"""What maxcode asks git: revisions, and the files in them.  It never changes a repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.errors import InputError

_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
SUBMODULE, SYMLINK = "160000", "120000"


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


def git(folder: Path, *words: str, variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs git in a folder; InputError if git is not installed."""
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, errors="replace", check=False,
            umask=0o022, stdin=subprocess.DEVNULL, env={**_environment(), **(variables or {})},
        )  # fmt: skip
    except OSError as error:
        raise InputError(f"a revision needs git, which cannot be started: {error.strerror}; install git") from error


def _environment() -> dict[str, str]:
    """Without the variables that a hook sets: they would point every git command at another repository."""
    return {key: value for key, value in os.environ.items() if key not in _HOOKS} | {"GIT_TERMINAL_PROMPT": "0"}


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
    """The files of a revision by path."""
    told = git(top, "ls-tree", "-r", "-z", "--full-tree", commit)
    if told.returncode:
        raise InputError(f"git cannot list {commit[:12]}: {last_line(told.stderr)}")
    found = {}
    for entry in filter(None, told.stdout.split("\0")):
        about, _, path = entry.partition("\t")
        mode, _, blob = about.split()
        found[path] = Tracked(mode, blob)
    return found


def contents(top: Path, blobs: Sequence[str]) -> list[bytes]:
    """The contents of blobs, in order; InputError if one is missing, as in a shallow or partial clone."""
    done = subprocess.run(
        ["git", "-C", str(top), "cat-file", "--batch"], input="\n".join(blobs).encode() + b"\n", capture_output=True,
        check=False, env=_environment(),
    )  # fmt: skip
    found, data, at = [], done.stdout, 0
    for blob in blobs:
        end = data.find(b"\n", at)
        head = data[at : max(end, at)].split()
        if len(head) != 3:
            raise InputError(f"the repository {top} lacks the object {blob[:12]}; fetch it: `git fetch --refetch`")
        at = end + 1 + int(head[2]) + 1
        found.append(data[end + 1 : at - 1])
    return found


def export(top: Path, commit: str, folder: Path, index: Path) -> None:
    """Writes the files of a revision into a folder, without ``.git``; ``index``: a scratch file."""
    variables = {"GIT_INDEX_FILE": str(index)}
    for words in (("read-tree", commit), ("checkout-index", "--all", "--force", f"--prefix={folder}/")):
        told = git(top, *words, variables=variables)
        if told.returncode:
            raise InputError(f"git cannot check out {commit[:12]}: {last_line(told.stderr)}")
