"""Benchmarks of repositories with a runtime of their own: those of JavaScript and Go start, and hide no work."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.sandbox.sandbox import Sandbox
from tests.support import repositories as repos
from tests.support.rules import SHORT
from tests.support.sandboxed import ATTACKS

pytestmark = pytest.mark.sandbox

SUM_JS = "let sum = 0;\nfor (let i = 0; i < 5e7; i++) sum = (sum * 31 + i) % 1000003;\nconsole.log(sum);\n"
SUM_GO = """package main

import "fmt"

func main() {
	sum := 0
	for i := 0; i < 20000000; i++ {
		sum = (sum*31 + i) % 1000003
	}
	fmt.Println(sum)
}
"""
GO = 'build = "go build -o sum sum.go"\nenv = { GO111MODULE = "off", GOCACHE = "{repo}/.gocache" }\n'
REPOSITORIES = {
    "javascript": ("sum.js", SUM_JS, 'benchmark = "node sum.js"\n'),
    "go": ("sum.go", SUM_GO, f'{GO}benchmark = "./sum"\n'),
}


@pytest.mark.parametrize("language", ["javascript", pytest.param("go", marks=pytest.mark.toolchains)])
def test_a_benchmark_in_another_language_is_admitted(sandbox: Sandbox, tmp_path: Path, language: str) -> None:
    path, text, more = REPOSITORIES[language]
    toml = repos.made(tmp_path / "sum", {path: text}, f'kind = "repo"\nedit = ["{path}"]\n{more}')
    base = anyio.run(RepoEvaluator(sandbox, SHORT).base, repos.problem_of(toml))
    assert base.admitted.timed[0].seconds > 0.02


def test_work_in_a_child_that_nobody_waits_for_is_charged_in_a_repository(sandbox: Sandbox, tmp_path: Path) -> None:
    toml = repos.made(
        tmp_path / "hidden",
        {"hidden.c": (ATTACKS / "hidden.c").read_text()},
        'kind = "repo"\nedit = ["hidden.c"]\nbuild = "gcc -O1 hidden.c -o hidden"\nbenchmark = "./hidden i"\n',
    )
    base = anyio.run(RepoEvaluator(sandbox, SHORT).base, repos.problem_of(toml))
    assert base.admitted.timed[0].seconds >= 0.1
