"""``maxcode scout`` follows Go to its callers, and says which benchmark it chose and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.evaluate.repo import profile
from maxcode.evaluate.repo.own_functions import Costs, Function, Tree
from maxcode.evaluate.repo.profile_readers import places_of
from maxcode.run.scout.conventions import Conventions
from maxcode.run.scout.scouting import Scouted
from tests.run.test_scout import PYTHON_FILES, committed, scouted, told

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
    assert any("go test -run=NONE -bench=. ." in note for note in found["notes"])
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


@pytest.mark.sandbox
def test_a_benchmark_that_runs_is_preferred_to_its_helper_and_one_that_only_imports_is_told(tmp_path: Path) -> None:
    bodies = "".join(f"VALUES_{k} = sorted(range({k}, 90000), key=lambda one: -one % 1001)\n" for k in range(4))
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
    assert any(".venv/bin/pip install module_of_nobody" in note for note in lacking["notes"])
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


@pytest.mark.parametrize(
    ("text", "is_chosen"),
    [
        ("print(sum(range(9)))\n", True),
        ("import x\nfor i in range(9):\n    x.f(i)\n", True),
        ("try:\n    import x\nexcept ImportError:\n    x = None\nx = 3\n", False),
        ('"""Words."""\nimport sys\nsys.path.insert(0, ".")\ndef f(): ...\n', False),
        ("def main(): ...\nif __name__ == '__main__':\n    main()\n", True),
        ("(" * 5000, False),
    ],
)
def test_a_script_is_a_benchmark_if_it_does_something_when_it_is_run(text: str, is_chosen: bool) -> None:
    found = told({"setup.py": "", "a.py": "", "perf_a.py": text, "perf/_more.py": "print()\n"})
    assert found.benchmark == ("python3 perf_a.py" if is_chosen else "")
