"""Finds how a repository is built, tested and timed, by the conventions of CMake, make, cargo, Go, Python and npm.

Reads the texts of a revision and runs nothing.  What it says is a guess that the user sees, corrects by an option, and
that the profile then tries.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, final

from maxcode.code.languages import HEADERS, LANGUAGES
from maxcode.run.scout.go_folders import go_folders
from maxcode.run.scout.scripts import scripts

_BENCH = re.compile(r"bench|perf(?!ormance\.md)|speed", re.IGNORECASE)
_ASIDE = re.compile(
    r"(^|/)(tests?|testing|spec|bench[^/]*|fuzz(er|ing)?|examples?|docs?|third_party|vendor|external|extern|deps|"
    r"node_modules|build|dist|scripts|tools|\.[^/]+)/|(^|/)(test_|bench|conftest|setup\.py)[^/]*$|(_test|bench)\.\w+$",
    re.IGNORECASE,
)
_ADD = re.compile(r"add_executable\s*\(\s*([\w.+-]+)")
_RULE = re.compile(r"^(?P<name>[\w./-]+)\s*:(?!=)\s*(?P<needs>[^=\n]*)\n(?P<recipe>(?:\t[^\n]*\n?)*)", re.MULTILINE)
_OPTION = re.compile(r'\boption\s*\(\s*(\w+)\s+"(?:[^"\\]|\\.)*"\s*(?:OFF|FALSE|NO|0)?\s*\)', re.IGNORECASE)
_SWITCH = re.compile(r"(BUILD|ENABLE|WITH)\w*BENCH|BENCH(MARK)?(S|ING)?(_ENABLED?)?$", re.IGNORECASE)
_OF_OTHERS = re.compile(r"(^|/)(third_?party|3rd_?party|vendor|extern|external|deps|subprojects)/", re.IGNORECASE)
_FETCHES = re.compile(r"\b(FetchContent_Declare|ExternalProject_Add|CPMAddPackage)\b")
_C_LIKE = {**dict.fromkeys(HEADERS, ""), **{end: row for row in ("c", "cpp") for end in LANGUAGES[row].suffixes}}
_MOST_PATTERNS = 6
_RUNNABLE = frozenset({*_C_LIKE, ".sh", ".js", ".mjs", *(end for row in LANGUAGES.values() for end in row.suffixes)})
LOOKED_FOR = {
    "cmake": "an executable in CMakeLists.txt whose name has bench, perf or speed",
    "cargo": "a [[bench]] of Cargo.toml, a file of benches/, or a program of src/bin called so",
    "go": "a program in a folder whose name begins or ends with bench, perf or speed, or a function Benchmark... in a "
    "_test.go file",
    "python": "a script whose name has bench, perf or speed, or tests that use pytest-benchmark",
    "npm": "a script called bench or perf in package.json, or a .js file called so",
    "make": "a rule of the Makefile called bench, benchmark or perf, or a program called so",
}
"""Per ecosystem: what is taken for a benchmark."""


@final
@dataclass(frozen=True, slots=True)
class Conventions:
    """The commands of a repository, as keys of ``problem.toml``; ``ecosystem`` names who builds it; ``notes``: what the
    user should know; ``by_unittest``: the same tests by unittest, where they can be run so; ``looked_at``: files that
    look like a benchmark; ``others``: commands of other benchmarks; ``second``: the build and the benchmark to try
    where these fail."""

    ecosystem: str
    build: str = ""
    tests: str = ""
    benchmark: str = ""
    setup: str = ""
    language: str = ""
    edit: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    by_unittest: str = ""
    looked_at: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    second: tuple[str, str] | None = None


@final
@dataclass(frozen=True, slots=True)
class Texts:
    """The paths of a revision, and a reader of their texts ("" for one that is no text)."""

    paths: tuple[str, ...]
    read: Callable[[str], str]

    def has(self, name: str) -> bool:
        return name in self.paths

    def named(self, name: str) -> list[str]:
        """The paths whose last part is ``name``, the highest first."""
        return sorted((one for one in self.paths if PurePosixPath(one).name == name), key=lambda one: one.count("/"))


def conventions(texts: Texts) -> Conventions | None:
    """The first ecosystem whose file lies in the top folder; None if there is none."""
    for name, reader in _ECOSYSTEMS:
        if any(texts.has(one) for one in name.split("|")):
            found = reader(texts)
            suffixes = _SUFFIXES.get(found.ecosystem, tuple(_C_LIKE))
            language, edit = _sources(texts, suffixes)
            notes = (*found.notes, *_timed_by_itself(texts, found))
            return replace(found, language=language, edit=edit, looked_at=_like_benchmarks(texts), notes=notes)
    return None


def _timed_by_itself(texts: Texts, found: Conventions) -> Iterator[str]:
    """A note on a benchmark that works for a time: however fast it is, it takes as long."""
    yield from timed_by_itself(found.benchmark)
    if found.ecosystem == "cmake" and re.search(r"benchmark::benchmark|find_package\s*\(\s*benchmark\b", _lists(texts)):
        yield _of_time("Google Benchmark")


def timed_by_itself(benchmark: str) -> Iterator[str]:
    """The same by the command of the benchmark alone."""
    names = {
        "cargo bench": "cargo bench" in benchmark,
        "pytest-benchmark": "--benchmark-only" in benchmark,
        "go test -bench": re.search(r"\bgo test\b.*\s-bench\b|\s-test\.bench\b", benchmark) is not None
        and re.search(r"benchtime[= ]\d+x", benchmark) is None,
    }
    yield from (_of_time(name) for name, is_so in names.items() if is_so)


def _of_time(name: str) -> str:
    return (
        f"{name} repeats its work for a time, not a number of times: a faster patch takes as long; give a program that "
        "does a fixed amount of work with --benchmark"
    )


def _like_benchmarks(texts: Texts) -> tuple[str, ...]:
    """The sources and scripts that are called as benchmarks are."""
    found = (one for one in texts.paths if _BENCH.search(one) and PurePosixPath(one).suffix in _RUNNABLE)
    return tuple(sorted(found, key=lambda one: one.count("/")))


def _own_lists(texts: Texts) -> list[str]:
    return [path for path in texts.named("CMakeLists.txt") if not _OF_OTHERS.search(path)]


def _lists(texts: Texts) -> str:
    """The texts of CMake that are not of libraries of others."""
    return "".join(map(texts.read, _own_lists(texts)))


def _cmake(texts: Texts) -> Conventions:
    builds = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-g -DCMAKE_CXX_FLAGS=-g"
    targets = [
        f"./build/{PurePosixPath(path).parent / target}"
        for path in _own_lists(texts)
        for target in _ADD.findall(texts.read(path))
        if _BENCH.search(target)
    ]
    whole = _lists(texts)
    tests = "ctest --test-dir build --output-on-failure" if re.search(r"enable_testing|add_test|CTest", whole) else ""
    options = dict.fromkeys(_OPTION.findall(whole) if targets else ())
    switches = [f" -D{name}=ON" for name in options if _SWITCH.search(name)]
    fetches = _FETCHES.search(whole) if targets else None
    note = f"{fetches[1]} of CMakeLists.txt needs the network, which a build does not have" if fetches else ""
    return Conventions(
        "cmake",
        f"{builds}{''.join(switches)} && cmake --build build",
        tests,
        next(iter(targets), ""),
        others=tuple(targets[1:]),
        notes=(f"{note}: fetch in `setup`, or give a --build without it",) if note else (),
    )


def _make(texts: Texts) -> Conventions:
    path = next(one for one in ("GNUmakefile", "makefile", "Makefile") if texts.has(one))
    rules = {found["name"]: found for found in _RULE.finditer(texts.read(path) + "\n")}
    tests = next((f"make {name}" for name in ("test", "check", "tests") if name in rules), "")
    name = next((name for name in ("bench", "benchmark", "benchmarks", "perf") if name in rules), "")
    if not name:
        program = next((one for one in rules if _BENCH.search(one) and "." not in one), "")
        return Conventions("make", f"make {program}".strip(), tests, f"./{program}" if program else "")
    recipe = [line.strip().lstrip("@-") for line in rules[name]["recipe"].splitlines() if line.strip()]
    if len(recipe) == 1 and recipe[0].startswith("./") and "$" not in recipe[0]:
        needs = rules[name]["needs"].split()
        return Conventions("make", " ".join(["make", *needs]), tests, recipe[0])
    return Conventions("make", "make", tests, f"make {name}")


def _cargo(texts: Texts) -> Conventions:
    table = _toml(texts.read("Cargo.toml"))
    needs = {**table.get("dependencies", {}), **table.get("dev-dependencies", {})}
    benches = [str(one.get("name", "")) for one in table.get("bench", []) if isinstance(one, dict)]
    benches += [PurePosixPath(one).stem for one in texts.paths if re.fullmatch(r"benches/[^/]+\.rs", one)]
    programs = [PurePosixPath(one).stem for one in texts.paths if re.fullmatch(r"src/bin/[^/]+\.rs", one)]
    found = [f"./target/release/{one}" for one in programs if _BENCH.search(one)]
    found += [f"cargo bench --offline --bench {one}" for one in dict.fromkeys(benches)]
    benchmark = found[0] if found else ""
    setup = "cargo fetch" if needs else ""
    env = {"CARGO_PROFILE_RELEASE_DEBUG": "1", "CARGO_PROFILE_BENCH_DEBUG": "1"}
    builds = "cargo build --release --offline"
    if benchmark.startswith("cargo bench"):  # else every run of the benchmark would compile it
        builds += f" && {benchmark} --no-run"
    return Conventions(
        "cargo", builds, "cargo test --release --offline", benchmark, setup, env=env, others=tuple(found[1:])
    )


def _go(texts: Texts) -> Conventions:
    programs, tested = go_folders(texts.paths, texts.read)
    builds = "go build ./..."
    ways = [(f"{builds} && go build -o bench.program {shlex.quote(f'./{one}')}", "./bench.program") for one in programs]
    tests = []
    for folder in tested:  # `go test` would compile in every run of the benchmark
        package, up = (".", "") if folder == "." else (shlex.quote(f"./{folder}"), "../" * (folder.count("/") + 1))
        benchmark = f"{up or './'}bench.test -test.run=NONE -test.bench=. -test.benchtime=20x"
        benchmark = f"cd {shlex.quote(folder)} && {benchmark}" if up else benchmark
        tests.append((f"go test -c -o bench.test {package}", benchmark))
    ways += [(f"{builds} && {made}", run) for made, run in tests]
    build, benchmark = ways[0] if ways else (builds, "")
    setup = "go mod download" if re.search(r"^\s*require\b", texts.read("go.mod"), re.MULTILINE) else ""
    env = {"GOCACHE": "{repo}/.gocache"}  # what base compiled is there when a candidate is built
    return Conventions(
        "go",
        build,
        "go test ./...",
        benchmark,
        setup,
        env=env,
        others=tuple(f"{shlex.quote(run)} with --build {shlex.quote(made)}" for made, run in ways[1:]),
        second=tests[0] if programs and tests else None,  # without the program, which may not compile
    )


def _python(texts: Texts) -> Conventions:
    tests = [one for one in texts.paths if re.search(r"(^|/)(test_[^/]*|[^/]*_test)\.py$", one)]
    by_plugin = [one for one in texts.paths if one.endswith(".py") and _BENCH.search(one)
                 and re.search(r"def test_\w+\([^)]*\bbenchmark\b", texts.read(one))]  # fmt: skip
    works, may_work = scripts(texts.paths, texts.read, _BENCH)
    found = [f"python3 {one}" for one in works]
    found += [f"python3 -m pytest -q {one} --benchmark-only" for one in by_plugin if one not in works]
    found += [f"python3 {one}" for one in may_work if one not in by_plugin]
    text = " ".join(texts.read(one) for one in tests[:20])
    folder = str(PurePosixPath(tests[0]).parent) if tests else ""
    top = " -t ." if f"{folder}/__init__.py" in texts.paths else ""  # a package: its files import their neighbours
    by_unittest = f"python3 -m unittest discover -s {folder}{top}" if "unittest" in text else ""
    runner = by_unittest if by_unittest and "pytest" not in text else "python3 -m pytest -q"
    env = {"PYTHONPATH": "{repo}/src" if any(one.startswith("src/") for one in texts.paths) else "{repo}"}
    return Conventions(
        "python",
        "",
        runner if tests else "",
        next(iter(found), ""),
        env=env,
        by_unittest=by_unittest,
        others=tuple(found[1:]),
    )


def _npm(texts: Texts) -> Conventions:
    table: dict[str, Any] = {}
    with suppress(ValueError):
        table = json.loads(texts.read("package.json"))
    given = table.get("scripts")
    commands: dict[str, Any] = given if isinstance(given, dict) else {}
    name = next((one for one in ("bench", "benchmark", "benchmarks", "perf") if one in commands), "")
    benchmark = str(commands.get(name, ""))
    if not re.fullmatch(r"node [\w./-]+\.[cm]?js( [\w./=-]+)*", benchmark):
        benchmark = f"npm run --silent {name}" if name else ""
    script = next((one for one in texts.paths if one.endswith((".js", ".cjs", ".mjs")) and _BENCH.search(one)), "")
    setup = "npm ci" if table.get("dependencies") or table.get("devDependencies") else ""
    return Conventions(
        "npm",
        "npm run --silent build" if "build" in commands else "",
        "npm test --silent" if "test" in commands else "",
        benchmark or (f"node {script}" if script else ""),
        setup,
    )


_ECOSYSTEMS: tuple[tuple[str, Callable[[Texts], Conventions]], ...] = (
    ("CMakeLists.txt", _cmake),
    ("Cargo.toml", _cargo),
    ("go.mod", _go),
    ("pyproject.toml|setup.py|setup.cfg", _python),
    ("package.json", _npm),
    ("GNUmakefile|makefile|Makefile", _make),
)
_SUFFIXES = {"cargo": (".rs",), "go": (".go",), "python": (".py",), "npm": (".js", ".cjs", ".mjs")}
NAMES = ("CMakeLists.txt", "Cargo.toml", "go.mod", "pyproject.toml", "setup.py", "package.json", "Makefile")


def _sources(texts: Texts, suffixes: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The language of most sources, and patterns that match them: one for each top folder and suffix."""
    own = [one for one in texts.paths if one.endswith(tuple(suffixes)) and not _ASIDE.search(one)]
    languages = Counter(_language(PurePosixPath(one).suffix) for one in own)
    del languages[""]
    if not languages:  # headers alone, whose language is that of those who include them
        users = (one for one in texts.paths if one.endswith(tuple(suffixes)))
        languages = Counter(name for one in users if (name := _language(PurePosixPath(one).suffix)))
    patterns = Counter(_pattern(one) for one in own)
    best = languages.most_common(1)[0][0] if languages else ""
    return best, tuple(sorted(pattern for pattern, _ in patterns.most_common(_MOST_PATTERNS)))


def _pattern(path: str) -> str:
    top, slash, _ = path.partition("/")
    return f"{top}/**/*{PurePosixPath(path).suffix}" if slash else f"*{PurePosixPath(path).suffix}"


def _language(suffix: str) -> str:
    if suffix in _C_LIKE:
        return _C_LIKE[suffix]
    return next(
        (row.name for row in LANGUAGES.values() if suffix in row.suffixes), "javascript" if "js" in suffix else ""
    )


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def lines_of(found: Conventions, repo: str) -> Iterator[str]:
    """The lines of ``problem.toml``, at most 15."""
    yield 'kind = "repo"'
    yield f"repo = {quoted(repo)}"
    for key in ("language", "setup", "build", "tests", "benchmark"):
        if value := getattr(found, key):
            yield f"{key} = {quoted(value)}"
    yield f"edit = [{', '.join(map(quoted, found.edit))}]"
    if found.show:
        yield f"show = [{', '.join(map(quoted, found.show))}]"
    if found.env:
        yield f"env = {{ {', '.join(f'{name} = {quoted(value)}' for name, value in found.env.items())} }}"


def quoted(text: str) -> str:
    """A string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
