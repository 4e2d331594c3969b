"""A user's own candidate for a repository: a diff, a folder or a revision becomes a program of the files to edit.

What Python compiled is no part of it: where a repository tracks such files, every run of Python changes them.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from maxcode.core.files import FileKind, read_text
from maxcode.core.types import Problem, Program, RepoSpec
from maxcode.errors import InputError
from maxcode.evaluate.repo.allowed import is_matched, outside
from maxcode.evaluate.repo.compiled_python import CACHE, is_cache
from maxcode.evaluate.repo.git import Tracked, commit_of, contents, git, last_line, tracked

_PATCHES = (".diff", ".patch")
_SHOWN = 5


def patched(path: Path, problem: Problem, names: Collection[str] | None = None) -> Program:
    """The program that a diff file, a folder or a git revision stands for.  ``names``: the only files of a folder that
    are looked at.

    InputError if it changes files that must stay as in base, or cannot be read.
    """
    if path.is_dir():
        return _of_folder(path, problem, names)
    if path.exists() or path.suffix in _PATCHES:
        return _of_diff(path, problem)
    return _of_revision(str(path), problem)


def _checked(changed: Sequence[str], what: str, problem: Problem, known: dict[str, Tracked]) -> None:
    spec = problem.spec.repo_spec
    if wrong := outside(changed, spec, known.keys()):
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise InputError(
            f"{what} changes files that must stay as in base: {'; '.join(wrong[:_SHOWN])}{more}; leave them out of it, "
            "or name them in `edit`"
        )


def _of_diff(path: Path, problem: Problem) -> Program:
    """Base's files after a diff, which git applies in a folder of its own."""
    read_text(path, FileKind("the patch"))
    told = git(Path.cwd(), "apply", "--numstat", "-z", str(path.absolute()))
    if told.returncode:
        raise InputError(f"{path} is no diff that git reads: {last_line(told.stderr)}; make it with `git diff`")
    named = [line.split("\t")[2] for line in told.stdout.split("\0") if line.count("\t") == 2]
    changed = [one for one in named if not is_cache(one)]
    spec = problem.spec.repo_spec
    known = tracked(Path(spec.folder), spec.commit)
    _checked(changed, str(path), problem, known)
    own = problem.program.files
    with tempfile.TemporaryDirectory(prefix="maxcode-patch-") as name:
        folder = Path(name)
        for one in changed:
            if one in own:
                (folder / one).parent.mkdir(parents=True, exist_ok=True)
                (folder / one).write_bytes(own[one].encode())
        applied = _applied(path.absolute(), folder)
        if applied.returncode:
            raise InputError(f"{path} does not fit base {spec.commit[:12]}: {last_line(applied.stderr)}")
        return Program({**own, **{one: _text(folder / one, path) for one in changed}})


def _applied(patch: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """``git apply`` outside of any repository: it then writes below the folder alone."""
    variables = {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    words = ("apply", "--whitespace=nowarn", "--recount", f"--exclude={CACHE}/*", f"--exclude=*/{CACHE}/*")
    return git(folder, *words, str(patch), variables=variables)


def _text(path: Path, patch: Path) -> str:
    if not path.exists() and not path.is_symlink():
        raise InputError(f"{patch} removes {path.name}; a candidate may change and add files only")
    if path.is_symlink():
        raise InputError(f"{patch} makes {path.name} a symbolic link; a candidate may change and add files only")
    return read_text(path, FileKind(f"in {patch}, the file"))


def _of_folder(folder: Path, problem: Problem, names: Collection[str] | None) -> Program:
    """The files of a folder: those that may be edited, of which some may be missing.  Other files of base must be the
    same if they are there."""
    spec, own = problem.spec.repo_spec, problem.program.files
    known = tracked(Path(spec.folder), spec.commit)
    seen = {path for path in (known if names is None else names) if (folder / path).is_file()}
    others = [path for path in known if path not in own and path in seen and not is_cache(path)]
    there = [path for path in others if known[path].is_file]
    texts = contents(Path(spec.folder), [known[path].blob for path in there])
    changed = [path for path, text in zip(there, texts, strict=True) if (folder / path).read_bytes() != text]
    _checked(changed, f"the folder {folder}", problem, known)
    found = {path: folder / path for path in own if path in seen}
    if not found:
        raise InputError(f"{folder} has none of the files that may be edited, such as {problem.program.name}")
    new = {str(path.relative_to(folder)): path for path in _files(folder)} if not _is_clone(folder, spec) else {}
    new = {name: path for name, path in new.items() if names is None or name in names}
    found |= {name: path for name, path in new.items() if is_matched(name, spec.edit) and name not in known}
    _checked([name for name in found if name not in known], f"the folder {folder}", problem, known)
    return Program({**own, **{name: read_text(path, FileKind("the file")) for name, path in found.items()}})


def _is_clone(folder: Path, spec: RepoSpec) -> bool:
    """Whether new files of the folder are known by git alone: a build may have left others."""
    return (folder / ".git").exists() or folder.resolve() == Path(spec.folder).resolve()


def _files(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if CACHE not in path.relative_to(folder).parts)
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def _of_revision(revision: str, problem: Problem) -> Program:
    """The files to edit as they are in a revision; whatever else differs from base is refused."""
    spec, own = problem.spec.repo_spec, problem.program.files
    top = Path(spec.folder)
    try:
        commit = commit_of(top, revision)
    except InputError as error:
        raise InputError(
            f"the candidate {revision} is no diff file, no folder, and no revision of {spec.folder}; correct its name"
        ) from error
    base, here = tracked(top, spec.commit), tracked(top, commit)
    changed = [path for path in {**base, **here} if base.get(path) != here.get(path) and not is_cache(path)]
    _checked(changed, f"revision {revision}", problem, base)
    if removed := [path for path in changed if path not in here]:
        raise InputError(f"revision {revision} removes {removed[0]}; a candidate may change and add files only")
    texts = contents(top, [here[path].blob for path in changed])
    return Program({**own, **{path: data.decode() for path, data in zip(changed, texts, strict=True)}})
