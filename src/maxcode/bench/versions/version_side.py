"""The sides of a race: revisions, folders or files become folders with comparable contents, each its own."""

from __future__ import annotations

import filecmp
import glob
import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal, final

from maxcode.bench.versions.asked import RaceAsked
from maxcode.bench.versions.side_copy import OF_GIT, copy_again, copy_side
from maxcode.bench.versions.worktrees import Scratch
from maxcode.errors import InputError
from maxcode.evaluate.repo.compiled_python import CACHE, is_cache, runs_unchecked
from maxcode.evaluate.repo.git import SUBMODULE, changes_of, git, in_one_line, tracked

Name = Literal["base", "head", "control"]
FILE = "{}"
FOLDERS: Mapping[Name, str] = {"base": "base", "head": "head", "control": "ctrl"}  # equally long: see ``Scratch``


@final
@dataclass(frozen=True, slots=True)
class VersionSide:
    """One side: what the user called it, what that is, its folder, and the words of its command.

    ``commit``: of a revision, else empty.  ``file``: name of the one file, if the side is a file, else empty.
    ``lacks``: a cure if the race fails because a side lacks what git ignores in a folder of the user, else empty.
    ``owned``: the folder is ours, and may be changed.
    """

    name: Name
    label: str
    folder: Path
    words: tuple[str, ...]
    commit: str = ""
    file: str = ""
    lacks: str = ""
    owned: bool = False

    def described(self) -> str:
        """The label, with the commit of a revision."""
        return f"{self.label} ({self.commit[:12]})" if self.commit else self.label


def sides_of(asked: RaceAsked, place: Scratch) -> dict[Name, VersionSide]:
    """Base, head, and base once more as the control, which has a folder of its own as head has; with whole commands
    there is one folder, the user's.  InputError for a side that does not exist, or for two kinds that do not match."""
    if not asked.command:
        here = Path.cwd()
        named: Mapping[Name, str] = {"base": asked.base, "head": asked.head, "control": asked.base}
        return {name: VersionSide(name, text, here, ("sh", "-c", text)) for name, text in named.items()}
    base, head = _side("base", asked.base, asked, place), _side("head", asked.head, asked, place)
    if bool(base.file) != bool(head.file):
        raise InputError(f"{asked.base} and {asked.head} are a file and a folder; give two of one kind")
    found: dict[Name, VersionSide] = {"base": base, "head": head, "control": _control(base, place)}
    return {name: replace(side, lacks=base.lacks or head.lacks) for name, side in found.items()}


def _control(base: VersionSide, place: Scratch) -> VersionSide:
    """Made from what base is by now: a branch or a file of the user may have changed since."""
    name = FOLDERS["control"]
    if base.commit:
        folder = place.worktree(_top(), base.commit, name)
    else:
        folder = place.place(name)
        copy_again(base.folder, folder)
    return replace(base, name="control", folder=folder)


def _side(name: Name, label: str, asked: RaceAsked, place: Scratch) -> VersionSide:
    path = Path(label)
    commit, why_not = _commit(label)
    if path.exists() and commit and label not in (".", "..") and not label.startswith(("./", "../", "/")):
        raise InputError(
            f"{label} is both a path and a revision; write ./{label}, or the revision as refs/heads/{label}"
        )
    if path.is_dir():
        folder = place.place(FOLDERS[name])
        lacks = _lacks(label, copy_side(path.resolve(), folder))
        return VersionSide(name, label, folder, asked.command, lacks=lacks, owned=True)
    if path.exists():
        return _of_file(name, label, asked, place)
    if commit:
        top = _top()
        if git(Path.cwd(), "rev-parse", "--show-prefix").stdout.strip():
            raise InputError(f"{label} is a revision of {top}, where its command starts; start the race in that folder")
        folder = place.worktree(top, commit, FOLDERS[name])
        return VersionSide(name, label, folder, asked.command, commit=commit, owned=True)
    raise InputError(
        f"{label} is no file, no folder and no revision of a git repository here; `git log` lists revisions"
        f"{_shallow()}{why_not}"
    )


def _lacks(label: str, ignored: Sequence[str]) -> str:
    if not ignored:
        return ""
    named = ", ".join(ignored[:3]) + (", ..." if len(ignored) > 3 else "")
    return f"; {label} is raced without what git ignores ({named}): let --build or --setup make what the command needs"


def _top() -> Path:
    return Path(git(Path.cwd(), "rev-parse", "--show-toplevel").stdout.strip() or ".").resolve()


def _shallow() -> str:
    if git(Path.cwd(), "rev-parse", "--is-shallow-repository").stdout.strip() != "true":
        return ""
    return " (this clone is shallow: `git fetch --unshallow`, or fetch-depth: 0 of actions/checkout)"


def _commit(label: str) -> tuple[str, str]:
    """The commit, or empty; then also what git said, if anything: it may refuse the whole repository."""
    told = git(Path.cwd(), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{label}^{{commit}}")
    if told.returncode == 0:
        return told.stdout.strip(), ""
    said = in_one_line(told.stderr)
    return "", f" (git says: {said})" if said else ""


def _of_file(name: Name, label: str, asked: RaceAsked, place: Scratch) -> VersionSide:
    """A folder with the file alone; it has the base's name on both sides."""
    if not any(FILE in word for word in asked.command):
        raise InputError(f"{label} is a file, and the command does not say where it goes: write {FILE} in its place")
    folder, common = place.place(FOLDERS[name]), Path(asked.base).name
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
    folder = place.place(FOLDERS[side.name])
    copy_again(side.folder, folder)
    return replace(side, folder=folder, owned=True)


def dirt_of(sides: Mapping[Name, VersionSide]) -> str:
    """A note if the work tree has changes that a revision leaves out, else empty."""
    if not all(side.commit for side in sides.values()) or not (changed := changes_of(Path.cwd())):
        return ""
    return (
        f"the work tree has changes in {len(changed)} files that are in neither revision; give `.` as HEAD to race "
        "them, or commit them"
    )


def moved_submodules(sides: Mapping[Name, VersionSide]) -> str:
    """A note if two revisions differ in a submodule, which is not checked out, else empty."""
    commits = [sides[name].commit for name in ("base", "head")]
    if not all(commits):
        return ""
    files = [tracked(_top(), commit) for commit in commits]
    modules = {path for one in files for path, file in one.items() if file.mode == SUBMODULE}
    moved = sorted(path for path in modules if files[0].get(path) != files[1].get(path))
    if not moved:
        return ""
    return (
        f"the revisions differ in the submodule {', '.join(moved[:3])}, which is not checked out, so that change is "
        "not raced: to race it, copy each version with its submodules into a folder without `.git`, and name these"
    )


def changed_files(one: Path, other: Path, caches: Collection[str] = ()) -> list[str]:
    """The files that differ, or that only one folder has, as sorted relative paths; metadata of git is left out, and so
    is what Python compiled but for ``caches``."""
    if one == other:
        return []
    ours, theirs = ({path for path in _files(side) if path in caches or not is_cache(path)} for side in (one, other))
    both = sorted(ours & theirs)
    differing = [path for path in both if not _equal(one / path, other / path)]
    return sorted((ours ^ theirs) | set(differing))


def differing_caches(one: Path, other: Path) -> frozenset[str]:
    """What Python runs in place of its source, whatever that says, and differs: a version may hold such a file.  To be
    asked before any build, which compiles anew."""
    every = {path for side in (one, other) for path in _files(side) if is_cache(path)}
    unchecked = {path for path in every if runs_unchecked(one / path) or runs_unchecked(other / path)}
    return frozenset(changed_files(one, other, unchecked)) & unchecked


def with_caches(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """What is opened where one of the files is used, and that file: the file itself, or what Python compiled of it."""
    found = {name: name for name in names}
    for name in names:
        source = PurePosixPath(name)
        if source.suffix == ".py":
            kept = (folder / source.parent / CACHE).glob(f"{glob.escape(source.stem)}.*.pyc")
            found |= {os.path.relpath(one, folder): name for one in kept}
    return found


def _files(folder: Path) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in OF_GIT]
        yield from (os.path.relpath(os.path.join(path, name), folder) for name in names if name not in OF_GIT)


def _equal(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and os.readlink(one) == os.readlink(other)
    if not (one.is_file() and other.is_file()):
        return True  # sockets and pipes hold nothing to compare
    same_mode = (one.stat().st_mode ^ other.stat().st_mode) & stat.S_IXUSR == 0
    return same_mode and filecmp.cmp(one, other, shallow=False)
