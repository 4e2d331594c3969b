"""From the command line: a data set that is not here is one message and exit status 2; what is left out is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Done, maxcode_here
from tests.support.pie_help import newer, write_split, write_tests

pytestmark = pytest.mark.sandbox


def maxcode(*arguments: object, cwd: Path, **environment: str) -> Done:
    with pytest.MonkeyPatch.context() as patched:
        for name in ("MAXCODE_PIE", "MAXCODE_POLYBENCH"):
            patched.delenv(name, raising=False)
        return maxcode_here(*arguments, cwd=cwd, **environment)


@pytest.mark.parametrize(
    ("name", "where", "layout"),
    [
        ("pie:test", "https://github.com/LearningOpt/pie", "tests/PROBLEM_ID/input.K.txt and output.K.txt"),
        ("polybench:gemm", "https://sourceforge.net/projects/polybench", "linear-algebra/blas/gemm/gemm.c and gemm.h"),
        ("kernelbench:1", "git clone https://github.com/ScalingIntelligence/KernelBench", "KernelBench/level1/*.py"),
        ("folder:gone", "there is no folder 'gone'", "with a folder that contains problems"),
    ],
)
@pytest.mark.parametrize("verb", [("problems", "list"), ("bench",)], ids=["list", "bench"])
def test_a_data_set_that_is_not_here_is_one_message_and_exit_status_2(
    tmp_path: Path, verb: tuple[str, ...], name: str, where: str, layout: str
) -> None:
    (tmp_path / "suite.toml").write_text(f'[[problems]]\nsource = "{name}"\n')
    for source in (name, "suite.toml"):
        done = maxcode(*verb, source, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stdout == ""
        assert where in done.stderr
        assert layout in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_what_a_suite_cannot_use_is_said_before_a_bench_begins(tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_split(data, "test", [newer(1, tests=[99])])
    write_tests(data / "tests", "p00002", {1: 2})
    done = maxcode("bench", "pie:test", cwd=tmp_path, MAXCODE_PIE=str(data))
    assert "left out: pie:test/p00002/s1-s1001" in done.stderr
    assert f"{data / 'test.jsonl'}, line 1" in done.stderr
    assert done.returncode == 2
    assert "no problem can be run" in done.stderr
