"""A new file's name counts only where something looks for it: what was made, packages of base, names used elsewhere."""

from __future__ import annotations

import gc
import io
import tarfile
import time
import weakref
from pathlib import Path

import pytest

from maxcode.core.types import RepoSpec
from maxcode.evaluate.repo.allowed import outside
from maxcode.evaluate.repo.installed import in_place_of_others, names_of
from maxcode.evaluate.repo.shadows import Taken, taken_of, why_shadows
from maxcode.evaluate.repo.started import modules_named, searched_by
from maxcode.sandbox.sandbox import Blob
from tests.support import repositories as repos

EVERY = 'kind = "repo"\nedit = ["**"]\nlanguage = "c"\nbenchmark = "./app"\n'
MADE = [
    ".venv/lib/python3.11/site-packages/attrs_x/__init__.py",
    ".venv/lib/python3.11/site-packages/pybind11/include/pybind11/detail/common.h",
    "build/_deps/g/include/g/port.h",
    "build/_deps/g/include/flat.h",
    "build/_deps/benchmark-src/src/statistics.cc",
    "deps/oracle/text.py",
    "libs/judge.py",
    "top_level.py",
]


def test_what_setup_and_build_made_is_not_replaced(tmp_path: Path) -> None:
    env = 'setup = "pip install --target=./libs judge"\n[env]\nPYTHONPATH = "{repo}/src:{repo}/deps"\n'
    problem = repos.problem_of(repos.made(tmp_path / "base", {"src/a.c": "int a;\n"}, EVERY + env))
    new = ["src/attrs_x.py", "src/g/port.h", "src/flat.h", "src/oracle/__init__.py", "src/judge.py", "src/top_level.py"]
    honest = ["src/attrs.py", "src/ports.h", "src/common.h", "src/statistics.cc", "src/words/oracle.py", "src/text.py"]
    taken = Taken(folders=frozenset({"src", "src/words"}), inside=frozenset({"src/words"}))
    found = [one.split(" (")[0] for one in in_place_of_others([*new, *honest], problem, taken, MADE)]
    assert found == new


def test_names_of_an_archive_do_not_keep_it() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        packed.addfile(tarfile.TarInfo("./src/a.py"))
    blob = Blob.of(out.getvalue())
    known, gone = names_of(blob), weakref.ref(blob)
    assert known == {"src/a.py"}
    assert names_of(Blob.of(out.getvalue())) is known
    del blob
    gc.collect()
    assert gone() is None


def test_words_of_commands_that_are_no_modules_close_no_name() -> None:
    commands = (
        "./bench --backend cache && cmake -B build",
        "pytest -k 'index or search' -p instafail -pfast.plugin",
        "time .venv/bin/viztracer run.py; python3 -X dev -m perf.run",
        "python3 -c 'import judge, numpy as n'",
    )
    named = modules_named(commands, [("PYTEST_PLUGINS", "replay,more"), ("PYTEST_ADDOPTS", "-p xdist"), ("B", "lru")])
    assert {"pytest", "instafail", "fast", "viztracer", "perf", "judge", "numpy", "replay", "more", "xdist"} <= named
    assert not {"cache", "build", "index", "search", "lru", "B", "dev", "bench"} & named


PACKAGE = [
    *("src/pkg/__init__.py", "src/pkg/core.py", "src/pkg/bench/run.py", "tests/common.py", "tests/types.ts"),
    *("src/pkg/bare/deep/__init__.py", "src/pkg/bare/deep/test_a.py"),
]


@pytest.mark.parametrize(
    ("path", "command", "is_inside"),
    [
        ("src/pkg/scipy.py", "pytest src", True),
        ("src/pkg/deep/scipy/__init__.py", "python3 -m pkg", True),
        ("src/scipy.py", "pytest", False),
        ("scipy.py", "pytest", False),
        ("src/pkg/bench/scipy.py", "python3 src/pkg/bench/run.py", False),
        ("src/pkg/scipy.py", "python3 -u src/pkg", False),
        ("src/pkg/bare/scipy.py", "pytest", False),  # where pytest puts the test below it
        ("src/pkg/scipy.py", "python3 -m unittest discover -s src/pkg", False),
        ("src/pkg/scipy.py", "pytest -o pythonpath=src/pkg", False),
        ("src/pkg/scipy.py", "cd src/pkg && pytest", False),
        ("src/pkg/scipy.py", "PYTHONPATH=src/pkg pytest", False),
    ],
)
def test_only_files_in_no_folder_that_python_searches_may_have_any_name(
    path: str, command: str, is_inside: bool
) -> None:
    taken = taken_of({"tests/common.py": "import scipy\n"}, {}, PACKAGE, (), searched_by([command]))
    assert (why_shadows(path, taken) == "") == is_inside


def test_a_package_in_which_tests_find_modules_by_their_names_is_searched() -> None:
    taken = taken_of({"tests/common.py": "import core, scipy\n"}, {}, PACKAGE, ())
    assert why_shadows("src/pkg/scipy.py", taken)


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("src/fast/mod.rs", "tests/common/mod.rs"),
        ("src/lib.rs", "tests/crate/lib.rs"),
        ("src/fast/index.ts", "tests/index.ts"),
        ("src/types.ts", "tests/types.ts"),
        ("fast/doc.go", "tests/doc.go"),
        ("src/pkg/common/__init__.py", "tests/common.py"),
        ("src/pkg/common.py", "tests/common.py"),
    ],
)
def test_a_name_that_tests_have_elsewhere_may_be_used_again(path: str, known: str) -> None:
    spec = RepoSpec("/repo", "0" * 40, ("**",), "./app")
    assert outside([path], spec, ["src/pkg/__init__.py", known]) == []
    assert outside(["src/common.h", "src/common.py"], spec, ["tests/common.h", "tests/common.py"])[1:]


def test_many_paths_are_looked_through_in_little_time() -> None:
    """In less than the known paths took the first time, forty times as many."""
    spec = RepoSpec("/repo", "0" * 40, ("src/**",), "./app")
    known = [f"src/a{number % 90}/b{number}.{'ts' if number % 2 else 'py'}" for number in range(8000)]

    def seconds(letter: str, count: int) -> float:
        new = [f"src/a{number}/{letter}{number}.{'ts' if number % 2 else 'py'}" for number in range(count)]
        began = time.process_time()
        assert outside(new, spec, known) == []
        return time.process_time() - began

    first = seconds("", 0)
    assert min(seconds(letter, 200) for letter in "cde") < 0.7 * first
