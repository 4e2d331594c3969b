"""``maxcode scout`` finds the commands of a repository, profiles its benchmark in the sandbox, and writes a table."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from maxcode.core.types import HotFunction
from maxcode.evaluate.repo.own_functions import Costs, Function, Tree, charged
from maxcode.evaluate.repo.profile import RepoProfile
from maxcode.evaluate.repo.profile_readers import add_stack, of_callgrind, of_cprofile, of_pprof, of_v8
from maxcode.problems import load
from maxcode.run.scout.conventions import Conventions, Texts, conventions, lines_of
from maxcode.run.scout.scouting import Scouted
from tests.support import repositories as repos
from tests.support.cli import maxcode

DOT = """#include "dot.h"
double dot(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
"""
BENCH = """#include <stdio.h>
#include "src/dot.h"
static double a[4096], b[4096];
int main(int argc, char **argv) {
    (void)argv;
    double t = 0;
    for (int i = 0; i < 4096; i++) a[i] = i, b[i] = 4096 - i;
    for (int k = 0; k < (argc > 1 ? 5000 : 100000); k++) { a[k % 4096] += 1; t += dot(a, b, 4096); }
    printf("%.0f\\n", t);
    return 0;
}
"""
MAKE = """CFLAGS = -O2 -g
bench_dot: bench.c src/dot.c src/dot.h
\t$(CC) $(CFLAGS) bench.c src/dot.c -o bench_dot

bench: bench_dot
\t./bench_dot

short: bench_dot
\t./bench_dot short

test: bench_dot
\ttest "$$(./bench_dot | wc -l)" = 1
"""
C_FILES = {
    "Makefile": MAKE,
    "bench.c": BENCH,
    "src/dot.c": DOT,
    "src/dot.h": "double dot(const double *, const double *, int);\n",
}
AREA = """def norm(x):
    return (x * x) ** 0.5


def total(values):
    result = 0.0
    for one in values:
        result += norm(one)
    return result
"""
PYTHON_FILES = {
    "pyproject.toml": '[project]\nname = "shapes"\n',
    "src/shapes/__init__.py": "",
    "src/shapes/area.py": AREA,
    "tests/test_area.py": "import unittest\nfrom shapes.area import total\n",
    "benchmarks/bench_area.py": 'from shapes.area import total\nif __name__ == "__main__":\n'
    "    print(sum(total([float(i - k) for i in range(20000)]) for k in range(10)))\n",
}


def committed(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    repos.git(folder, "init", "-q")
    repos.write(folder, files)
    repos.git(folder, "add", "-A")
    repos.git(folder, "commit", "-q", "-m", "one")
    return folder


def scouted(folder: Path, *options: str) -> dict[str, Any]:
    done = maxcode("scout", folder, "--json", *options)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.sandbox
def test_a_python_repository_is_profiled_by_function_and_the_table_loads(tmp_path: Path) -> None:
    folder = committed(tmp_path / "shapes", PYTHON_FILES)
    found = scouted(folder)
    assert found["benchmark"] == "python3 benchmarks/bench_area.py"
    places = {(one["file"], one["name"]): one for one in found["places"]}
    total, norm = places["src/shapes/area.py", "total"], places["src/shapes/area.py", "norm"]
    assert total["share"] + norm["share"] > 0.5
    assert total["bound"] == pytest.approx(1 / (1 - total["share"] - found["elsewhere"]), abs=0.01)
    assert norm["callers"] == ["total"]
    loaded = load(folder)
    assert loaded.problem.kind == "repo"
    assert set(loaded.problem.program.files) == {"src/shapes/__init__.py", "src/shapes/area.py"}
    again = maxcode("scout", folder)
    assert again.returncode == 2
    assert "is there already; add --overwrite" in again.stderr


@pytest.mark.sandbox
def test_tests_without_their_module_are_run_in_another_way_or_get_a_set_up(tmp_path: Path) -> None:
    test = """# also run by pytest
import unittest

from shapes.area import total

from .values import VALUES


class TestTotal(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(VALUES), 3.0)
"""
    package = {"tests/__init__.py": "", "tests/test_area.py": test, "tests/values.py": "VALUES = [1.0, -2.0]\n"}
    files = {**PYTHON_FILES, **package, "conftest.py": "import module_of_nobody\n"}
    folder = committed(tmp_path / "shapes", files)
    found = scouted(folder)
    assert found["tests"] == "python3 -m unittest discover -s tests -t ."
    assert found["notes"][0].endswith(": the tests run by unittest") and found["setup"] == ""
    given = scouted(folder, "--overwrite", "--tests", "python3 -m module_of_nobody -q")
    assert given["setup"] == "/usr/bin/python3 -m venv .venv && .venv/bin/pip install -q module_of_nobody"
    assert given["tests"] == ".venv/bin/python -m module_of_nobody -q"
    assert "python3 in the sandbox has no module_of_nobody" in given["notes"][0]
    assert "--run-setup runs it now" in given["notes"][0]
    assert given["places"] and load(folder).problem.spec.repo_spec.setup == given["setup"]


@pytest.mark.sandbox
def test_a_c_program_is_sampled_and_a_command_of_several_programs_is_counted(tmp_path: Path) -> None:
    folder = committed(tmp_path / "dots", C_FILES)
    sampled = scouted(folder)
    assert (sampled["build"], sampled["benchmark"]) == ("make bench_dot", "./bench_dot")
    assert "samples" in sampled["profiler"]
    counted = scouted(folder, "--overwrite", "--benchmark", "expr {seed} + 0 && make -s short | cat")
    assert "callgrind" in counted["profiler"]
    for found in (sampled, counted):
        top = found["places"][0]
        assert (top["file"], top["name"], top["callers"]) == ("src/dot.c", "dot", ["main"])
        assert top["share"] > 0.7


@pytest.mark.sandbox
def test_a_node_repository_is_profiled_and_a_failing_build_is_one_sentence(tmp_path: Path) -> None:
    files = {
        "package.json": json.dumps({"scripts": {"bench": "node bench.js", "test": "node --test"}}),
        "lib/sum.js": "exports.sum = (n) => {\n  let s = 0;\n  for (let i = 0; i < n; i++) s = (s * 31 + i) | 0;\n"
        "  return s;\n};\n",
        "bench.js": 'const { sum } = require("./lib/sum.js");\nconsole.log(sum(2e8));\n',
    }
    folder = committed(tmp_path / "sums", files)
    top = scouted(folder)["places"][0]
    assert (top["file"], top["line"]) == ("lib/sum.js", 1)
    broken = scouted(folder, "--overwrite", "--build", "echo no compiler here >&2; exit 3")
    assert broken["places"] == []
    assert broken["no_profile"].endswith("fails in the sandbox: ended with status 3: no compiler here")


@pytest.mark.toolchains
@pytest.mark.sandbox
def test_a_go_repository_is_profiled_by_its_own_tools(tmp_path: Path) -> None:
    files = {
        "go.mod": "module example.com/sums\n\ngo 1.19\n",
        "sums.go": "package sums\n\nfunc Sum(n int) int {\n\ts := 0\n\tfor i := 0; i < n; i++ {\n\t\ts = s*31 + i%7\n"
        "\t}\n\treturn s\n}\n",
        "sums_test.go": 'package sums\n\nimport "testing"\n\nfunc BenchmarkSum(b *testing.B) {\n'
        "\tfor i := 0; i < b.N; i++ {\n\t\tSum(20000000)\n\t}\n}\n",
    }
    found = scouted(committed(tmp_path / "sums", files))
    assert found["benchmark"] == "./bench.test -test.run=NONE -test.bench=. -test.benchtime=20x"
    assert found["build"] == "go build ./... && go test -c -o bench.test ."
    assert (found["places"][0]["file"], found["places"][0]["name"]) == ("sums.go", "sums.Sum")


def told(files: dict[str, str]) -> Conventions:
    found = conventions(Texts(tuple(files), lambda path: files.get(path, "")))
    assert found is not None
    assert len(list(lines_of(found, "."))) <= 15
    assert tomllib.loads("\n".join(lines_of(found, ".")))["kind"] == "repo"
    return found


def test_each_ecosystem_is_read_by_its_conventions() -> None:
    cmake = told({
        "CMakeLists.txt": "project(x)\nenable_testing()\nadd_subdirectory(bench)\n", "src/a.cpp": "",
        "include/a.hpp": "", "bench/CMakeLists.txt": "add_executable(bench_a main.cpp)\n", "bench/main.cpp": "",
    })  # fmt: skip
    assert cmake.benchmark == "./build/bench/bench_a"
    assert cmake.tests == "ctest --test-dir build --output-on-failure"
    assert (cmake.language, cmake.edit) == ("cpp", ("include/**/*.hpp", "src/**/*.cpp"))
    cargo = told({
        "Cargo.toml": '[package]\nname = "x"\n[dev-dependencies]\ncriterion = "0.5"\n', "src/lib.rs": "",
        "benches/speed.rs": "",
    })  # fmt: skip
    assert cargo.benchmark == "cargo bench --offline --bench speed"
    assert cargo.build == "cargo build --release --offline && cargo bench --offline --bench speed --no-run"
    assert "cargo bench repeats its work for a time" in cargo.notes[0]
    assert not cmake.notes
    assert (cargo.setup, cargo.edit) == ("cargo fetch", ("src/**/*.rs",))
    go = told({"go.mod": "module x\n", "a.go": "", "in/b_test.go": "func BenchmarkB(b *testing.B) {\n"})
    assert go.benchmark == "cd in && ../bench.test -test.run=NONE -test.bench=. -test.benchtime=20x"
    assert (go.build, go.env) == (
        "go build ./... && go test -c -o bench.test ./in", {"GOCACHE": "{repo}/.gocache"},
    )  # fmt: skip
    plugin = told(
        {"pyproject.toml": "", "x/a.py": "", "tests/test_bench.py": "import pytest\ndef test_a(benchmark): ..."}
    )
    assert plugin.benchmark == "python3 -m pytest -q tests/test_bench.py --benchmark-only"
    assert plugin.env == {"PYTHONPATH": "{repo}"}
    npm = told({"package.json": '{"scripts": {"bench": "tsx x.ts"}, "devDependencies": {"tsx": "1"}}', "src/a.js": ""})
    assert (npm.benchmark, npm.setup) == ("npm run --silent bench", "npm ci")


def test_what_cannot_be_scouted_is_refused_with_the_cure(tmp_path: Path) -> None:
    plain = committed(tmp_path / "plain", {"notes.txt": "nothing\n"})
    no_benchmark = committed(tmp_path / "without", {
        "Makefile": "all:\n\tcc a.c\n", "a.c": "int main(void) {}\n", "tools/bench_a.c": "int main(void) {}\n",
    })  # fmt: skip
    needs_setup = committed(tmp_path / "needs", {
        "package.json": '{"scripts": {"bench": "node b.js"}, "dependencies": {"x": "1"}}', "src/a.js": "", "b.js": "",
    })  # fmt: skip
    (tmp_path / "bare").mkdir()
    for folder, words in ((plain, "has none of CMakeLists.txt"), (no_benchmark, "tools/bench_a.c may be one"),
                          (tmp_path / "bare", "git init")):  # fmt: skip
        done = maxcode("scout", folder)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    found = scouted(needs_setup)
    assert "setup 'npm ci' was not run; --run-setup" in found["no_profile"]
    assert subprocess.run(["git", "-C", needs_setup, "status", "--porcelain"], capture_output=True, check=True).stdout


MCALL = "/usr/lib/go-1.19/src/runtime/asm_amd64.s runtime.mcall"
_RULE = "-----------+-------------------------------------------------------\n"
_ENDS = (
    "             example.com/m/p.(*T).Run[go.shape.x/y] /r/p/t.go:12\n"
    "             example.com/m/p.Bench /r/p/t.go:40 (inline)\n"
    "             testing.(*B).runN /usr/lib/go-1.19/src/testing/benchmark.go:193\n"
)
TRACES = (
    f"File: a.test\nDuration: 1s, Total samples = 1.25s\n{_RULE}"
    f"     1.20s   runtime.memmove /usr/lib/go-1.19/src/runtime/memmove_amd64.s:123\n{_ENDS}{_RULE}"
    f"      20ms   runtime.mallocgc <unknown>:0\n{_ENDS}{_RULE}"
    f"      30ms   runtime.mcall /usr/lib/go-1.19/src/runtime/asm_amd64.s:448\n{_RULE}"
)


def test_what_a_profiler_wrote_is_read_within_bounds() -> None:
    grind = (
        "fl=/r/a.c\nfn=outer\n3 10\ncfi=/r/b.c\ncfn=inner\ncalls=4 9\n3 400\nfi=/usr/include/x.h\n7 5\n"
        "fe=/r/a.c\n4 1\n\n"
        "fl=/r/b.c\nfn=inner\n9 400\n"
    )
    tree = Tree("/r", ("a.c", "b.c", "m.js", "lib/f.js", "p/t.go", "a.py"))
    found = of_callgrind(grind, tree)
    assert dict(found.own) == {Function("a.c", "outer"): 16, Function("b.c", "inner"): 400}
    assert found.callers[Function("b.c", "inner")] == {Function("a.c", "outer"): 400}
    node = {"nodes": [
        {"id": 1, "callFrame": {"functionName": "main", "url": "file:///r/m.js", "lineNumber": 0}, "children": [2]},
        {"id": 2, "hitCount": 5, "callFrame": {"functionName": "f", "url": "file:///r/lib/f.js", "lineNumber": 3},
         "children": [3]},
        {"id": 3, "hitCount": 2, "callFrame": {"functionName": "sort", "url": "", "lineNumber": -1}},
    ]}  # fmt: skip
    v8 = of_v8({"a": json.dumps(node).encode(), "b": b"{torn"}, tree)
    assert (dict(v8.own), v8.lines) == ({Function("lib/f.js", "f"): 7}, {Function("lib/f.js", "f"): 4})
    pprof = of_pprof(TRACES, tree)
    run, bench = Function("p/t.go", "p.(*T).Run"), Function("p/t.go", "p.Bench")
    assert dict(pprof.own) == {run: pytest.approx(1.22), Function("", "runtime.mcall", MCALL): pytest.approx(0.03)}
    assert pprof.callers[run] == {bench: pytest.approx(1.22)}
    assert pprof.tops == {bench}
    hostile = (
        '[["/r/a.py", 1, "f", "NaN?", []]]\nnot json\n'
        '[["/r/../etc/x.py", 1, "g", 2.0, [["/r/a.py", 3, "main", 2.0]]], ["/r/a.py", 1, "h", 1, [["x"]]]]\n'
    )
    read = of_cprofile(hostile, tree)
    assert [one.file for one in read.own] == ["", "a.py"]
    assert charged(read) == ({Function("a.py", "main"): 2.0, Function("a.py", "h"): 1.0}, 0.0)


def test_code_outside_the_repository_counts_for_its_callers_and_the_rest_is_told() -> None:
    one, two = Function("a.c", "one"), Function("a.c", "two")
    tree_, node, lost = Function("", "insert"), Function("", "malloc"), Function("", "start")
    costs = Costs()
    for function, cost in ((one, 10.0), (tree_, 30.0), (node, 20.0), (lost, 5.0)):
        costs.add(function, cost, 1)
    costs.add_call(tree_, one, 30.0)
    costs.add_call(tree_, two, 10.0)
    costs.add_call(tree_, tree_, 99.0)
    costs.add_call(node, tree_, 20.0)
    paid, uncounted = charged(costs)
    assert paid == pytest.approx({one: 10 + 0.75 * 50, two: 0.25 * 50})
    assert uncounted == 5.0
    costs.add_call(lost, node, 1.0)
    costs.add_call(node, lost, 1e9)
    assert sum(charged(costs)[0].values()) + charged(costs)[1] == pytest.approx(65.0)
    stack = Costs()
    add_stack(stack, [(node, 3), (tree_, 4), (one, 7), (one, 8), (two, 9)], 2.0)
    assert (dict(stack.own), stack.callers) == ({one: 2.0}, {one: {two: 2.0}})


def test_a_function_without_debug_information_is_found_by_its_name_if_one_file_defines_it() -> None:
    texts = {
        "src/a.cpp": "namespace { int f(int n) {\n  return n;\n} }\nint twice() { return 2; }\n",
        "src/b.cpp": "struct S { int insert(int n); };\nint S::insert(int n) { return n; }\n"
        "int twice() { return 2; }\n",
    }
    tree = Tree("/r", (*texts, "bench.cpp"), texts)
    for name, file in (("(anonymous namespace)::f(int)", "src/a.cpp"), ("S::insert(int)", "src/b.cpp"),
                       ("S::insert(int) [clone .isra.0]", "src/b.cpp"), ("twice()", ""), ("main", ""),
                       ("std::set<int>::insert(int)", "")):  # fmt: skip
        assert tree.compiled("??", name).file == file, name
    assert tree.line_of(tree.compiled("??", "S::insert(int)")) == 2
    assert tree.compiled("/usr/include/c++/12/bits/stl_tree.h", "f").file == ""
    assert tree.compiled("/r/src/b.cpp", "std::_Rb_tree<int>::insert", 1933).file == ""
    assert tree.compiled("/r/src/b.cpp", "twice()", 3).file == "src/b.cpp"


SETS = {
    "src/paths.h": "int different(int count, unsigned seed);\n",
    "src/paths.cpp": """#include "paths.h"

#include <map>
#include <set>

int different(int count, unsigned seed) {
    std::set<unsigned> seen;
    std::map<unsigned, int> times;
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        seen.insert(seed >> 10);
        times[seed >> 14]++;
    }
    return static_cast<int>(seen.size() + times.size());
}
""",
    "bench.cpp": '#include <cstdio>\n#include "src/paths.h"\n'
    "int main(int argc, char **) {\n    int sum = 0;\n"
    "    for (unsigned k = 0; k < (argc > 1 ? 4u : 40u); k++) sum += different(20000, k);\n"
    '    std::printf("%d\\n", sum);\n}\n',
    "Makefile": "bench_paths: bench.cpp src/paths.cpp\n\tg++ FLAGS bench.cpp src/paths.cpp -o bench_paths\n",
}


@pytest.mark.sandbox
@pytest.mark.parametrize("flags", ["-O2 -g", "-O0 -g", "-O2"])
def test_the_time_of_containers_counts_for_the_function_that_uses_them(tmp_path: Path, flags: str) -> None:
    files = {**SETS, "Makefile": SETS["Makefile"].replace("FLAGS", flags)}
    found = scouted(committed(tmp_path / "sets", files))
    top = found["places"][0]
    assert (top["file"], top["name"]) == ("src/paths.cpp", "different(int, unsigned int)")
    assert top["share"] > 0.85
    assert top["bound"] == HotFunction("", "", 1, top["share"], uncounted=found["elsewhere"]).bound
    assert "compile with -g" in found["profiler"] or "-g" in flags
    counted = scouted(tmp_path / "sets", "--overwrite", "--benchmark", "./bench_paths short | cat")
    assert "callgrind" in counted["profiler"]
    same = counted["places"][0]
    assert same["file"] == "src/paths.cpp"
    assert same["share"] > (1 - counted["elsewhere"]) * 0.9  # `sh` and `cat` are counted too
    assert counted["elsewhere"] < 0.2


@pytest.mark.parametrize(
    ("share", "bound"), [(0.0, 1.0), (0.5, 2.0), (0.9876, 80.6451612903), (0.9995, 1000.0), (1.0, 1000.0)]
)
def test_a_bound_is_what_is_left_of_the_time_by_amdahl_and_at_most_1000(share: float, bound: float) -> None:
    one = HotFunction("a.c", "f", 1, share)
    assert one.bound == pytest.approx(bound)
    told = json.loads(Scouted(Path("/r"), Conventions("c"), RepoProfile((one,))).as_json())
    assert told["places"][0]["bound"] == one.bound


def test_no_bound_is_told_where_library_code_is_not_counted() -> None:
    assert HotFunction("a.go", "f", 1, 0.5, uncounted=0.01).bound == pytest.approx(1 / 0.49)
    assert HotFunction("a.go", "f", 1, 0.5, uncounted=0.3).bound is None
    profile = RepoProfile((HotFunction("a.go", "f", 1, 0.5, uncounted=0.3),), "samples", 0.3)
    told = str(Scouted(Path("/r"), Conventions("go"), profile))
    assert "at most" not in told
    assert "30% is in other code without a known caller, such as libraries or a garbage" in told
