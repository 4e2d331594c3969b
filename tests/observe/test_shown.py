"""What a model may ask to see of a repository: parts of the files it changes, and whole sources that it may not."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Observation, Program, Section, State
from maxcode.evaluate.repo.base_text import base_text
from maxcode.llm.completion.shown import shown, wishes
from maxcode.policy.llm import Llm
from maxcode.testing import ScriptedModel
from tests.support import repositories as repos

KEYWORDS = '''"""Words: SQL_REGEX."""
from re import compile as SQL_REGEX_MADE, SQL_REGEX
LIMIT: int = 3

SQL_REGEX = [
    (r"a", 1),

    (r"b", 2),
]
def is_keyword(value):
    return value in SQL_REGEX


class A:
    def run(self):
        return 1


class B:
    def run(self):
        return 2
'''
TABLE = (
    "#define SIZE(n) \\\n    ((n) * LIMIT)\n#define LIMIT 4\nstatic const int table[LIMIT] = {\n    1, 2,\n};\nint x;\n"
)
PROGRAM = Program({"lib/keywords.py": KEYWORDS, "lib/table.c": TABLE})


@pytest.mark.parametrize(
    ("path", "name", "lines"),
    [
        ("lib/keywords.py", "SQL_REGEX", "5 to 9"),
        ("lib/keywords.py", "LIMIT", "3 to 3"),
        ("lib/keywords.py", "is_keyword", "10 to 11"),
        ("lib/keywords.py", "B.run", "20 to 21"),
        ("lib/keywords.py", "B", "19 to 21"),
        ("./lib/keywords.py", "3 - 5", "3 to 5"),
        ("lib/keywords.py", "20-99", "20 to 22"),
        ("lib/table.c", "SIZE", "1 to 2"),
        ("lib/table.c", "table", "4 to 6"),
    ],
)
def test_a_part_is_asked_for_by_its_name_or_its_lines(path: str, name: str, lines: str) -> None:
    [wish] = wishes(f"SHOW {path}:{name}")
    assert shown(PROGRAM, [wish]).startswith(f"{path.removeprefix('./')}, lines {lines}:\n```")


def test_what_is_not_there_is_said_and_a_long_text_says_where_it_is_cut() -> None:
    assert shown(PROGRAM, [("lib/table.c", "900-910")]) == "lib/table.c has only 8 lines"
    assert "defines no function, type or value nothing" in shown(PROGRAM, [("lib/table.c", "nothing")])
    long = shown(Program({"a.c": "int number;\n" * 5000}), [("a.c", "")])
    assert long.startswith("a.c, lines 1 to 2000, cut; it goes on to line 5001:\n")


def test_a_source_of_base_that_may_not_be_changed_is_shown_and_no_other_file(tmp_path: Path) -> None:
    files = {**repos.PYTHON_FILES, "notes.txt": "a secret of nobody\n", "lib/sums.hpp": "int f();\n"}
    toml = repos.made(tmp_path / "words", files, repos.PYTHON_TOML)
    problem = repos.problem_of(toml)
    os.remove(tmp_path / "words/lib/sums.hpp")  # base is what counts, not the work tree
    texts = ["SHOW bench/run.py\nSHOW notes.txt\nSHOW lib/sums.hpp:1-1\n", "SHOW ../../etc/hosts.py", "NO FURTHER GAIN"]
    model = ScriptedModel(write=lambda request: texts[(len(request.messages) - 2) // 2])
    action = anyio.run(Llm(model).propose, Observation((Section("Problem", "p"),), State(problem), 1, 0.5))
    assert action.no_gain
    first, second = (model.asked[-1].messages[at].text for at in (3, 5))
    bench = repos.PYTHON_FILES["bench/run.py"]
    assert f"bench/run.py, lines 1 to {bench.count(chr(10)) + 1}, which may not be changed:\n```\n{bench}" in first
    assert "notes.txt is none of the files" in first and "lib/sums.hpp, lines 1 to 1, which may not" in first
    assert first.endswith("or ask once more with lines `SHOW path` alone.") and second.endswith(
        "nothing more is shown."
    )
    assert "../../etc/hosts.py is none of the files" in second


def test_a_link_and_a_repository_that_is_gone_have_no_texts(tmp_path: Path) -> None:
    folder = tmp_path / "words"
    repos.write(folder, {"a.py": "x = 1\n"})
    (folder / "link.py").symlink_to("/etc/passwd")
    toml = repos.made(folder, repos.PYTHON_FILES, repos.PYTHON_TOML)
    repo = repos.problem_of(toml).spec.repo_spec
    assert [base_text(repo, path) for path in ("a.py", "link.py", "src")] == ["x = 1\n", None, None]
    gone = partial(base_text, type(repo)(str(tmp_path / "gone"), repo.commit, repo.edit, repo.benchmark))
    assert gone("a.py") is None
