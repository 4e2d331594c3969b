"""The files that base's own scripts start: what ``npm run bench`` or ``make check`` runs decides as a command does."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import PurePosixPath

from maxcode.code.cpp.words import words as _words

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
PACKAGE = "package.json"
SHELL = (".sh", ".bash")
_PARTS = re.compile(r"&&|\|\||[;|\n]")
_NO_INTERPRETER = r"(?!\w*(?:MYPY(?!TH)|PYTEST|PYLINT|COPY|NUMPY|NODE_MODULES))"
_INTERPRETER = re.compile(rf"\$\$?(?:([({{]))?{_NO_INTERPRETER}\w*(?:PY|NODE)\w*(?(1)[)}}])", re.IGNORECASE)
_RUNNER = re.compile(r"\$\$?([({])?\w*(?:RUN|TIME|BENCH|PERF|EXEC|TASKSET|LAUNCH)\w*(?(1)[)}])", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\$?(?:\([^()\n]*\)|\{[^{}\n]*\}|\w+|\S)")


def started_lines(texts: Mapping[str, str], words: Sequence[str]) -> list[str]:
    """The commands in base's scripts, each alone.  ``texts``: path -> text of makefiles at the top, of ``package.json``
    and of shell scripts that commands name; ``words``: of these commands."""
    lines: list[str] = []
    for path, text in texts.items():
        if path == PACKAGE:
            lines.extend(_scripts(text, words))
            continue
        is_make = PurePosixPath(path).name in MAKEFILES
        joined = text.replace("\\\n", " ").splitlines()
        lines.extend(line.lstrip("\t @-+") for line in joined if not is_make or line.startswith("\t"))
    return [_plain(part) for line in lines for part in _PARTS.split(line) if part.strip()]


def _scripts(text: str, words: Sequence[str]) -> Iterator[str]:
    """The scripts of a package that commands name, and those that these name."""
    table: object = {}
    with suppress(ValueError, RecursionError):
        table = json.loads(text)
    scripts = table.get("scripts") if isinstance(table, dict) else None
    left = {name: one for name, one in scripts.items() if isinstance(one, str)} if isinstance(scripts, dict) else {}
    asked = list(words)
    while asked:
        word = asked.pop()
        for name in (word, f"pre{word}", f"post{word}"):
            if (one := left.pop(name, None)) is not None:
                yield one
                asked.extend(one.split())


def _plain(line: str) -> str:
    """A command with a name in the place of variables that tell what they are for, and ``$`` for other whole words."""
    named = _RUNNER.sub("time", _INTERPRETER.sub("python", line.strip()))
    return _VARIABLE.sub(lambda found: " $ " if named[found.end() : found.end() + 1].strip() == "" else " ", named)


def words_of(command: str) -> list[str]:
    """The words of a command for the shell, those in quotes too, in order; options as they are."""
    parts = (part for word in _raw_words(command) for part in re.split(r"[\s;&|()<>=:'\"`]+", word))
    return [part for part in parts if part]


def _raw_words(command: str) -> list[str]:
    try:
        return shlex.split(command, comments=False)
    except ValueError:
        return command.split()


def modules_of(words: Sequence[str]) -> Iterator[str]:
    """What stands behind ``-m``, as Python and its like take the name of a module."""
    for word, after in pairwise((*words, "")):
        if found := _MODULE.fullmatch(word):
            yield found[1] or after


def ends_started(lines: Iterable[str], values: Iterable[str] = ()) -> tuple[str, ...]:
    """The ends of the paths, behind ``/``, of what commands of scripts start.  ``values``: of the variables that
    commands get, which may name scripts too."""
    named = [word for one in values for word in words_of(one)]
    found = {f"/{PurePosixPath(word).name}" for word in named if PurePosixPath(word).suffix in SCRIPTS}
    for line in lines:
        words = [word for word in words_of(line) if word != "$"]
        found |= {f"/{PurePosixPath(word).name}" for word in words if PurePosixPath(word).suffix in SHELL}
        if PurePosixPath(first := first_of(line)).suffix in SCRIPTS or "/" in first:
            found.add(f"/{PurePosixPath(first).name}")
        for at, word in enumerate(words):
            before, name = words[at - 1] if at else "", PurePosixPath(word).name
            kind = next((one for one, pattern in _STARTERS.items() if pattern.fullmatch(name)), "")
            if kind and before not in _NAMING and (kind != "run" or before in _RUNS):
                found |= set(_behind(kind, words[at + 1 :]))
    return tuple(sorted(found))


def modules_named(commands: Iterable[str], env: Iterable[tuple[str, str]] = ()) -> frozenset[str]:
    """The modules of Python that commands, or the variables that they get, may name: tools, plug-ins, and others."""
    found, variables = list[str](), list(env)
    for command in commands:
        firsts = [first_of(part) for part in _PARTS.split(command)]
        found += [PurePosixPath(one).name for one in firsts if "/" not in one or "/bin/" in one]
    for text in (*commands, *(value for _, value in variables)):
        words = words_of(text)
        found += [after for word, after in pairwise((*words, "")) if word in _NAME_MODULES]
        found += [one[1] for word in words if (one := _PLUGIN.fullmatch(word)) and one[1]]
        found += [*modules_of(words), *(word for word in words if _DOTTED.fullmatch(word))]
        found += [name for names in _IMPORTS.findall(text) for name in names.replace(",", " ").split()]
    found += [word for name, value in variables if "PLUGIN" in name for word in re.split(r"[\s,]+", value)]
    names = (name.split(".")[0].replace("-", "_") for name in found)
    return frozenset(name for name in names if name.isidentifier())


def searched_by(commands: Iterable[str], values: Iterable[str] = ()) -> frozenset[str]:
    """The folders in which Python looks for modules by what commands say: where they go, and where their scripts are.

    ``values``: of variables such as PYTHONPATH.
    """
    found = {one for value in values for one in value.split(":")}
    for line in (part for command in commands for part in _PARTS.split(command)):
        words = words_of(line)
        found |= {str(PurePosixPath(word).parent) for word in words if word.endswith(".py")}
        found |= {after for word, after in pairwise((*words, "")) if word in MOVES}
        found |= set(words[words.index("discover") :]) if "discover" in words else set()  # unittest looks there first
        found |= {one for paths in PYTHON_PATHS.findall(line) for one in paths.split(":")}
        for at, word in enumerate(words):
            if _STARTERS["python"].fullmatch(PurePosixPath(word).name):
                after = pairwise(words[at:])
                found |= set([one for option, one in after if one[0] != "-" and not _MODULE.fullmatch(option)][:1])
    return frozenset(found)


def first_of(line: str) -> str:
    """The word that a command starts, behind those that only start another one; ``$`` if that is a variable."""
    is_behind, before = False, ""
    for raw in _raw_words(line):
        word = next(iter(raw.strip("\"'`(){}!@").split()), "")
        is_option = is_behind and (before in ("-f", "-o", "-u") or re.match(r"[-%\d]", word) is not None)
        before = word
        if word.removeprefix("/usr").removeprefix("/bin/") in _BEFORE:
            is_behind = True
        elif word and not is_option and not re.fullmatch(r"\w+=.*", word):
            return word
    return ""


def _behind(kind: str, words: Sequence[str]) -> Iterator[str]:
    """The ends of the paths of what a word of this kind starts, by the words behind it."""
    was_option = False
    for at, word in enumerate(words):
        if kind != "shell" and (module := _MODULE.fullmatch(word)):
            rest = words[at + 1 :] if module[1] else words[at + 2 :]
            name = module[1] or "".join(words[at + 1 : at + 2])
            yield from (f"/{name.replace('.', '/')}{end}" for end in (".py", "/__main__.py") if name)
            if name in _STARTS_FILES:
                yield from _behind("run", rest)
            return
        if _CODE[kind].fullmatch(word):
            return
        if kind in ("node", "run") and _SOME_CODE.fullmatch(word):
            yield from (end for one in words[at:] for end in _ends_of(one, words))
            return
        if word.startswith("-") or word == "run":
            was_option = _TAKES[kind].fullmatch(word) is not None
            continue
        yield from _ends_of(word, words)
        if not was_option:
            return
        was_option = False


def _ends_of(word: str, words: Sequence[str]) -> Iterator[str]:
    name = PurePosixPath(word).name
    names = [name] if name else [PurePosixPath(after).name for one, after in pairwise((*words, "")) if one in MOVES]
    yield from (f"/{one}{end}" for one in names if one not in ("", "..") for end in ("", *STARTED))


MOVES = _words("cd pushd -C --chdir --directory --prefix --cwd")
OWN_RUN = _words("vitest npm pnpm yarn cargo")  # names of tests, of scripts and of arguments stand behind their "run"
SCRIPTS = _words(".py .sh .bash .pl .rb .js .mjs .cjs .ts .lua .awk .tcl .cmake .mk")
STARTED = _words("/__main__.py /index.js /index.mjs /index.cjs /index.ts /main.go .js .ts")  # by the name before it
_RUNS = _words("go coverage deno bun uv poetry pdm hatch rye pipenv conda")
_NAMING = _words("--platform --target --env --environment --engine --runtime --loader")  # behind them: no start
_BEFORE = _words(
    "time env exec nice ionice sudo taskset numactl chrt timeout nohup stdbuf command setarch xvfb-run if then else "
    "elif while until do perf stat record hyperfine valgrind"
)
_STARTS_FILES = _words(
    "cProfile profile pdb trace coverage pyinstrument scalene memory_profiler kernprof viztracer runpy"
)
_STARTERS = {
    "python": re.compile(r"(?:python|pypy)[\d.]*(?:-[\w.-]+|[a-z])?"),
    "node": re.compile(r"(?:node(?:js|mon)?|deno|tsx|ts-node)[\d.]*(?:-[\w.-]+)?|bun(?:x|[\d.]*)|[\w.-]*-node"),
    "shell": re.compile(r"(?:ba|da|z|k|a)?sh"),
    "perl": re.compile(r"(?:perl|ruby|lua|luajit|php|tclsh)[\d.]*|Rscript|julia"),
    "run": re.compile("run"),
}
_OF_C = re.compile(r"-[A-VYZa-z]*c")
_CODE = {**dict.fromkeys(_STARTERS, _OF_C), "perl": re.compile(r"-[A-Za-z]*[eE]")}  # code is no file
_SOME_CODE = re.compile(r"-[A-Za-z]*[epr]|--(?:eval|print|require|import)")  # code that may name files, or a file
_ANY = re.compile(".*")
_TAKES = {  # options with a value
    "python": re.compile("-[WX]"),
    "shell": re.compile("-[oO]"),
    "perl": re.compile("-[A-Z]|-r"),
    **dict.fromkeys(("node", "run"), _ANY),
}
_NAME_MODULES = _words("-p -c --pyargs run PYTEST_PLUGINS")
_PLUGIN = re.compile(r"-p([A-Za-z_][\w.]*)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_IMPORTS = re.compile(r"\b(?:import|from)[ \t]+(\w[\w., \t]*)")
PYTHON_PATHS = re.compile(r"\bPYTHONPATH=[\"']?([^\s\"';&|]+)", re.IGNORECASE)  # pytest has it in small letters
_MODULE = re.compile(r"-[A-VYZa-z]*m([A-Za-z_][\w.]*)?")
