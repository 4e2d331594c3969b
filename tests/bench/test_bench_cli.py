"""``maxcode bench`` keeps the command line's contract: a table or JSON, exit statuses, errors with a cure."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import maxcode_here
from tests.support.counting import SLOW

pytestmark = pytest.mark.sandbox

EXAMPLES = Path(__file__).parents[2] / "examples"
POLICY = '''
from maxcode import Action
from maxcode.errors import ProviderError

class Idle:
    """Proposes the program with a comment; for the problem called doomed, its provider is gone."""
    async def propose(self, observation):
        if observation.state.problem.id == "doomed":
            raise ProviderError("429 for an hour; wait, or raise the quota")
        program = observation.state.program
        return Action(program.with_text(f"{program.text}/* {observation.draw} */"))
'''


def maxcode(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "maxcode", "bench", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=cwd)


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("--methods", "best-of-m"), "did you mean 'best-of-n'"),
        (("--methods", ","), "maxcode list methods"),
        (("--without", "critique"), "did you mean 'critiques'?"),
        (("--critic", "llm"), "name one: --critic llm:MODEL"),
        (("--seeds", 0), "give at least 1"),
        (("--budget", 0), "at least 1"),
        (("--policy", "rewritten"), "did you mean 'rewriter'?"),
        (("--csv", "nowhere/rows.csv"), "create it, or name another file"),
        (("nowhere",), "give a source file with --tests, or a folder with problem.toml"),
        ((EXAMPLES / "tight" / "slow.cpp",), "bench takes folders with problem.toml"),
        ((EXAMPLES / "tight" / "problem.toml",), "have the same id 'tight'"),
    ],
)
def test_bad_input_is_one_sentence_with_a_cure_and_leaves_no_run(
    arguments: tuple[object, ...], cure: str, tmp_path: Path
) -> None:
    done = maxcode_here("bench", EXAMPLES / "tight", *arguments, "--out", "out", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert cure in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not list(tmp_path.rglob("run.toml"))


def test_a_bench_with_another_budget_wants_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "bench.toml").write_text("budget = 24\n[problems]\n")
    done = maxcode_here("bench", EXAMPLES / "tight", "--budget", 8, "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "budget was 24, now 8" in done.stderr
    assert "choose another --out" in done.stderr


def adding(folder: Path) -> Path:
    """A problem that is soon timed, and whose original runs far longer than the least that can be timed."""
    (folder / "tests").mkdir(parents=True)
    (folder / "problem.toml").write_text('source = "slow.c"\nstatement = "Adds up 0 to n - 1."\n')
    (folder / "slow.c").write_text(SLOW)
    for number, n in enumerate((10, 1000, 150_000_000, 160_000_000)):
        (folder / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (folder / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return folder


def test_a_provider_that_fails_leaves_its_run_open_and_the_exit_status_says_so(tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    problems = adding(tmp_path / "doomed"), adding(tmp_path / "adding")
    done = maxcode(*problems, "--policy", "policy.py:Idle", "--methods", "best-of-n", "--seeds", 1, "--budget", 1,
                   "--out", "out", "--json", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "out" / "bench.json").read_text())
    assert found["open"] == ["doomed-best-of-n-0"] == [one["cell"] for one in found["failed"]]
    assert "429 for an hour" in found["failed"][0]["error"]
    assert "doomed-best-of-n-0 is unfinished: 429" in done.stderr
    assert "to resume them: maxcode" in done.stderr
    (row,) = found["rows"]
    assert (row["problem"], row["candidates"], row["correct"], row["speedup"]) == ("adding", 1, 1, 1.0)
    assert found["table"]["cells"] == 1


@pytest.mark.slow
def test_a_command_with_fewer_cells_tells_of_all_that_the_folder_holds(tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    problems = [adding(tmp_path / name) for name in ("adding", "doomed")]
    command = ("--policy", "policy.py:Idle", "--methods", "best-of-n", "--budget", 1, "--out", "out")
    maxcode(*problems, *command, "--seeds", 1, cwd=tmp_path)
    less = maxcode(problems[0], *command, "--seeds", 1, cwd=tmp_path)
    assert less.returncode == 0, less.stderr
    there = maxcode("--table-only", "--out", "out", cwd=tmp_path)
    assert less.stdout == there.stdout
    told = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert ([row["problem"] for row in told["rows"]], told["open"]) == (["adding"], ["doomed-best-of-n-0"])
    assert "doomed-best-of-n-0" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 2])
def test_ctrl_c_prints_the_table_so_far_and_how_to_go_on(at_once: int, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(POLICY)
    problems = [adding(tmp_path / name) for name in ("adding", "other", "third")[: at_once + 1]]
    total = len(problems)
    command = [sys.executable, "-m", "maxcode", "bench", *map(str, problems), "--policy", "policy.py:Idle",
               "--methods", "best-of-n", "--seeds", "1", "--budget", "1", "--out", "out",
               "--at-once", str(at_once)]  # fmt: skip
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert running.stderr is not None
    before = []
    for line in running.stderr:  # the last run has begun
        before.append(line)
        if line.startswith(f"{total}/{total}"):
            running.send_signal(signal.SIGINT)
            break
    told, after = running.communicate(timeout=60)
    assert running.returncode == 130, "".join(before) + after
    finished = int(told.split(" problem")[0])
    assert 1 <= finished < total
    assert f"{finished} of {total} runs are finished; to resume: maxcode" in after
    assert "Traceback" not in after
    again = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith(f"{total} problems, {total} runs")
    lines = [line for line in again.stderr.splitlines() if not line.startswith(("waiting for", "waited ", "still at"))]
    assert len(lines) <= 2 * (total - finished) + 1, "what was finished is not run again"


@pytest.mark.slow
def test_two_examples_end_to_end_and_again_from_their_folders(tmp_path: Path) -> None:
    command = (EXAMPLES / "tight", EXAMPLES / "readings", "--methods", "best-of-n,refine", "--seeds", 1, "--budget", 2,
               "--out", "out", "--csv", "rows.csv")  # fmt: skip
    done = maxcode(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 problems, 4 runs")
    assert "4/4 readings-refine-0" in done.stderr
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text().splitlines()))
    assert [(row["problem"], row["method"], row["candidates"]) for row in rows] == [
        ("tight", "best-of-n", "2"),
        ("tight", "refine", "2"),
        ("readings", "best-of-n", "2"),
        ("readings", "refine", "2"),
    ]
    for row in rows:
        result = json.loads((tmp_path / "out" / f"{row['problem']}-{row['method']}-0" / "result.json").read_text())
        assert result["speedup"]["value"] == pytest.approx(float(row["speedup"]))
    again = maxcode(*command, cwd=tmp_path)
    assert again.stdout == done.stdout
    assert "/4" not in again.stderr  # nothing was run
