"""The two sides of a race: revisions, folders or files become folders with comparable contents."""

from __future__ import annotations

import filecmp
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, final

from maxcode.bench.versions.asked import RaceAsked
from maxcode.bench.versions.worktrees import Scratch
from maxcode.errors import InputError
from maxcode.evaluate.repo.git import changes_of, git

Name = Literal["base", "head"]
FILE = "{}"
_NOT_COMPARED = {".git", ".hg", ".svn"}


@final
@dataclass(frozen=True, slots=True)
class VersionSide:
    """One side: what the user called it, what that is, its folder, and the words of its command.

    ``commit``: of a revision, else empty.  ``file``: name of the one file, if the side is a file, else empty.
    ``owned``: the folder is ours, and may be changed.
    """

    name: Name
    label: str
    folder: Path
    words: tuple[str, ...]
    commit: str = ""
    file: str = ""
    owned: bool = False

    def described(self) -> str:
        """The label, with the commit of a revision."""
        return f"{self.label} ({self.commit[:12]})" if self.commit else self.label


def sides_of(asked: RaceAsked, place: Scratch) -> dict[Name, VersionSide]:
    """Both sides.  InputError for one that does not exist, or for two kinds that do not match."""
    if not asked.command:
        here = Path.cwd()
        named: Mapping[Name, str] = {"base": asked.base, "head": asked.head}
        return {name: VersionSide(name, text, here, ("sh", "-c", text)) for name, text in named.items()}
    base, head = _side("base", asked.base, asked, place), _side("head", asked.head, asked, place)
    if bool(base.file) != bool(head.file):
        raise InputError(f"{asked.base} and {asked.head} are a file and a folder; give two of one kind")
    return {"base": base, "head": head}


def _side(name: Name, label: str, asked: RaceAsked, place: Scratch) -> VersionSide:
    path, commit = Path(label), _commit(label)
    if path.exists() and commit and label not in (".", "..") and not label.startswith(("./", "../", "/")):
        raise InputError(
            f"{label} is both a path and a revision; write ./{label}, or the revision as refs/heads/{label}"
        )
    if path.is_dir():
        return VersionSide(name, label, path.resolve(), asked.command)
    if path.exists():
        return _of_file(name, label, asked, place)
    if commit:
        top = Path(git(Path.cwd(), "rev-parse", "--show-toplevel").stdout.strip() or ".").resolve()
        if git(Path.cwd(), "rev-parse", "--show-prefix").stdout.strip():
            raise InputError(f"{label} is a revision of {top}, where its command starts; start the race in that folder")
        return VersionSide(name, label, place.worktree(top, commit, name), asked.command, commit=commit, owned=True)
    raise InputError(
        f"{label} is no file, no folder and no revision of a git repository here; `git log` lists revisions{_shallow()}"
    )


def _shallow() -> str:
    if git(Path.cwd(), "rev-parse", "--is-shallow-repository").stdout.strip() != "true":
        return ""
    return " (this clone is shallow: `git fetch --unshallow`, or fetch-depth: 0 of actions/checkout)"


def _commit(label: str) -> str:
    told = git(Path.cwd(), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{label}^{{commit}}")
    return told.stdout.strip() if told.returncode == 0 else ""


def _of_file(name: Name, label: str, asked: RaceAsked, place: Scratch) -> VersionSide:
    """A folder with the file alone; it has the base's name on both sides."""
    if not any(FILE in word for word in asked.command):
        raise InputError(f"{label} is a file, and the command does not say where it goes: write {FILE} in its place")
    folder, common = place.place(name), Path(asked.base).name
    try:
        shutil.copyfile(label, folder / common)
    except OSError as error:
        raise InputError(f"cannot read {label}: {error.strerror}") from error
    executable = Path(label).stat().st_mode & stat.S_IXUSR
    (folder / common).chmod(0o755 if executable else 0o644)
    words = tuple(word.replace(FILE, f"./{common}") for word in asked.command)
    return VersionSide(name, label, folder, words, file=common, owned=True)


def copied(side: VersionSide, place: Scratch) -> VersionSide:
    """The side in a folder of ours, which a build may change."""
    if side.owned:
        return side
    folder = place.folder / side.name
    try:
        shutil.copytree(side.folder, folder, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_COMPARED))
    except (OSError, shutil.Error) as error:
        raise InputError(f"cannot copy {side.label} for its build: {str(error)[:200]}") from error
    return replace(side, folder=folder, owned=True)


def dirt_of(sides: Mapping[Name, VersionSide]) -> str:
    """A note if the work tree has changes that a revision leaves out, else empty."""
    if not all(side.commit for side in sides.values()) or not (changed := changes_of(Path.cwd())):
        return ""
    return (
        f"the work tree has changes in {len(changed)} files that are in neither revision; give `.` as HEAD to race "
        "them, or commit them"
    )


def changed_files(one: Path, other: Path) -> list[str]:
    """The files that differ, or that only one folder has, as sorted relative paths; metadata of git is left out."""
    if one == other:
        return []
    ours, theirs = set(_files(one)), set(_files(other))
    both = sorted(ours & theirs)
    differing = [path for path in both if not _equal(one / path, other / path)]
    return sorted((ours ^ theirs) | set(differing))


def _files(folder: Path) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_COMPARED]
        yield from (os.path.relpath(os.path.join(path, name), folder) for name in names if name not in _NOT_COMPARED)


def _equal(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and os.readlink(one) == os.readlink(other)
    if not (one.is_file() and other.is_file()):
        return True  # sockets and pipes hold nothing to compare
    same_mode = (one.stat().st_mode ^ other.stat().st_mode) & stat.S_IXUSR == 0
    return same_mode and filecmp.cmp(one, other, shallow=False)
