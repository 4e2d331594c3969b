"""Which files of a repository a candidate may change: those that ``edit`` matches, without those that decide.

What decides is refused although a pattern matches it: tests, benchmarks, their configuration, and files of build and
packaging.  A path that ``edit`` names in full, without a pattern, may be changed whatever it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import PurePosixPath

from maxcode.code.cpp.words import words as _words
from maxcode.core.types import Problem, RepoSpec
from maxcode.evaluate.repo.deciding import is_of_tests, why_decides
from maxcode.evaluate.repo.known_paths import Known, known_of, why_beside, why_in_the_way
from maxcode.evaluate.repo.packages import folders_of
from maxcode.evaluate.repo.shadows import module_of
from maxcode.evaluate.repo.started import (
    MAKEFILES,
    MOVES,
    OWN_RUN,
    PACKAGE,
    SCRIPTS,
    SHELL,
    STARTED,
    modules_of,
    searched_by,
    words_of,
)

_C_HEADERS = _words(
    "assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h "
    "stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h tgmath.h "
    "threads.h time.h uchar.h unistd.h wchar.h wctype.h pthread.h stdc-predef.h features.h"
)
_TOOLS = _words(
    "pytest _pytest pluggy unittest hypothesis nose numpy pip setuptools sitecustomize usercustomize conftest "
    "iniconfig psutil pyperf pkg_resources"
)
_LONGEST, _MOST = 500, 200  # signs of a new path, new files


@cache
def pattern_of(glob: str) -> Callable[[str], re.Match[str] | None]:
    """The match of a pattern: ``**`` stands for any folders, ``*`` and ``?`` for parts of one name."""
    out, at = "", 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            out, at = out + ".*", at + 2
        else:
            out, at = out + {"*": "[^/]*", "?": "[^/]"}.get(glob[at], re.escape(glob[at])), at + 1
    return re.compile(out).fullmatch


def is_matched(path: str, edit: Iterable[str]) -> bool:
    """Whether a pattern matches the path."""
    return any(pattern_of(glob)(path) for glob in edit)


def why_protected(path: str, spec: RepoSpec) -> str:
    """Why a path must stay as in base although ``edit`` matches it; empty if it may change."""
    if path in spec.edit:
        return ""
    pure = PurePosixPath(path)
    if not is_matched(path, spec.edit):
        return "`edit` does not match it"
    if _is_named(pure, spec):
        return "a command names it"
    return why_decides(pure)


def _is_named(pure: PurePosixPath, spec: RepoSpec) -> bool:
    """Whether a command names a file of this name, or starts this one as a module or as the main file of a folder."""
    files, ends = _named(spec)
    return pure.name in files or f"///{pure}".endswith(ends)


@cache
def _named(spec: RepoSpec) -> tuple[frozenset[str], tuple[str, ...]]:
    """The names of all words of commands, and the ends of the paths of what they start in other words.

    Of a build only scripts, because it may name what it compiles.
    """
    commands = [words_of(one) for one in (spec.setup, spec.tests, spec.benchmark)]
    words, built = [word for one in commands for word in one], words_of(spec.build)
    scripts = [word for word in built if PurePosixPath(word).suffix in ("", *SCRIPTS)]
    modules = [name.replace(".", "/") for one in (words, built) for name in modules_of(one)]
    ends = {f"/{one}{end}" for one in modules for end in (".py", "/__main__.py") if one}
    ends |= {folder + "/__main__.py" for folder in _started(built)}
    ends |= {folder + end for one in commands for folder in _started(one) for end in STARTED if folder or end[0] == "/"}
    examples = {after for word, after in pairwise((*words, "")) if word == "--example"}
    examples |= {PurePosixPath(word).name for word in words if "/examples/" in word}
    ends |= {f"/examples/{one}{end}" for one in examples for end in (".rs", "/main.rs") if one}
    return frozenset(PurePosixPath(word).name for word in (*words, *scripts)), tuple(ends)


def _started(words: Sequence[str]) -> Iterator[str]:
    """The ends of the paths of the folders, or of the files without their suffix, that a command starts.

    Empty: any folder."""
    folders = [PurePosixPath(after).name for word, after in pairwise((*words, "")) if word in MOVES]
    for word in _started_words(words):
        name = PurePosixPath(word).name
        if name not in ("", ".."):
            yield f"/{name}"
        elif name or any("$" in one or one in ("", "..") for one in folders):
            yield ""
        else:
            yield from (_TOP, *(f"/{one}" for one in folders))


def _started_words(words: Sequence[str]) -> Sequence[str]:
    """What stands behind a name that starts others, its options and their values; all words if that is not known."""
    found: list[str] = []
    for at, word in enumerate(words):
        is_own = word == "run" and at and words[at - 1] in OWN_RUN
        if is_own or not _STARTER.fullmatch(PurePosixPath(word).name):
            continue
        is_option, some = True, len(found)
        for one in words[at + 1 :]:
            if "$" in one or _GIVES_CODE.fullmatch(one):
                return words
            was_option, is_option = is_option, one.startswith("-") or one == "run"
            if not is_option:
                found.append(one)
                if not was_option or words[at + 1] == one:
                    break
        if len(found) == some:
            return words
    return found


_TOP = "//"  # the folder of the repository itself
_STARTER = re.compile(r"(?:node(?!_modules)|deno|tsx|python|pypy)[\w.-]*|bun(?:x|[\d.]*)|[\w.-]*-node|run|\$.*")
_GIVES_CODE = re.compile(r"-[A-Za-z]*[cepr]|--(?:eval|print|require|import)")


def is_script_of_base(path: str, spec: RepoSpec) -> bool:
    """Whether it is a file that may name what is started: a makefile, a package, a shell script of a command."""
    return path in (*MAKEFILES, PACKAGE) or (path.endswith(SHELL) and _is_named(PurePosixPath(path), spec))


def words_of_commands(problem: Problem) -> list[str]:
    """All words of all commands and of the variables that they get, in order."""
    values = [value for _, value in problem.spec.env]
    return [word for one in (*commands_of(problem), *values) for word in words_of(one)]


def commands_of(problem: Problem) -> tuple[str, ...]:
    """Set-up, build, tests and benchmark."""
    spec = problem.spec.repo_spec
    return (spec.setup, spec.build, spec.tests, spec.benchmark)


def editable(paths: Iterable[str], spec: RepoSpec) -> list[str]:
    """The paths that may be changed, in order."""
    return sorted(path for path in paths if not why_protected(path, spec))


def _why_not_new(path: str, spec: RepoSpec, known: Known) -> str:
    """Why a file that base does not have must not be added; empty if it may.

    A new file must not take the place of what tests, benchmark or tools import or include.
    """
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not path.isprintable() or path.startswith("-"):
        return "its path is not a plain relative one"
    if len(path) > _LONGEST:
        return f"its path has more than {_LONGEST} signs"
    if why := why_protected(path, spec):
        return why
    module = module_of(pure)
    if module in _TOOLS | sys.stdlib_module_names:
        return "it has the name of a module of Python or of its tools"
    if module and is_of_tests(f"{module}.py"):
        return "it has the name of tests or of a benchmark"
    if pure.name in _C_HEADERS:
        return "it has the name of a standard header"
    return why_beside(path, known, lambda one: why_protected(one, spec))


@lru_cache(maxsize=4)
def _known(spec: RepoSpec, paths: frozenset[str]) -> Known:
    """The tables of base's paths, which a search asks for each candidate."""
    return known_of(paths, searched_by((spec.setup, spec.build, spec.tests, spec.benchmark)))


def outside(changed: Sequence[str], spec: RepoSpec, known: Collection[str]) -> list[str]:
    """One line for each changed path that a candidate must not change."""
    base, found = _known(spec, frozenset(known)), list[str]()
    all_paths, folders = {*known, *changed}, base.folders | folders_of(changed)
    if (new := sum(path not in known for path in changed)) > _MOST:
        return [f"{new} new files (at most {_MOST})"]
    for path in changed:
        why = why_protected(path, spec) if path in known else _why_not_new(path, spec, base)
        if not why and path not in known and (other := why_in_the_way(path, all_paths, folders)):
            why = f"it cannot be there beside {other}"
        if why:
            found.append(f"{path} ({why})")
    return found
