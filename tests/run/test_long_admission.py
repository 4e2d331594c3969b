"""A long admission tells how far it is, and is refused as soon as it cannot end within the cap on seconds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from maxcode.evaluate.ladder.original_runs import OriginalRuns
from maxcode.run.admission import LONG_S
from tests.support.cli import maxcode

SLEEPER = '#include <stdio.h>\n#include <unistd.h>\nint main(void) {{ usleep({}); puts("1"); return 0; }}\n'
WORDS = ("optimize", "slow.c", "--tests", "tests", "--anyway", "--policy", "ask", "--out", "run")


def sleeper(folder: Path, seconds: float) -> None:
    (folder / "slow.c").write_text(SLEEPER.format(int(seconds * 1e6)))
    (folder / "tests").mkdir()
    for name in ("1", "2", "3"):
        (folder / "tests" / f"{name}.in").write_text(f"{name}\n")
        (folder / "tests" / f"{name}.out").write_text("1\n")


def test_the_rest_of_an_admission_is_foreseen_from_the_runs_that_have_ended() -> None:
    runs = OriginalRuns(planned=5, ended=[("a", 50.0), ("b", 70.0)])
    assert (runs.number, runs.run_s, runs.all_s, runs.left_s, runs.longest) == (2, 60.0, 300.0, 180.0, "b")
    assert runs.least_s == 120.0 + 3 * 50.0
    assert OriginalRuns(planned=5, ended=[("a", 50.0)]).least_s == 50.0, "the other tests may be short"
    more = OriginalRuns(planned=1, ended=[("a", 50.0), ("b", 70.0)])
    assert (more.all_s, more.left_s) == (120.0, 0.0), "more runs than planned: none is left"


def test_a_run_that_takes_longer_than_those_before_leaves_the_others_their_time() -> None:
    runs = OriginalRuns(planned=5, ended=[("a", 10.0), ("b", 10.0)])
    with runs.run("c"):
        assert runs.all_s >= 20.0 + 3 * 10.0
        runs._began = time.monotonic() - 25
        assert 65.0 <= runs.all_s < 66.0 and runs.least_s <= runs.all_s


@pytest.mark.sandbox
def test_an_admission_that_cannot_end_within_the_cap_is_refused_with_the_measured_seconds(tmp_path: Path) -> None:
    sleeper(tmp_path, LONG_S + 0.7)
    ran = maxcode(*WORDS, "--max-seconds", "25", cwd=tmp_path)
    assert ran.returncode == 2
    assert "longer than --max-seconds 25: it runs the original about 5 times, and one run takes 6 s" in ran.stderr
    assert "Give --max-seconds 180 or more, or shorter tests" in ran.stderr
    assert not (tmp_path / "run").exists(), "nothing is written"


@pytest.mark.sandbox
def test_a_long_admission_tells_which_run_it_is_at_and_how_to_stop(tmp_path: Path) -> None:
    sleeper(tmp_path, 2.5)
    ran = maxcode(*WORDS, "--max-seconds", "1000", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    told = [line for line in ran.stderr.splitlines() if line.startswith("admission: run ")]
    assert told and all(line.endswith("; Ctrl-C stops") for line in told)
    assert any("of about 5, " in line and "s each, about " in line and " s left" in line for line in told), told
