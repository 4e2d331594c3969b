"""``maxcode scout`` follows Go to its callers, and says which benchmark it chose and what is wrong with it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from maxcode.core.types import HotFunction
from maxcode.evaluate.repo import profile
from maxcode.evaluate.repo.own_functions import Costs, Function, Tree
from maxcode.evaluate.repo.profile import RepoProfile
from maxcode.evaluate.repo.profile_readers import places_of
from maxcode.run.scout.conventions import Conventions, timed_by_itself
from maxcode.run.scout.scouting import Scouted
from maxcode.run.scout.tests_tried import by_python, with_packages, with_python
from tests.run.test_scout import PYTHON_FILES, committed, scouted, told
from tests.support.cli import maxcode

WORDS_GO = """package words

func Count(n int) int {
	seen := map[int][]byte{}
	for i := 0; i < n; i++ {
		seen[i%500] = append(seen[i%500], make([]byte, 200)...)
		if len(seen[i%500]) > 4000 {
			delete(seen, i%500)
		}
	}
	return len(seen)
}

func Spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s = s*31 + i%7
	}
	return s
}
"""
MAIN_GO = """package main

import (
	"fmt"

	words "example.com/words"
)

func main() {
	done := make(chan int)
	go func() { done <- words.Spin(200000000) }()
	fmt.Println(words.Count(600000), <-done)
}
"""
TEST_GO = """package words

import "testing"

func BenchmarkCount(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Count(60000)
	}
}
"""
GO_FILES = {
    "go.mod": "module example.com/words\n\ngo 1.19\n", "words.go": WORDS_GO, "words_test.go": TEST_GO,
    "bench/main.go": MAIN_GO,
}  # fmt: skip


@pytest.mark.toolchains
@pytest.mark.sandbox
def test_a_go_program_is_sampled_in_all_its_threads_and_its_runtime_counts_for_callers(tmp_path: Path) -> None:
    found = scouted(committed(tmp_path / "words", GO_FILES))
    assert found["build"] == "go build ./... && go build -o bench.program ./bench"
    assert found["benchmark"] == "./bench.program"
    assert found["profiler"].endswith("samples of its running threads")
    other = "'./bench.test -test.run=NONE -test.bench=. -test.benchtime=20x' with --build 'go build ./... && go test -c"
    assert any(f"to choose with --benchmark: {other} -o bench.test .'" in note for note in found["notes"])
    places = {one["name"]: one for one in found["places"]}
    assert places["words.Count"]["callers"] == ["main.main"]
    assert places["words.Spin"]["share"] > 0.1 and places["words.Count"]["share"] > 0.1
    assert found["elsewhere"] < 0.75  # the collector, which no function calls
    assert 0.05 < found["seconds"] < 60


@pytest.mark.toolchains
@pytest.mark.sandbox
def test_the_runtime_of_go_counts_for_the_function_of_a_benchmark_that_calls_it(tmp_path: Path) -> None:
    files = {path: text for path, text in GO_FILES.items() if path != "bench/main.go"}
    found = scouted(committed(tmp_path / "words", files))
    assert "in samples of 10 ms" in found["profiler"]
    top = found["places"][0]
    assert (top["name"], top["file"], top["callers"]) == ("words.Count", "words.go", ["words.BenchmarkCount"])
    assert top["editable"] and top["share"] > 0.4
    assert top["share"] + found["elsewhere"] > 0.9
    assert found["outside"] is None or found["outside"] < 0.1


FAILING_GO = 'package main\n\nimport "os"\n\nfunc main() { os.Exit(3) }\n'


@pytest.mark.toolchains
@pytest.mark.sandbox
@pytest.mark.parametrize(("main", "why"), [(FAILING_GO, "status 3"), ("package main\n", "fails in the sandbox")])
def test_functions_of_go_are_the_benchmark_where_the_program_does_not_work(tmp_path: Path, main: str, why: str) -> None:
    found = scouted(committed(tmp_path / "words", {**GO_FILES, "bench/main.go": main}))
    assert found["benchmark"] == "./bench.test -test.run=NONE -test.bench=. -test.benchtime=20x"
    assert found["places"][0]["name"] == "words.Count" and found["seconds"] is not None
    assert any(why in note and note.endswith(f"so the benchmark is {found['benchmark']!r}") for note in found["notes"])


def test_only_programs_that_go_builds_and_that_end_are_taken_for_benchmarks_of_go() -> None:
    main = "package main\n"
    others = {
        "benchmarks/go.mod": "module y\n", "benchmarks/main.go": main, "benchmarks/in/a_test.go": "package a\n"
        "func BenchmarkA(b *testing.B) {\n", "bench/bench.go": "package bench\n",
        "bench/gen.go": f"//go:build ignore\n\n{main}", "bench/old.go": f"// +build ignore\n\n{main}",
        "perf/x_test.go": main, "testdata/perf/main.go": main, "_benchmarks/x/main.go": main,
        "cmd/superbench-server/main.go": main, "bench-server/main.go": main, ".bench/main.go": main,
    }  # fmt: skip
    module = {"go.mod": "module x\n", "a.go": "package x\n"}
    none = told({**module, **others})
    assert (none.benchmark, none.others, none.second) == ("", (), None)
    files = {**module, **others, "cmd/gobench/main.go": "//go:build linux\n\npackage main // runs\n",
             "perf/in/main.go": main, "in/a_test.go": "package in\nfunc BenchmarkB(b *testing.B) {\n"}  # fmt: skip
    found = told(files)
    assert found.build == "go build ./... && go build -o bench.program ./cmd/gobench"
    assert "./bench.program with --build 'go build ./... && go build -o bench.program ./perf/in'" in found.others
    assert found.second is not None and found.second[0] == "go test -c -o bench.test ./in"


def test_a_benchmark_of_go_that_works_for_a_time_is_told() -> None:
    for command, is_told in (("go test -run=NONE -bench=. .", True), ("./x.test -test.bench=A", True),
                             ("go test -benchtime 9x -bench .", False), ("./x -bench", False)):  # fmt: skip
        assert bool(list(timed_by_itself(command))) is is_told, command


@pytest.mark.sandbox
def test_a_benchmark_runs_in_the_environment_that_the_set_up_of_the_tests_made(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "module_of_nobody-1.0-py3-none-any.whl", "w") as wheel:
        about = "module_of_nobody-1.0.dist-info"
        wheel.writestr("module_of_nobody.py", "SIZE = 20000\n")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: module-of-nobody\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    test = "import unittest\nimport module_of_nobody\n\n\nclass T(unittest.TestCase):\n    def test_a(self): ...\n"
    bench = PYTHON_FILES["benchmarks/bench_area.py"]
    files = {
        **PYTHON_FILES,
        "tests/test_area.py": test,
        "benchmarks/bench_area.py": f"import module_of_nobody\n{bench}",
    }
    folder = committed(tmp_path / "shapes", files)
    done = maxcode("scout", folder, "--json", "--run-setup", PIP_FIND_LINKS=str(wheels), PIP_NO_INDEX="1")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["tests"] == ".venv/bin/python -m unittest discover -s tests"
    assert found["benchmark"] == ".venv/bin/python benchmarks/bench_area.py" and not found["show"]
    assert {one["name"] for one in found["places"]} >= {"total", "norm"}


def test_what_is_proposed_for_a_shell_is_quoted_for_it() -> None:
    assert with_python("python3.12 b.py", "/a b/\\1/python") == "'/a b/\\1/python' b.py"
    assert with_python("python b.py", ".venv/bin/python") == ".venv/bin/python b.py"
    assert [by_python(one) for one in ("python3 x", "python3.12", "pythonic x", "./python3")] == [
        True,
        True,
        False,
        False,
    ]
    made = with_packages("make deps", ["x"])
    assert made == "make deps && /usr/bin/python3 -m venv .venv && .venv/bin/pip install -q x"
    assert with_packages(made, ["x", "y"]) == f"{made} y"


def test_a_place_that_may_not_be_changed_has_no_bound_in_words() -> None:
    places = (HotFunction("bench/main.c", "main", 1, 0.999), HotFunction("src/a.c", "f", 1, 0.5))
    told_ = str(Scouted(Path("/r"), Conventions("c", edit=("src/*",)), RepoProfile(places)))
    assert "99.9%  bench/main.c:1 main  (not editable)" in told_ and "at most  2.00x  src/a.c:1 f" in told_


@pytest.mark.sandbox
def test_a_benchmark_that_runs_is_preferred_to_its_helper_and_one_that_only_imports_is_told(tmp_path: Path) -> None:
    bodies = "".join(f"VALUES_{k} = sorted(range({k}, 90000), key=str)\n" for k in range(4))
    files = {
        **PYTHON_FILES,
        "src/shapes/__init__.py": bodies,
        "benchmarks/_harness.py": "import sys\nfrom shapes.area import total\nsys.path.append('.')\ndef run(n): ...\n",
        "benchmarks/bench_none.py": "import shapes.area\nif __name__ == '__main__':\n    shapes.area.total([])\n",
    }
    folder = committed(tmp_path / "shapes", files)
    found = scouted(folder)
    assert found["benchmark"] == "python3 benchmarks/bench_area.py"
    assert "there are other benchmarks, to choose with --benchmark: python3 benchmarks/bench_none.py" in found["notes"]
    little = scouted(folder, "--overwrite", "--benchmark", "python3 benchmarks/bench_none.py")
    notes = " ".join(little["notes"])
    assert "other benchmarks" not in notes
    assert "does little but import them: give one that does a fixed amount of work of 0.1 to 10 s" in notes
    assert "prints nothing on standard output" in notes


@pytest.mark.sandbox
def test_a_benchmark_that_is_too_short_or_lacks_a_module_is_told_with_the_cure(tmp_path: Path) -> None:
    files = {**PYTHON_FILES, "benchmarks/bench_area.py": "import module_of_nobody\nprint(1)\n"}
    folder = committed(tmp_path / "shapes", files)
    lacking = scouted(folder)
    assert any(".venv/bin/pip install -q module_of_nobody' with" in note for note in lacking["notes"])
    assert "No module named 'module_of_nobody'" in lacking["no_profile"] and lacking["seconds"] is None
    short = scouted(folder, "--overwrite", "--benchmark", "printf 1")
    assert any(note.endswith("0.1 to 10 s with --benchmark") and "too short" in note for note in short["notes"])
    missing = scouted(folder, "--overwrite", "--benchmark", "./build/bench")
    assert "finds no program" in missing["no_profile"]


def test_the_function_of_go_around_a_line_is_that_of_its_text() -> None:
    text = "package p\n\nfunc F() {\n}\n\nfunc (t *T[K]) Get(k K) {\n\tx()\n}\nfunc (T) Set() {}\n"
    tree = Tree("/r", {"in/p.go"}, {"in/p.go": text, "q.go": "func lost() {}\n"})
    told = [tree.around("/r/in/p.go", line) for line in (1, 3, 5, 7, 9)]
    assert told == ["", "p.F", "p.F", "p.(*T).Get", "p.T.Set"]
    assert tree.around("/r/q.go", 1) == tree.around("/elsewhere/in/p.go", 3) == ""
    assert tree.of_go("/r/x/../in/p.go", "example.com/p/v2.(*T[go.shape.[]a/b]).Get") == "p.(*T).Get"
    assert tree.of_go("/r/in/p.go", "gopkg.in/p%2ev3.F[...].func1") == "p.F.func1"
    assert tree.of_go("/r/of_others.go", "example.com/p/v2.F[a]") == "v2.F"


def test_the_text_of_a_file_names_code_that_addr2line_calls_by_what_it_was_inlined_in() -> None:
    text = "namespace {\nint f(int n) {\n  return n;\n}\n}\nint g(int n) { return n; }\n"
    tree = Tree("/r", {"a.h", "b.cpp"}, {"a.h": text})
    lost = [("outer(int)", "/r/b/../a.h", 3), ("outer", "/r/b.cpp", 9)]
    assert [one.name for one, _ in places_of(lost, tree)] == ["f", "outer"]
    told = [("n::g(int)", "/r/a.h", 6), ("outer", "/r/b.cpp", 9)]
    assert [one.name for one, _ in places_of(told, tree)] == ["n::g(int)", "outer"]
    assert [tree.around("/r/a.h", line) for line in (1, 2, 4, 5, 6, 7)] == ["", "f", "f", "", "g", ""]


HEADER = """#pragma once
namespace {
inline unsigned stirred(unsigned seed, int count) {
    for (int i = 0; i < count; i++) seed = (seed ^ (seed >> 7)) * 1664525u + 1013904223u;
    return seed;
}
}
"""
OF_HEADER = {
    "include/stir.h": HEADER,
    "tests/bench.cpp": '#include <cstdio>\n#include "../include/stir.h"\n'
    'int main(int argc, char **) {\n    std::printf("%u\\n", stirred(argc, 150000000));\n}\n',
    "Makefile": "bench_stir: tests/bench.cpp include/stir.h\n\tg++ -O2 -g tests/bench.cpp -o bench_stir\n",
}


@pytest.mark.sandbox
def test_a_header_that_is_included_by_the_folder_above_is_of_the_repository(tmp_path: Path) -> None:
    found = scouted(committed(tmp_path / "stir", OF_HEADER))
    top = found["places"][0]
    assert (top["file"], top["name"], top["callers"]) == ("include/stir.h", "stirred", ["main"])
    assert top["share"] > 0.9 and top["editable"] and found["outside"] < 0.1


@pytest.mark.toolchains
@pytest.mark.sandbox
def test_a_function_of_a_module_with_a_version_has_one_name(tmp_path: Path) -> None:
    files = {**GO_FILES, "go.mod": "module example.com/words/v2\n\ngo 1.19\n",
             "words.go": WORDS_GO.replace("func Count", "//go:noinline\nfunc Count"),
             "bench/main.go": MAIN_GO.replace("com/words", "com/words/v2")}  # fmt: skip
    found = scouted(committed(tmp_path / "words", files))
    names = {one["name"] for one in found["places"] if one["file"] == "words.go"}
    assert names == {"words.Count", "words.Spin"}


def test_what_bounds_nothing_is_not_said_while_most_time_has_no_known_place() -> None:
    tree = Tree("/r", {"a.c"}, {"a.c": ""})
    costs = Costs()
    costs.add(Function("a.c", "f"), 3.0, 1)
    costs.add(Function("", "idle"), 97.0, 0)
    found = profile._ranked(costs, "samples", tree)
    assert found.outside is None
    assert "outside" not in str(Scouted(Path("/r"), Conventions("c"), found))
    costs.own[Function("", "idle")] = 0.0
    assert profile._ranked(costs, "samples", tree).outside == 0.0


def test_benchmarks_behind_a_switch_are_built_and_headers_have_the_language_of_their_users() -> None:
    cmake = told({
        "CMakeLists.txt": 'option(FAST_BENCHMARKS "Enable benchmarks" OFF)\noption(BENCH_ALL "all" ON)\n',
        "include/fast/a.h": "", "tests/a.cpp": "", "fuzz/a.c": "", "fuzz/b.c": "",
        "benchmarks/CMakeLists.txt": "include(FetchContent)\nFetchContent_Declare(x)\n"
        "add_executable(bench_a a.cpp)\nadd_executable(bench_b b.cpp)\n", "benchmarks/a.cpp": "",
        "benchmarks/b.cpp": "",
    })  # fmt: skip
    assert " -DFAST_BENCHMARKS=ON && cmake --build build" in cmake.build and "BENCH_ALL" not in cmake.build
    assert (cmake.benchmark, cmake.others) == ("./build/benchmarks/bench_a", ("./build/benchmarks/bench_b",))
    assert (cmake.language, cmake.edit) == ("cpp", ("include/**/*.h",))
    assert "FetchContent_Declare of CMakeLists.txt needs the network" in cmake.notes[0]


def test_switches_of_libraries_of_others_stay_as_they_are() -> None:
    options = (
        'option(BUILD_BENCH "Build benchmarks (slow)" OFF)\noption(X_BENCHMARKS "said \\"so\\"")\n'
        'option(ENABLE_BENCHMARK "on" ON)\noption(BENCHMARK_USE_LIBCXX "Build with it (\\"x\\")." OFF)\n'
        'option(BENCHMARK_BUILD_32_BITS "32 bits" OFF)\n'
    )
    cmake = told({
        "CMakeLists.txt": f"{options}add_executable(bench_a bench/a.c)\n", "a.h": "", "bench/a.c": "",
        "third_party/benchmark/CMakeLists.txt": 'option(BUILD_BENCH_OF_IT "x" OFF)\nadd_executable(bench_it a.c)\n'
        "enable_testing()\n",
    })  # fmt: skip
    assert cmake.build.endswith("-DCMAKE_CXX_FLAGS=-g -DBUILD_BENCH=ON -DX_BENCHMARKS=ON && cmake --build build")
    assert (cmake.benchmark, cmake.others, cmake.tests) == ("./build/bench_a", (), "")


def test_headers_have_the_language_of_sources_that_may_include_them() -> None:
    files = {"CMakeLists.txt": "", "include/a.h": "", "docs/a.js": "", "docs/b.js": "", "x.py": "", "tests/a.cpp": ""}
    assert told(files).language == "cpp"


@pytest.mark.parametrize(
    ("text", "is_chosen"),
    [
        ("print(sum(range(9)))\n", True),
        ("import x\nfor i in range(9):\n    x.f(i)\n", True),
        ("try:\n    import x\nexcept ImportError:\n    x = None\nx = 3\n", False),
        ('"""Words."""\nimport sys\nsys.path.insert(0, ".")\ndef f(): ...\n', False),
        ("def main(): ...\nif __name__ == '__main__':\n    main()\n", True),
        ("(" * 5000, False),
        ("import sys\ndef main(): ...\nsys.exit(main())\n", True),
        ("def main(): ...\nraise SystemExit(main())\n", True),
        ("def main(): ...\ntry:\n    main()\nexcept KeyboardInterrupt:\n    pass\n", True),
        ("from x import run\nr = run()\n", True),
        ("rows = [f(n) for n in range(9)]\n", True),
        (
            "try:\n    import x\nexcept ImportError:\n    raise SystemExit(1)\nimport sys\nif 0:\n    sys.exit(1)\n",
            False,
        ),
        ("import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\n", False),
    ],
)
def test_a_script_is_a_benchmark_if_it_does_something_when_it_is_run(text: str, is_chosen: bool) -> None:
    found = told({"setup.py": "", "a.py": "", "perf_a.py": text, "perf/_more.py": "print()\n"})
    assert found.benchmark == ("python3 perf_a.py" if is_chosen else "")


def test_a_script_that_may_only_define_something_comes_last() -> None:
    files = {"setup.py": "", "a.py": "", "bench_a.py": "rows = make()\n", "perf/b.py": "print(run())\n",
             "bench_c.py": "x = mark()\ndef test_c(benchmark): ...\n"}  # fmt: skip
    found = told(files)
    assert found.benchmark == "python3 perf/b.py"
    assert found.others == ("python3 -m pytest -q bench_c.py --benchmark-only", "python3 bench_a.py")
