"""Which files of a repository stay as in base: what its commands start, however they name it, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.core.types import HotFunction, Program, RepoSpec
from maxcode.evaluate.repo.admission import _staying, told_functions
from maxcode.evaluate.repo.allowed import outside, why_protected
from maxcode.evaluate.repo.barred import redefined
from maxcode.evaluate.repo.git import tracked
from maxcode.evaluate.repo.told_names import UNNAMED
from tests.support import repositories as repos

EVERY = ("**",)


def why(path: str, command: str) -> str:
    return why_protected(path, RepoSpec("/repo", "0" * 40, EVERY, command))


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 -m perf.run", "perf/run.py"),
        ("python3 -m perf.run", "src/perf/run.py"),
        ("python3 -Im perf", "perf/__main__.py"),
        ("python3 -mperf.run", "perf/run/__main__.py"),
        ("sh -c 'cd ci && python3 -m timing'", "ci/timing.py"),
        ("python3 perf", "perf/__main__.py"),
        ("node --expose-gc perf", "perf/index.js"),
        ("cd tools && node ./perf/", "tools/perf/index.mjs"),
        ("node ci/timing", "ci/timing.js"),
        ("go run ./cmd/perf", "cmd/perf/main.go"),
        ("bash ci/timing", "ci/timing"),
        ("cd ci && ./timing --fast", "ci/timing"),
        ("bash -c 'ci/timing'", "ci/timing"),
        ("python3 ci/timing.py", "ci/timing.py"),
        ("node --stack-size 9000 ci/timing 1000", "ci/timing.js"),
        ("node -r ./setup -e 'let a = 1; require(`./perf`)'", "perf.js"),
        ("for one in perf load; do node ci/$one; done", "ci/perf.js"),
        ("echo perf | xargs node", "perf.js"),
        ("$NODE perf", "perf.js"),
        ("python . 1000", "__main__.py"),
        ("go run .", "main.go"),
        ("node ./", "index.js"),
        ("cd ci && node .", "ci/index.js"),
        ("cd ci/$X && node .", "ci/a/index.js"),
        ("node ..", "src/index.js"),
        ("coverage run perf", "perf/__main__.py"),
        ("cargo run --release --example perf", "examples/perf.rs"),
        ("cd core && target/release/examples/perf 9", "core/examples/perf/main.rs"),
    ],
)
def test_what_a_command_starts_stays_as_in_base(command: str, path: str) -> None:
    assert why(path, command) == "a command names it"


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 -m perf.run", "perf/words.py"),
        ("python3 -m perf.run", "src/words/__main__.py"),
        ("python3 -m perf.run", "src/superperf/run.py"),
        ("node perf", "src/index.js"),
        ("node perf", "lib/words.js"),
        ("go run ./cmd/perf", "words/main.go"),
        ("PYTHONPATH=src bash ci/timing", "src/words/timing.py"),
        ("make -C src run", "src/words.c"),
        ("npx vitest run --dir a parser", "src/parser.ts"),
        ("cd packages/core && npm test", "packages/core/index.js"),
        ("node timing.js --lib marked", "lib/marked.js"),
        ("cd cmd/tool && go test ./...", "cmd/tool/main.go"),
        ("python . 1000", "src/__main__.py"),
        ("cd ci && node .", "src/index.js"),
        ("node ..", "src/words.js"),
        ("cargo run --release --example perf", "examples/words.rs"),
        ("cargo run --release --bin words", "src/bin/words.rs"),
    ],
)
def test_what_it_only_looks_like_may_be_changed(command: str, path: str) -> None:
    assert why(path, command) == ""


def test_a_build_may_name_what_it_compiles_and_not_what_it_starts() -> None:
    def why_built(path: str, build: str) -> str:
        return why_protected(path, RepoSpec("/repo", "0" * 40, EVERY, "./app", build=build))

    for path, build in (
        ("src/words.c", "gcc src/words.c -o app -lm"),
        ("cmd/words/main.go", "go build ./cmd/words"),
        ("src/index.js", "esbuild src"),
    ):
        assert why_built(path, build) == ""
    for path, build in (
        ("ci/make", "bash ci/make"),
        ("gen/tables.py", "python3 -m gen.tables"),
        ("gen/__main__.py", "python3 gen"),
    ):
        assert why_built(path, build) == "a command names it"


def test_folders_of_tests_are_told_whatever_their_case() -> None:
    assert why("Tests/helper.py", "./app") == "it belongs to the tests or the benchmark, or is made by tools"
    assert why("Contests/helper.py", "./app") == ""


def test_a_new_file_is_no_folder_of_base_and_no_part_of_a_file() -> None:
    spec, known = RepoSpec("/repo", "0" * 40, EVERY, "./app"), ["src/words/count.py", "src/tables"]
    refused = outside(["src/words", "src/tables/more.py", "src/a", "src/a/b.py"], spec, known)
    assert [one.split(" (")[0] for one in refused] == ["src/words", "src/tables/more.py", "src/a", "src/a/b.py"]
    assert all("cannot be there beside" in one for one in refused)
    assert outside(["src/wordsmith.py", "src/words/fast.py", "src/words/count.py"], spec, known) == []


def test_a_new_package_takes_no_name_of_python_nor_of_its_tools() -> None:
    spec, known = RepoSpec("/repo", "0" * 40, EVERY, "./app"), ["src/words/__init__.py", "src/code/words.py"]
    for path in ("src/unittest/__init__.py", "src/pytest/__init__.pyc", "src/code/__init__.py"):
        assert "a module of Python" in outside([path], spec, known)[0]
    for path in ("src/fast/__init__.py", "src/code/fast.py", "src/words/unit/__main__.py"):
        assert outside([path], spec, known) == []


@pytest.mark.parametrize("name", ["check.C", "check.hh", "check.inl", "check.tcc", "check.cuh", "check.hxx"])
def test_a_macro_is_told_for_every_kind_of_source_that_must_stay(tmp_path: Path, name: str) -> None:
    files = {"src/own.h": "int own(void);\n", f"tests/{name}": "int check(void) { return compare(1, 2); }\n"}
    toml = repos.made(
        tmp_path / "macros", files, 'kind = "repo"\nedit = ["src/*"]\nbenchmark = "true"\nlanguage = "c"\n'
    )
    problem = repos.problem_of(toml)
    spec = problem.spec.repo_spec
    texts, _ = _staying(problem, tracked(Path(spec.folder), spec.commit))
    candidate = repos.patched(problem, {"src/own.h": "#define compare(a, b) 0\nint own(void);\n"})
    assert list(redefined(problem.program, candidate, texts)) == [
        "it defines the macro compare, which a file uses that must stay as in base"
    ]


def test_names_of_a_file_that_stays_and_is_long_or_of_another_language_are_told(tmp_path: Path) -> None:
    long = "int stepped_far(int n) { return n; }\n" + 9000 * "/* one more line of it */\n"
    stays = {"lib/long.c": long, "lib/walk.kt": "fun walkedOver(n: Int) = n\n"}
    problem = repos.problem_of(repos.made(tmp_path / "sums", {**repos.C_FILES, **stays}, repos.C_TOML))
    files = tracked(tmp_path / "sums", problem.spec.repo_spec.commit)
    texts, _ = _staying(problem, files)
    assert not stays.keys() & texts.keys()
    hot = [HotFunction("lib/long.c", "stepped_far", 1, 0.5), HotFunction("lib/walk.kt", "walkedOver", 1, 0.3)]
    hot.append(HotFunction("lib/none.c", "unheard", 1, 0.1, ("stepped_far",)))
    found = told_functions(hot, problem, files, texts, problem.program)
    assert [one.name for one in found] == ["stepped_far", "walkedOver", UNNAMED]
    assert found[2].callers == ("stepped_far",)
    assert [one.tests for one in found] == [(), (), None]
    twice = Program({"src/sums.c": "int far(int n) { return n; }\n", "src/more.c": "int far(int n) { return n; }\n"})
    [far] = told_functions([HotFunction("src/sums.c", "far", 1, 0.5)], problem, files, texts, twice)
    assert far.name == "far" and far.tests is None, "two functions have the name"
