"""Which files of a repository a candidate may change: those that ``edit`` matches, without those that decide.

What decides is refused although a pattern matches it: tests, benchmarks, their configuration, and files of build and
packaging.  A path that ``edit`` names in full, without a pattern, may be changed whatever it is.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pathlib import PurePosixPath

from maxcode.core.types import RepoSpec


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMES = _words(
    "conftest.py sitecustomize.py usercustomize.py setup.py setup.cfg pyproject.toml tox.ini pytest.ini noxfile.py "
    "Pipfile Pipfile.lock poetry.lock uv.lock requirements.txt MANIFEST.in CMakeLists.txt CMakePresets.json Makefile "
    "makefile GNUmakefile Makefile.am Makefile.in configure configure.ac meson.build meson_options.txt SConstruct "
    "BUILD BUILD.bazel WORKSPACE Cargo.toml Cargo.lock build.rs rust-toolchain rust-toolchain.toml go.mod go.sum "
    "go.work package.json package-lock.json yarn.lock pnpm-lock.yaml tsconfig.json pom.xml build.gradle gradlew "
    "settings.gradle .gitattributes .gitmodules .gitignore"
)
_SUFFIXES = (".pth", ".cmake", ".mk", ".egg-link", ".gradle", ".bazel", ".bzl", ".lock", ".toml", ".cfg", ".ini")
_FOLDERS = _words(
    ".git .github .cargo tests test testing testdata spec __tests__ bench benches benchmark benchmarks .venv venv "
    "node_modules site-packages vendor third_party"
)
_TESTING = re.compile(
    r"(?:test_.*|.*_test|.*[-_.]tests?|tests?|.*\.(?:test|spec)|.*bench(?:mark)?s?|bench.*|conftest|pytest_.*)\.\w+",
    re.IGNORECASE,
)
_C_HEADERS = _words(
    "assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h "
    "stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h tgmath.h "
    "threads.h time.h uchar.h unistd.h wchar.h wctype.h pthread.h"
)
_TOOLS = frozenset({"pytest", "_pytest", "pluggy", "unittest", "hypothesis", "nose", "numpy", "pip", "setuptools"})


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
    if path in _named(spec) or pure.name in {PurePosixPath(word).name for word in _named(spec)}:
        return "a command names it"
    if pure.name in _NAMES or pure.suffix in _SUFFIXES:
        return "it configures the build or the tests"
    if _TESTING.fullmatch(pure.name) or _FOLDERS & set(pure.parts[:-1]):
        return "it belongs to the tests or the benchmark, or is made by tools"
    return ""


@cache
def _named(spec: RepoSpec) -> frozenset[str]:
    """The words of all commands that look like paths; of a build only scripts, because it may name what it compiles."""
    scripts = {word for word in _paths(spec.build) if PurePosixPath(word).suffix in _SCRIPTS}
    return frozenset(scripts.union(*map(_paths, (spec.setup, spec.tests, spec.benchmark))))


_SCRIPTS = _words(".py .sh .bash .pl .rb .js .mjs .cjs .ts .lua .awk .tcl .cmake .mk")


def _paths(command: str) -> set[str]:
    try:
        words = set(shlex.split(command, comments=False))
    except ValueError:
        words = set(command.split())
    parts = (part for word in words for part in re.split(r"[;&|()<>=:]+", word))
    return {part.removeprefix("./") for part in parts if "." in part and len(part) > 2}


def editable(paths: Iterable[str], spec: RepoSpec) -> list[str]:
    """The paths that may be changed, in order."""
    return sorted(path for path in paths if not why_protected(path, spec))


def why_not_new(path: str, spec: RepoSpec, known: Collection[str]) -> str:
    """Why a file that base does not have must not be added; empty if it may.  ``known``: all paths of base.

    A new file must not take the place of what tests, benchmark or tools import or include.
    """
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not path.isprintable() or path.startswith("-"):
        return "its path is not a plain relative one"
    if why := why_protected(path, spec):
        return why
    if pure.suffix in (".py", ".so", ".pyd", ".pyc") and pure.name.split(".")[0] in _TOOLS | sys.stdlib_module_names:
        return "it has the name of a module of Python or of its tools"
    if pure.name in _C_HEADERS:
        return "it has the name of a standard header"
    taken = any(PurePosixPath(one).name == pure.name and why_protected(one, spec) for one in known)
    if taken and pure.name != "__init__.py":
        return "base has a file of this name that must stay"
    return ""


def outside(changed: Sequence[str], spec: RepoSpec, known: Collection[str]) -> list[str]:
    """One line for each changed path that a candidate must not change."""
    found = []
    for path in changed:
        why = why_protected(path, spec) if path in known else why_not_new(path, spec, known)
        if why:
            found.append(f"{path} ({why})")
    return found
