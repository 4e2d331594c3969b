"""The compilers, flags and interpreters with which base is really built and run, in words for prompts.

They are read from what base's build left and printed, not from what the machine has: the debug information of its
programs, the commands that it printed, files of CMake and ninja.  All of it is cut to a few lines, and nothing is
judged by it.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from maxcode.core.printable import printable
from maxcode.evaluate.repo.commands import Place
from maxcode.evaluate.repo.layers import Layers
from maxcode.evaluate.repo.own_functions import NATIVE

ASK_S = 120.0
_KINDS = 3  # kinds of flags that are told
_WORDS, _PRINTED = 300, 2_000_000  # characters of a line that is told, and of what the build printed
_NOT_KNOWN = "flags: not known, because its programs have no debug information and the build prints no commands"
_ASKED = {
    "go": "go version; go env GOFLAGS GOAMD64 CGO_ENABLED | paste -sd' ' | sed 's/^/GOFLAGS GOAMD64 CGO_ENABLED: /'",
    "java": "java -version 2>&1 | head -n 1",
    "javascript": 'echo "node $(node --version)"',
}
"""What is asked where nothing is compiled to machine code, by the language of most files to edit."""

# What the build left: the trees of tools apart, and not the sources, whose time is that of the year 2000.
_LEFT = r"""
find . \( -name node_modules -o -name site-packages -o -name '.?*' \) -prune -o -type f -newermt 2001-01-01 \
  \( -perm -u+x -o -name '*.so' -o -name '*.so.*' \) -print | head -n 400 | while read -r file; do
  [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
  readelf --wide --debug-dump=info --dwarf-depth=1 "$file" | grep -E 'DW_AT_(producer|name) ' | head -n 4000
  readelf -p .comment "$file" | grep -E '^ *\[' | sed 's/^ *\[[^]]*\] */comment /'
done
find . -name CMakeCache.txt | head -n 1 | xargs -r grep -h '^CMAKE_BUILD_TYPE:'
find . \( -name flags.make -o -name build.ninja \) | head -n 50 |
  xargs -r grep -hE '^ *(ARGS|FLAGS|C_FLAGS|CXX_FLAGS) = ' | head -n 400
"""
_PRODUCED = re.compile(r"DW_AT_(producer|name) +: (?:(?:\([^)]*\) ?)+:? ?)?(.*)")
_CALLED = re.compile(r"(?:^|[\s/&|;(])((?:[\w.]+-)*(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|rustc)(?:-\d[\d.]*)?)\s+(.*)")
_FLAG = re.compile(
    r"-O\S*|-[fmg]\S*|-std=\S+|-DNDEBUG|-pthread|-static|(?:-C)?(?:opt-level|lto|target-cpu|codegen-units)\S*"
)
_WARNING = re.compile(r"-(?:W(?!no-|[lap],)\S+|pedantic\S*)")
_FINISHED = re.compile(r"^\s*Finished (.*?) target\(s\)", re.MULTILINE)
_MADE_FOR = re.compile(r"^ *\w+ = (.*)")


async def tools_used(place: Place, side: Layers, known: Collection[str], printed: bytes) -> tuple[str, ...]:
    """What is known of them.  ``side``: base after its build; ``known``: the paths of the repository's files;
    ``printed``: by the build."""
    problem = place.problem
    is_native = any(PurePosixPath(path).suffix in NATIVE for path in problem.program.files)
    script = _LEFT if is_native and problem.spec.repo_spec.build else _ASKED.get(problem.language, "")
    if not script:
        return ()
    ran = await place.run(side, f"exec 2>/dev/null\n{script}", ASK_S)
    left = ran.stdout.decode(errors="replace")
    found = left.splitlines()[:_KINDS]
    if script == _LEFT:
        said = printed[:_PRINTED].decode(errors="replace")
        found = list(native_lines(left, said, problem.program.files, known))
    return tuple(printable(line.strip())[:_WORDS] for line in found if line.strip())


def native_lines(left: str, printed: str, edited: Collection[str], known: Collection[str]) -> Iterator[str]:
    """What ``_LEFT`` and the printed commands say of how files are compiled: those to edit, or, where these are only
    headers, any of the repository; the best source first."""
    lines = left.splitlines()
    yield from (_build_type(line.partition("=")[2]) for line in lines if line.startswith("CMAKE_BUILD_TYPE:"))
    yield from (f"cargo built the profile {one[1]}" for one in list(_FINISHED.finditer(printed))[:1])
    by_debug = _produced(lines, edited) or _produced(lines, known)
    by_print = by_debug or _printed(printed, edited) or _printed(printed, known)
    found = by_print or Counter(_flags(made[1].split()) for line in lines if (made := _MADE_FOR.match(line)))
    where = "debug information" if by_debug else "printed commands" if by_print else "files of the build"
    for words, count in found.most_common(_KINDS):
        yield f"compiled, by the {where} ({count} file{'s' * (count != 1)}): {words or 'no flags'}"
    yield from _warnings([*lines, *(line for line in printed.splitlines() if _CALLED.search(line))])
    if not by_debug:
        names = dict.fromkeys(line.removeprefix("comment ") for line in lines if line.startswith("comment "))
        yield from [f"compiler: {', '.join(list(names)[:_KINDS])}"] if names else ()
    if not found and not _FINISHED.search(printed):
        yield _NOT_KNOWN


def _warnings(lines: Iterable[str]) -> list[str]:
    """The warnings that the build asks for, if it ends with any of them."""
    asked = dict.fromkeys(word for line in lines if "-W" in line or "-ped" in line for word in _WARNING.findall(line))
    errors = [word for word in asked if word.startswith(("-Werror", "-pedantic-errors"))]
    others = [word for word in asked if word not in errors] if "-Werror" in errors else []
    return [f"warnings that end the build: {' '.join([*errors, *others])}"] if errors else []


def _build_type(name: str) -> str:
    return f"CMake's build type: {name or 'none, which optimises nothing by itself'}"


def _produced(lines: Collection[str], paths: Collection[str]) -> Counter[str]:
    """The compilers with their flags by the debug information of the files to edit, with how many files each made."""
    made: dict[str, str] = {}
    producer = ""
    for line in lines:
        if (found := _PRODUCED.search(line)) is None:
            continue
        if found[1] == "producer":
            producer = found[2].strip()
        elif path := _edited(found[2].strip().partition("/@/")[0], paths):
            made[path] = producer
    return Counter(made.values())


def _edited(name: str, paths: Collection[str]) -> str:
    """The path of the file to edit that debug information names from wherever it was compiled; empty if it is none."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("..", "/")]
    ends = ("/".join(parts[at:]) for at in range(len(parts)))
    return next((end for end in ends if end in paths), "")


def _printed(text: str, paths: Collection[str]) -> Counter[str]:
    """The compilers with their flags by the commands that the build printed for files to edit."""
    names = {PurePosixPath(path).name for path in paths}
    found: Counter[str] = Counter()
    for line in text.splitlines():
        if (called := _CALLED.search(line)) is None:
            continue
        words = _split(called[2])
        if names & {PurePosixPath(word).name for word in words}:
            found[f"{called[1]} {_flags(words)}"] += 1
    return found


def _flags(words: Collection[str]) -> str:
    return " ".join(word for word in words if _FLAG.fullmatch(word))


def _split(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError:
        return words.split()
