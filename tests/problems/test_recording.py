"""Recording the calls of a Python function: the user's code sees nothing of it, and what cannot be recorded is told."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from maxcode.cli import cli
from maxcode.errors import InputError
from maxcode.problems import load
from maxcode.problems.recording.capture import Captured, capture

SYSTEM = "/usr/bin/python3"
LAZYKIT = """
import functools
from dataclasses import dataclass


def pairs(values):
    if values == "bad":
        raise_later = yield 0
        raise ValueError(raise_later)
    for one in values:
        yield one, one + 1


def total(values):
    return sum(values)


@functools.lru_cache
def square(x):
    return x * x


def halves(n):
    return (n // 2 for _ in [0]), n - n // 2


class Scale:
    def __init__(self, factor=2):
        self.factor = factor

    def of(self, x):
        return [x * self.factor]

    def __call__(self, x):
        return self.of(x)


class Halved(Scale):
    pass


def size(thing):
    return abs(thing if isinstance(thing, int) else thing.x)
"""
TESTS = """
import itertools
import os

import lazykit
from helpers import Point

endless = lazykit.pairs(itertools.count())
assert [next(endless), next(endless)] == [(0, 1), (1, 2)]
left = lazykit.pairs([1, 2, 3])
assert next(left) == (1, 2)
del left
bad = lazykit.pairs("bad")
assert next(bad) == 0
try:
    bad.send("sent")
except ValueError as error:
    assert str(error) == "sent"
for n in range(6):
    assert list(lazykit.pairs([n, n])) == [(n, n + 1), (n, n + 1)]
    assert lazykit.total(iter([1, n])) == 1 + n and lazykit.total([2, n]) == 2 + n
    assert lazykit.square(n) == lazykit.square(n)
    assert sum(lazykit.halves(n)[0]) == n // 2
    assert lazykit.size(n - 3) == lazykit.size(Point(n - 3))
    assert lazykit.Scale().of(n) == lazykit.Scale()(n) == [2 * n] and lazykit.Scale(n).of(2) == [2 * n]
    assert lazykit.Halved(1).of(n) == [n]
assert lazykit.square.cache_info().hits == 6
lazykit.square.cache_clear()
assert os.environ["WORDS"] == "a b"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "lazykit.py").write_text(LAZYKIT)
    (folder / "helpers.py").write_text("from dataclasses import dataclass\n\n\n@dataclass\nclass Point:\n    x: int\n")
    (folder / "tests.py").write_text(TESTS)
    (folder / "unpacked" / "kit").mkdir(parents=True)
    (folder / "unpacked" / "kit" / "__init__.py").write_text(
        "from .more import twice\n\n\ndef four(x):\n    return twice(twice(x))\n"
    )
    (folder / "unpacked" / "kit" / "more.py").write_text("def twice(x):\n    return x + x\n")
    (folder / "unpacked" / "kit" / "kit.py").write_text(
        "import random\n\nfrom kit.random import more\n\n\ndef eight(x):\n    random.seed(x)\n"
        "    return more(x + x) * 4\n"
    )
    (folder / "unpacked" / "kit" / "random.py").write_text("import random\n\n\ndef more(x):\n    return x\n")
    (folder / "unpacked" / "kit" / "tests").mkdir()
    for name in ("tests/__init__.py", "tests/held.py", "test_kit.py", "conftest.py"):
        (folder / "unpacked" / "kit" / name).write_text("HELD_OUT = 16\n")
    (folder / "unpacked" / "tests.py").write_text(
        "import kit\nimport kit.kit\nimport kit.random\n\nassert [kit.four(n) for n in range(5)][4] == 16\n"
        "assert [kit.kit.eight(n) for n in range(5)] == [8 * kit.random.more(n) for n in range(5)]\n"
    )
    return folder


def recorded(project: Path, name: str, python: str = SYSTEM) -> Captured:
    command = f"WORDS='a b' {python} {shlex.quote(str(project / 'tests.py'))}"
    return anyio.run(capture, command, f"lazykit:{name}", project / name)


@pytest.mark.sandbox
def test_iterators_are_handed_on_item_by_item_and_recorded_where_they_are_used_to_their_end(project: Path) -> None:
    found = recorded(project, "pairs")
    assert (found.status, found.made, found.kept) == (0, 6, 6)
    assert found.refused == {
        "a itertools.count (an iterator, which writing down would use up)": 1,
        "an iterator that is not used to its end, or fails": 1,
        "an iterator that is sent values, or has too many items": 1,
    }


@pytest.mark.sandbox
def test_an_iterator_among_the_arguments_or_in_the_result_is_not_used_up(project: Path) -> None:
    found = recorded(project, "total")
    assert (found.status, found.kept, [*found.refused.values()]) == (0, 6, [6])
    with pytest.raises(InputError, match=r"0 usable calls .*6 calls could not be recorded: a builtins.generator"):
        recorded(project, "halves")


@pytest.mark.sandbox
def test_the_calls_of_a_method_are_recorded_where_an_object_without_arguments_gives_the_same(project: Path) -> None:
    found = recorded(project, "Scale.of")
    assert (found.status, found.made, found.kept, found.changed) == (0, 18, 6, 5)
    assert recorded(project, "Scale.__call__").kept == 6
    assert load(project / "Scale.of").problem.spec.python_spec.function == "lazykit:Scale.of"


@pytest.mark.sandbox
def test_what_a_function_has_beside_its_calls_stays(project: Path) -> None:
    found = recorded(project, "square")
    assert (found.status, found.made, found.kept) == (0, 12, 6)


@pytest.mark.sandbox
def test_calls_that_cannot_be_made_in_the_sandbox_are_left_out_and_told(project: Path) -> None:
    found = recorded(project, "size")
    assert (found.kept, found.changed) == (6, 0)
    assert found.notes == ("6 calls cannot be made in the sandbox: ModuleNotFoundError: No module named 'helpers'",)


@pytest.mark.sandbox
def test_an_agent_reads_what_was_recorded_as_json(project: Path, tmp_path: Path) -> None:
    command = f"WORDS='a b' {SYSTEM} {shlex.quote(str(project / 'tests.py'))}"
    words = ["capture", command, "--function", "lazykit:square", "--out", str(tmp_path / "square"), "--json"]
    found = json.loads(CliRunner().invoke(cli, words, standalone_mode=False).stdout)
    assert found == {"problem": str(tmp_path / "square"), "calls": {"made": 12, "kept": 6}, "notes": []}


@pytest.mark.sandbox
def test_the_modules_beside_a_function_of_a_package_itself_are_taken_along_without_tests(project: Path) -> None:
    command = f"{SYSTEM} {shlex.quote(str(project / 'unpacked' / 'tests.py'))}"
    found = anyio.run(capture, command, "kit:four", project / "four")
    assert found.kept == 5
    assert sorted(name for name, _ in load(project / "four").problem.spec.python_spec.beside) == [
        "kit/__init__.py",
        "kit/kit.py",
        "kit/more.py",
        "kit/random.py",
    ]


@pytest.mark.sandbox
@pytest.mark.parametrize(("function", "kept"), [("kit.kit:eight", 5), ("kit.random:more", 7)])
def test_the_file_of_a_module_hides_no_other_module(function: str, kept: int, project: Path) -> None:
    command = f"{SYSTEM} {shlex.quote(str(project / 'unpacked' / 'tests.py'))}"
    assert anyio.run(capture, command, function, project / function).kept == kept


@pytest.mark.parametrize(
    ("command", "target", "words"),
    [
        ("true", "lazykit:total", "started no Python that records"),
        (
            f"{SYSTEM} -I -c pass",
            "lazykit:total",
            "started no Python that records: PYTHONPATH and MAXCODE_CAPTURE must",
        ),
        (f"{SYSTEM} -c pass", "lazykit:total", "never imported lazykit with a function total"),
        (
            f"{SYSTEM} -c 'import statistics'",
            "statistics:NormalDist",
            "no function or method NormalDist .a class is none",
        ),
        (f"{SYSTEM} -c 'import statistics'", "statistics:NormalDist.half", "no function or method NormalDist.half"),
        (f"{SYSTEM} -c pass", "lazykit:Kit.total.more", "write package.module:name"),
        ("cd tests && pytest", "lazykit:total", "without a shell; for `cd`"),
        ("A=1", "lazykit:total", "cannot be started"),
    ],
)
def test_a_command_that_records_nothing_is_told_why(command: str, target: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        anyio.run(capture, command, target, tmp_path / "problem")


def test_the_sitecustomize_of_the_environment_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os\nos.environ['OWN'] = 'yes'\n")
    command = f"PYTHONPATH={shlex.quote(str(tmp_path))} {SYSTEM} -c 'import os; assert os.environ[\"OWN\"]'"
    with pytest.raises(InputError, match=r"never imported lazykit .*status 0"):
        anyio.run(capture, command, "lazykit:total", tmp_path / "problem")


@pytest.mark.sandbox
def test_a_python_that_the_sandbox_does_not_have_is_told(project: Path, tmp_path: Path) -> None:
    base = Path(sys.base_prefix, "bin", "python3")
    command = f"WORDS='a b' {base} {shlex.quote(str(project / 'tests.py'))}"
    found = anyio.run(capture, command, "lazykit:total", tmp_path / "total")
    is_system = base.resolve().is_relative_to("/usr/bin")
    assert is_system or found.notes[-1].startswith(f"{base} is in no virtual environment, so the sandbox has")
