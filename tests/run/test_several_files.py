"""A program of several files: built with its headers, edited where it spends its time, verified from its run folder."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.support.cli import answer, maxcode
from tests.support.counting import BY_FOUR, LOOP
from tests.support.finished import write_tests

MAIN = """#include <stdio.h>
#include "count.h"
int main(void) { long n; if (scanf("%ld", &n) != 1) return 1; printf("%ld\\n", COUNTED(n)); return 0; }
"""
COUNT = f"""#include <count.h>
long counted(long n) {{
    long sum = 0;
    {LOOP}
    return sum;
}}
"""
POLICY = f"""
from maxcode import Action

class Known:
    async def propose(self, observation):
        program = observation.state.problem.program
        text = program.files[program.name].replace({LOOP!r}, {BY_FOUR!r})
        return Action(program.with_text(text), "by four")
"""


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_hottest_file_is_edited_and_the_certificate_repeats_it(tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "count.h").write_text("#define COUNTED(n) counted(n)\nlong counted(long n);\n")
    (app / "main.c").write_text(MAIN)
    (app / "count.c").write_text(COUNT)
    (tmp_path / "policy.py").write_text(POLICY)
    write_tests(app / "tests")
    (app / "problem.toml").write_text('sources = ["main.c", "count.c"]\n')
    words = ("app", "--include", "include", "--policy", "policy.py:Known", "--method", "best-of-n", "--budget", "1",
             "--out", "run", "--json")  # fmt: skip
    told = answer(maxcode("optimize", *words, cwd=tmp_path))
    assert told["confirmed"], told["notes"]
    assert "of its files count.c is edited" in told["notes"]
    assert tomllib.loads((tmp_path / "run" / "run.toml").read_text())["edit"] == "count.c"
    assert BY_FOUR in (tmp_path / "run" / "best" / "count.c").read_text()
    assert (tmp_path / "run" / "best" / "main.c").read_text() == MAIN
    assert (tmp_path / "run" / "best" / "include" / "count.h").exists()
    assert json.loads((tmp_path / "run" / "certificate.json").read_text())["options"] == {"edit": "count.c"}
    assert answer(maxcode("optimize", *words, cwd=tmp_path))["candidates"] == 1, "the same command takes it up"
    again = maxcode("verify", tmp_path / "run", cwd=app)
    assert again.returncode == 0, again.stderr
