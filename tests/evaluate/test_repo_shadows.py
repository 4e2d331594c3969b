"""New files that would be found in the place of a library, and names that decide how tests and builds run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Outcome, Program, RepoSpec
from maxcode.evaluate.repo.admission import _staying
from maxcode.evaluate.repo.allowed import outside, why_protected
from maxcode.evaluate.repo.candidates import ready
from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.evaluate.repo.git import tracked
from maxcode.evaluate.repo.installed import in_place_of_others
from maxcode.evaluate.repo.shadows import strange_packages, taken_of, why_shadows
from maxcode.sandbox.sandbox import Sandbox
from tests.support import repositories as repos
from tests.support.rules import SHORT

EVERY = 'kind = "repo"\nedit = ["**"]\nlanguage = "c"\n'
GTEST = "#pragma once\n#define EXPECT_EQ(a, b) if ((a) != (b)) return 1\n"
SHADOW = "#pragma once\n#include_next <gtest/gtest.h>\n#define SUM_CAREFUL 1\n"
SUM_H = """#pragma once
inline long sum_to(long n) {
    long sum = 0;
    for (volatile long i = 1; i <= n; i++) sum += i;
    return sum;
}
"""
CAREFUL = SUM_H.replace("    long sum = 0;", "#ifdef SUM_CAREFUL\n    long sum = 0;").replace(
    "    return sum;", "    return sum;\n#else\n    return 1;\n#endif"
)
FASTER = '#pragma once\n#include "closed.h"\ninline long sum_to(long n) { return closed(n); }\n'
CLOSED = "#pragma once\ninline long closed(long n) { return n < 0 ? 0 : n * (n + 1) / 2; }\n"
GTEST_FILES = {
    "src/sum.h": SUM_H,
    "tests/check.cpp": '#include <gtest/gtest.h>\n#include "sum.h"\nint main() { EXPECT_EQ(sum_to(4), 10); }\n',
    "bench/run.cpp": '#include "sum.h"\nint main() { return sum_to(100000000) == 0; }\n',
    "Makefile": "all:\n\tg++ -O2 -Isrc -Ideps tests/check.cpp -o check\n\tg++ -O2 -Isrc bench/run.cpp -o run\n",
}
GTEST_TOML = """kind = "repo"
edit = ["src/**"]
build = "make"
tests = "./check"
benchmark = "./run"
setup = "cp -r THIRD deps"
language = "cpp"
"""
ORACLE = "def counted(text):\n    return {w: text.split().count(w) for w in text.split()}\n"
ORACLE_TEST = """import unittest

from oracle.text import counted
from words import count


class TestWords(unittest.TestCase):
    def test_count(self):
        self.assertEqual(count("a b a"), counted("a b a"))


if __name__ == "__main__":
    unittest.main()
"""
ORACLE_FILES = {**repos.PYTHON_FILES, "tests/test_words.py": ORACLE_TEST}
ORACLE_TOML = (
    repos.PYTHON_TOML.replace("bench/run.py", "bench/quiet.py").replace('"{repo}/src"', '"{repo}/src:{repo}/deps"')
    + 'setup = "cp -r THIRD deps"\n'
)
MADE_FILES = {
    **repos.PYTHON_FILES, "tools/perf.py": repos.PYTHON_FILES["bench/quiet.py"],
    "Makefile": "PYTHON = python3\nrun:\n\t@$(PYTHON) tools/perf.py\n",
}  # fmt: skip
MADE_TOML = repos.PYTHON_TOML.replace("python3 bench/run.py", "make run").replace("src/**", "**/*.py")
STUB = "def count(text):\n    return dict.fromkeys(text.split(), 1)\n"
FAST = repos.WORDS.replace(repos.SLOW_LINE, repos.FAST_LINE)


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> RepoEvaluator:
    return RepoEvaluator(sandbox, SHORT, prompts=False)


@pytest.mark.parametrize(
    ("files", "toml", "third", "cheat", "honest", "why"),
    [
        (
            GTEST_FILES, GTEST_TOML, {"gtest/gtest.h": GTEST}, {"src/sum.h": CAREFUL, "src/gtest/gtest.h": SHADOW},
            {"src/sum.h": FASTER, "src/closed.h": CLOSED}, "in the place of others",
        ),
        (
            ORACLE_FILES, ORACLE_TOML, {"oracle/__init__.py": "", "oracle/text.py": ORACLE},
            {
                "src/words/__init__.py": STUB, "src/oracle/__init__.py": "",
                "src/oracle/text.py": "from words import count as counted\n",
            },
            {"src/words/__init__.py": FAST, "src/words/text.py": "x = 1\n"}, "in the place of others",
        ),
        (
            MADE_FILES, MADE_TOML, {}, {"tools/perf.py": "print('took 0.1 s')\n"}, {"src/words/__init__.py": FAST},
            "tools/perf.py (a script of base starts it, and `edit` does not name it in full)",
        ),
    ],
    ids=["header", "module", "script"],
)  # fmt: skip
def test_a_patch_does_not_take_the_place_of_what_tests_use(
    tmp_path: Path,
    evaluator: RepoEvaluator,
    files: Mapping[str, str],
    toml: str,
    third: Mapping[str, str],
    cheat: Mapping[str, str],
    honest: Mapping[str, str],
    why: str,
) -> None:
    repos.write(tmp_path / "third", third)
    problem = repos.problem_of(repos.made(tmp_path / "one", files, toml.replace("THIRD", str(tmp_path / "third"))))
    base = anyio.run(evaluator.base, problem)
    assert any("tools/perf.py must stay" in one for one in base.admitted.notes) == ("tools/perf.py" in files)
    one, found = anyio.run(ready, base, repos.patched(problem, cheat), True)
    assert one is None and found.outcome is Outcome.REJECTED
    assert why in found.feedback.reasons[0]
    one, found = anyio.run(ready, base, repos.patched(problem, honest), True)
    assert one is not None, found.feedback


BASE = {
    "src/words/__init__.py": "import fastlib\nfrom words import tables\n",
    "src/words/tables.py": "x = 1\n",
    "tests/test_words.py": "import scipy.stats as s, parameterized\nfrom google.protobuf import x\n"
    "from words import y\nmod = importlib.import_module('orjson')\n    import lxml; import bs4\n"
    "pytest_plugins = [\n    'replay.plugin',\n]\n",
    "bench/run.py": "try: import viztracer\nexcept ImportError: pass\n",
    "bench/run.cpp": '#include <benchmark/benchmark.h>\n#  include "../src/sum.h"\n#if __has_include(<simd/fast.h>)\n',
    "src/sum.h": "#include <Eigen/Dense>\n#include <vector>\n",
    "src/sum.c": '#include "sum.h"\n',
    "tests/sum.c": '#include "sum.h"\n',
    "src/app.ts": "import { x } from 'left-pad';\nimport { y } from 'util/strings';\n",
    "src/util/strings.ts": "export const y = 1;\n",
    "src/lib/index.js": "exports.x = 1;\n",
    "tests/app.test.ts": "import { expect } from 'chai';\nimport z from \"@scope/fuzz/deep\";\nrequire('assert');\n"
    "const { x } = require('../src/app');\njest.mock(`axios`);\n"
    "import a from 'node:assert';\nimport { test } from 'bun:test';\nimport c from 'npm:yaml';\n",
    "src/main/java/com/acme/Sum.java": "package com.acme;\n\nclass Sum { }\n",
    "test_sums.py": "x = 1\n",
    "perf.c": "int main(void) { return 0; }\n",
    "ci/nested/check_all_test.py": "x = 1\n",
}
COMMANDS = """tests = "python3 -m pytest -p instafail test_sums.py"
benchmark = "gcc perf.c && python3 -m pyinstrument bench/run.py"
"""


def refused(folder: Path, new: Mapping[str, str], base: Mapping[str, str] = BASE) -> str:
    problem = repos.problem_of(repos.made(folder / "base", base, EVERY + COMMANDS))
    spec = problem.spec.repo_spec
    files = tracked(Path(spec.folder), spec.commit)
    _, taken = _staying(problem, files)
    said = outside(list(new), spec, files.keys()) or list(in_place_of_others(list(new), problem, taken, ()))
    return " ".join((*said, *strange_packages(problem.program, repos.patched(problem, new), taken)))


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("scipy/__init__.py", "import scipy"),
        ("src/scipy.py", "import scipy"),
        ("parameterized.py", "import parameterized"),
        ("google/protobuf/more.py", "import google"),
        ("orjson.py", "import orjson"),
        ("lxml/__init__.py", "import lxml"),
        ("src/bs4.pyx", "import bs4"),
        ("replay.py", "import replay"),
        ("viztracer/__init__.py", "import viztracer"),
        ("fastlib.py", "import fastlib"),
        ("words/__init__.py", "import words"),
        ("pyinstrument/__init__.py", "import pyinstrument"),
        ("instafail.py", "import instafail"),
        ("pyperf.py", "a module of Python or of its tools"),
        ("sitecustomize/__init__.py", "a module of Python or of its tools"),
        ("test_sums/__init__.py", "the name of tests"),
        ("pytest_timeout/__init__.py", "the name of tests"),
        ("ci/__init__.py", "below its folder"),
        ("src/evil.egg-info/entry_points.txt", "belongs to the tests"),
        ("src/evil-1.0.dist-info/entry_points.txt", "belongs to the tests"),
        ("src/benchmark.h", "belongs to the tests"),
        ("src/benchmark/benchmark.h", "belongs to the tests"),
        ("src/simd/fast.h", "include simd/fast.h"),
        ("include/sum.h", "include sum.h"),
        ("src/Eigen/Dense", "include Eigen/Dense"),
        ("src/vector", "include vector"),
        ("src/bits/types.h", "bits/types.h is the name of an installed header"),
        ("src/stdc-predef.h", "a standard header"),
        ("src/left-pad.ts", "import left-pad"),
        ("src/chai/index.js", "import chai"),
        ("src/@scope/fuzz.js", "import @scope/fuzz"),
        ("src/axios.js", "import axios"),
        ("src/__mocks__/moment.js", "belongs to the tests"),
        ("src/app.js", "some tools would take it for src/app.ts"),
        ("src/lib.ts", "some tools would take it for src/lib/index.js"),
        ("perf.y", "with another suffix"),
        ("a/" * 300 + "b.py", "more than 500 signs"),
    ],
)
def test_a_new_file_in_the_place_of_a_library_is_refused(tmp_path: Path, path: str, why: str) -> None:
    assert why in refused(tmp_path, {path: ""})


@pytest.mark.parametrize(
    "path",
    [
        "src/words/fast.py",
        "src/words/statistics_of.py", "src/words/scipy.py", "src/words/perf.py",
        "src/fast/__init__.py", "src/protobuf.py",
        "src/words/more/a.py",
        "src/words/stats.py", "src/dense.h", "src/fast/sums.h", "src/simd/faster.h", "src/gtest.cpp", "src/pad.ts",
        "src/assert.js", "src/util/fast.ts", "src/fuzz.js", "src/util/numbers.ts",
        "src/node.ts", "lib/bun.js", "lib/npm.js", "src/app.css", "ci/fast.py",
    ],
)  # fmt: skip
def test_a_new_file_of_a_name_of_its_own_may_be_added(tmp_path: Path, path: str) -> None:
    assert refused(tmp_path, {path: ""}) == ""


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("package org.junit.jupiter.api;\nclass Assertions { }\n", True),
        ("/** Sums. */ package/**/org . junit;\nclass Assertions { }\n", True),
        ("// '\\u000apackage org.junit;\nclass Assertions { }\n", True),
        ("package com.acmetools;\nclass A { }\n", True),
        ("package com.acme;\nclass A { }\n", False),
        ("/* of a package; */\npackage com.acme.fast;\n\n/** In the package org.junit; */\nclass A { }\n", False),
        ("class A { String s = \"package deal\"; }\n", False),
    ],
)  # fmt: skip
def test_a_patch_puts_no_class_into_a_package_of_others(tmp_path: Path, text: str, is_refused: bool) -> None:
    for path in ("src/main/java/com/acme/A.java", "src/main/java/com/acme/Sum.java"):
        assert ("it puts classes into the package" in refused(tmp_path / path, {path: text})) == is_refused


SCALA = {**BASE, "src/Sum.scala": "package com.acme\npackage sums\n\nclass Sum\n", "src/A.kt": "package org.own\n"}


@pytest.mark.parametrize(
    ("path", "text", "is_refused"),
    [
        ("src/A.scala", 'package com.acme\n// of it\npackage fast\n\nobject A { val x = "no package deal" }\n', False),
        ("src/A.scala", "package com.acme.sums\n\npackage object fast {\n}\n", False),
        ("src/A.scala", "/** It's\n * package deal\n */\npackage com.acme\n", False),
        ("src/A.kt", '@file:JvmName("A") package org.own.fast\nval x = "a package deal"\n', False),
        ("src/A.scala", "package sums\nclass A\n", True),
        ("src/A.scala", "package com.acme\nclass B\npackage org.junit { class A }\n", True),
        ("src/A.scala", "class B; package org.junit { class A }\n", True),
        ("src/A.scala", "package com.acme {\n}\npackage org.junit { class A }\n", True),
        ("src/A.scala", "//';package com.acme\npackage org.junit\nclass A\n", True),
        ("src/A.scala", "/*'\npackage com.acme\n*/\npackage org.junit\nclass A\n", True),
        ("src/A.kt", "@file:Suppress package org.junit\nclass A\n", True),
        ("src/A.kt", '@file:JvmName("A")package/**/org.junit\nclass A\n', True),
        ("src/A.kt", "\ufeffpackage org.junit\n", True),
        ("src/A.groovy", "package org.own\npackage junit\n", True),
    ],
)
def test_packages_of_scala_and_kotlin_are_told_too(tmp_path: Path, path: str, text: str, is_refused: bool) -> None:
    assert ("it puts classes into the package" in refused(tmp_path, {path: text}, SCALA)) == is_refused


def test_packages_of_kotlin_are_told_too(tmp_path: Path) -> None:
    assert "the package org.junit" in refused(tmp_path, {"src/main/kotlin/A.kt": "package org.junit\nclass A\n"})


def test_much_text_is_read_in_little_time() -> None:
    signs = (
        "import a,",
        "import ",
        " ",
        "#include <",
        "from 'a",
        "; from ",
        "pytest_plugins\n",
        "package ",
        "xmock(",
        "# ",
    )
    for sign in signs:
        text = sign * (400_000 // len(sign))
        for path in ("a.py", "a.h", "a.js", "a.java", "a.scala"):
            began = time.process_time()
            taken = taken_of({f"tests/{path}": text}, {path: text}, [path], {"make"})
            strange_packages(Program({}), Program({path: text}), taken)
            why_shadows(path, taken)
            assert time.process_time() - began < 2, (sign, path)


@pytest.mark.parametrize(
    "path",
    [
        "jest.config.js", "jest.config.ts", "jest.setup.js", "src/vitest.config.mts", "vitest.workspace.ts",
        "vite.config.ts",
        "vitest.config.unit.ts", "babel.config.cjs", ".babelrc.js", ".babelrc", ".mocharc.js", "ava.config.js",
        "karma.conf.js", "rollup.config.js", "webpack.config.js", "webpack.prod.js", "gulpfile.js", "gulpfile.babel.js",
        "Gruntfile.coffee", "src/setupTests.ts", "tsconfig.build.json", "jest.preset.js", "tasks.py", "dodo.py",
        "fabfile.py", "build.zig", "Package.swift", "mix.exs", "CMakeUserPresets.json", "Makefile.local", "config.mak",
        "settings.gradle.kts", "gradle.properties", "src/.env.test", ".npmrc", ".pnp.cjs", "src/.eslintrc.json",
        "META-INF/services/org.junit.platform.launcher.TestExecutionListener",
        "src/main/resources/junit-platform.properties",
        "asv.conf.json", "src/test-setup.ts", "build.js", ".mvn/jvm.config",
        "justfile", "Taskfile.yml", "Rakefile.rb", "workspace.json", "parcel.config.js",
    ],
)  # fmt: skip
def test_what_configures_tests_and_builds_stays(path: str) -> None:
    assert why_protected(path, RepoSpec("/repo", "0" * 40, ("**",), "./app"))
    assert why_protected(path, RepoSpec("/repo", "0" * 40, ("**", path), "./app")) == ""


@pytest.mark.parametrize(
    "path",
    [
        "src/config.ts", "src/configs.js", "src/words/tasks.py", "lib/build.js", "src/vite.ts", "src/setup.js",
        "src/webpack.js", "src/conf.js", "src/workspace.ts", "src/environment.ts", "src/contest.ts",
        "src/app/workspace.service.ts", "src/parcel.model.ts", "src/justfile.rs", "taskfile/taskfile.go",
    ],
)  # fmt: skip
def test_what_only_sounds_like_it_may_be_changed(path: str) -> None:
    assert why_protected(path, RepoSpec("/repo", "0" * 40, ("**",), "./app")) == ""


def test_an_honest_edit_of_a_configuration_is_told_why() -> None:
    spec = RepoSpec("/repo", "0" * 40, ("src/**",), "node bench.js")
    assert outside(["src/app.config.ts"], spec, ["src/app.config.ts"]) == [
        "src/app.config.ts (a name of this kind configures the build or the tests)"
    ]


def test_a_patch_adds_no_more_files_than_can_be_looked_at() -> None:
    spec, new = RepoSpec("/repo", "0" * 40, ("src/**",), "./app"), [f"src/f{number}.c" for number in range(201)]
    assert outside(new, spec, ["src/a.c"]) == ["201 new files (at most 200)"]
    assert outside(new[1:], spec, ["src/a.c"]) == []
