"""A long admission tells how far it is, and is refused as soon as it cannot end within the cap on seconds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from maxcode.evaluate.ladder.original_runs import OriginalRuns
from maxcode.run.admission import LONG_S, Watch
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
    sleeper(tmp_path, LONG_S + 0.6)
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


SHORT = """#include <stdio.h>
#include <unistd.h>
int main(void) { long n; if (scanf("%ld", &n) != 1) return 1; usleep(500000); printf("%ld\\n", n % 7); return 0; }
"""


@pytest.mark.sandbox
def test_an_admission_that_makes_inputs_larger_says_so_and_at_which_step_it_is(tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text(SHORT)
    (tmp_path / "tests").mkdir()
    for n in (12, 345, 678, 910, 1112):
        (tmp_path / "tests" / f"{n}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{n}.out").write_text(f"{n % 7}\n")
    ran = maxcode(*WORDS, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    told = [line for line in ran.stderr.splitlines() if line.startswith("admission: ")]
    larger = [line for line in told if line.startswith("admission: inputs are made larger: ")]
    steps = [int(line.partition(", step ")[2].split(" of at most 12, ")[0]) for line in larger if ", step " in line]
    assert len(steps) > 2 and steps == sorted(steps) and max(steps) < 12, told
    assert not any("0 s left" in line for line in told), "no count sits at its end"


def test_the_last_run_of_an_admission_is_no_count_at_its_end() -> None:
    runs = OriginalRuns(planned=2, ended=[("a", 6.0), ("b", 6.0)])
    assert (
        Watch(runs=runs)._words(13.0)
        == "admission: the last of about 2 runs of the original, 13 s so far; Ctrl-C stops"
    )
    runs.step = "inputs are made larger: 4 times, step 1 of at most 12"
    assert Watch(runs=runs)._words(14.0) == f"admission: {runs.step}, 14 s so far; Ctrl-C stops"
