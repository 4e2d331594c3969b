"""``maxcode race`` on a git repository of its own: verdicts, refusals, proof that the change ran, and cleaning up."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from maxcode.bench.versions.pairs_so_far import times_for
from maxcode.bench.versions.result import RaceRow, VersionsRaced
from maxcode.core.types import Clock, Interval
from maxcode.sandbox.toolchain import cache_root
from tests.support.cli import ROOT, maxcode, maxcode_here
from tests.support.races import COMMAND, TRUST, WORK, commit, git


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tags: fast, slow (more work), docs (slow with another text file), broken (does not run)."""
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    commit(folder, "work.py", WORK.format(20_000), "fast")
    commit(folder, "work.py", WORK.format(400_000), "slow")
    commit(folder, "notes.txt", "words\n", "docs")
    commit(folder, "work.py", "raise SystemExit('it is broken')\n", "broken")
    git(folder, "checkout", "-q", "slow")
    return folder


@pytest.mark.sandbox
def test_a_slower_head_is_found_in_the_sandbox_with_its_control_and_the_files_it_opened(repository: Path) -> None:
    done = maxcode("race", "fast", "slow", "--fail-on", "slower:2%", "--json", *COMMAND, cwd=repository)
    found = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    assert found["verdict"] == "slower"
    assert found["ratio"]["high"] < min(1, found["control"]["low"])
    assert found["exercise"] == {"changed": 1, "base": ["work.py"], "head": ["work.py"], "why_not": ""}
    assert not found["protection"].startswith("none")
    assert git(repository, "worktree", "list").count("\n") == 1


@pytest.mark.heavy
def test_a_faster_head_without_a_sandbox_says_so_in_words_and_in_markdown(repository: Path, tmp_path: Path) -> None:
    page = tmp_path / "race.md"
    words = ("race", TRUST, "--fail-on", "slower,undecided", "--markdown", page, "slow", "fast", *COMMAND)
    done = maxcode(*words, cwd=repository)
    assert done.returncode == 0, done.stderr
    assert "verdict    head is faster" in done.stdout
    assert "none: both sides are trusted" in done.stdout
    assert "head is faster" in page.read_text() and "both sides are trusted" in page.read_text()


@pytest.mark.heavy
def test_a_change_that_the_command_does_not_use_is_not_exercised(repository: Path) -> None:
    done = maxcode("race", TRUST, "slow", "docs", "--fail-on", "not-exercised", *COMMAND, cwd=repository)
    assert done.returncode == 1
    assert "not exercised" in done.stdout
    assert "none of 1 changed files was opened" in done.stdout


@pytest.mark.heavy
def test_a_benchmark_that_differs_itself_is_named(tmp_path: Path) -> None:
    for side, count in (("one", 20_000), ("two", 200_000)):
        (tmp_path / side / "src").mkdir(parents=True)
        (tmp_path / side / "bench_all.py").write_text(WORK.format(count))
        (tmp_path / side / "src" / "work.py").write_text(f"# {side}\n")
    done = maxcode(
        "race", "one", "two", TRUST, "--pairs", "9", "--", "/usr/bin/python3", "-I", "bench_all.py", cwd=tmp_path
    )
    assert "the benchmark itself differs (bench_all.py)" in done.stdout


@pytest.mark.heavy
def test_another_output_is_wrong_and_not_timed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    done = maxcode("race", TRUST, "--same-output", "--json", "one", "two", "--", "cat", "{}", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["verdict"], found["pairs"]) == ("wrong", 0)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("slow", "nosuch", *COMMAND), "nosuch is no file, no folder and no revision"),
        (("slow", "slow", *COMMAND), "--same-sides"),
        (("slow", "broken", *COMMAND), "it is broken; make the command work on both sides"),
        (("fast", "slow", "--", "nosuchprogram"), "cannot be started"),
        (("fast", "slow", "--build", "exit 3", *COMMAND), "--build 'exit 3' fails on fast"),
        (("fast", "slow", "--setup", "exit 3", *COMMAND), "--setup 'exit 3' fails on fast"),
        (("fast", "slow", "--max-seconds", "2", "--", "sleep", "9"), "give a smaller workload"),
        (("fast", "slow", "--read", "go", *COMMAND), "check the command and --read"),
        (("fast", "slow", "--read", "go", "--goal", "instructions", *COMMAND), "leave one of them out"),
        (("fast", "slow", "--pairs", "5", *COMMAND), "give at least 9"),
        (("fast", "slow"), "maxcode race BASE HEAD -- COMMAND"),
        (("--base", "true"), "--base and --head go together"),
        (("fast", "work.py", *COMMAND), "write {} in its place"),
        (("fast", "slow", "--margin", "lots", *COMMAND), "e.g. 2%"),
        (("fast", "slow", "--fail-on", "slow", *COMMAND), "slower"),
        (("fast", "slow", "--fail-on", "wrong", *COMMAND), "needs --same-output"),
        (("fast", "slow", "--fail-on", "slower:1", *COMMAND), "can mean 100% or 1%"),
        (("fast", "slow", "--margin", "0.5", *COMMAND), "can mean 50% or 0.5%"),
        (("fast", "slow", "--stdin", "nosuch", *COMMAND), "cannot read --stdin nosuch; correct its name"),
    ],
)
def test_bad_input_gets_one_sentence_with_its_cure(repository: Path, words: tuple[str, ...], cure: str) -> None:
    done = maxcode_here("race", TRUST, *words, cwd=repository)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith(("maxcode: ", "Error: "))]
    assert len(said) == 1 and cure in done.stderr
    assert git(repository, "worktree", "list").count("\n") == 1


def test_a_race_of_revisions_starts_in_the_root(repository: Path) -> None:
    (repository / "below").mkdir(exist_ok=True)
    done = maxcode_here("race", TRUST, "fast", "slow", *COMMAND, cwd=repository / "below")
    assert done.returncode == 2
    assert "start the race in that folder" in done.stderr


@pytest.mark.heavy
def test_changes_that_are_in_no_revision_are_told(repository: Path) -> None:
    (repository / "work.py").write_text(WORK.format(400_000) + "# edited\n")
    try:
        done = maxcode_here("race", TRUST, "slow", "docs", *COMMAND, cwd=repository)
    finally:
        git(repository, "checkout", "-q", "work.py")
    assert "changes in 1 files" in done.stdout


@pytest.mark.heavy
def test_worktrees_of_a_killed_race_are_removed_by_the_next(repository: Path) -> None:
    command = [sys.executable, "-m", "maxcode", "race", TRUST, "fast", "slow", "--", "sleep", "5"]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as race:
        assert race.stderr is not None and b"first run" in race.stderr.readline()
        race.send_signal(signal.SIGKILL)
    assert git(repository, "worktree", "list").count("\n") == 4
    maxcode_here("race", TRUST, "slow", "slow", *COMMAND, cwd=repository)
    assert git(repository, "worktree", "list").count("\n") == 1
    assert not [path for path in (cache_root() / "races").glob("*/repository") if read(path) == str(repository)]


def read(path: Path) -> str:
    """A file of a race that may end meanwhile."""
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


@pytest.mark.heavy
def test_a_daemon_is_charged_and_killed_without_a_sandbox(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    busy = "while time.process_time() < 0.2: pass"
    daemon = f"import os, time\n{busy}\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(99)"
    hidden = f'setsid /usr/bin/python3 -I -c "{daemon}" & while [ ! -s {pid} ]; do sleep 0.1; done'
    request = {
        "words": ["sh", "-c", hidden], "folder": str(tmp_path), "wall_s": 30, "out": str(tmp_path / "out"),
        "err": str(tmp_path / "err"), "stdin": "/dev/null", "most": 1 << 20,
    }  # fmt: skip
    holder = [sys.executable, "-I", str(ROOT / "src" / "maxcode" / "bench" / "versions" / "holder.py")]
    with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        print(json.dumps(request), file=process.stdin, flush=True)
        done = json.loads(process.stdout.readline())
        process.stdin.close()
    assert done["trouble"] == "" and done["cpu_s"] > 0.1
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.heavy
def test_a_command_ends_when_the_race_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = [
        sys.executable,
        "-m",
        "maxcode",
        "race",
        TRUST,
        "--base",
        f"echo $$ > {pid}; exec sleep 60",
        "--head",
        "true",
    ]
    with subprocess.Popen(
        [*command, "--max-seconds", "3600"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as race:
        while not (pid.exists() and pid.read_text().endswith("\n")):
            assert race.poll() is None
            time.sleep(0.05)
        race.kill()
    for _ in range(100):
        try:
            os.kill(int(pid.read_text()), 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the command runs on")


NOISE = """import random, sys
for row in range(40):
    slow = 1.2 if sys.argv[1] == "slow" and row == 7 else 1.0
    print(f"METRIC row{row}={slow * random.lognormvariate(0, 0.004)}")
"""


def suite(tmp_path: Path, head: str) -> dict[str, object]:
    """A race of a suite of 40 rows, whose values are drawn and not timed."""
    (tmp_path / "suite.py").write_text(NOISE)
    run = "/usr/bin/python3 -I suite.py "
    words = (
        "race",
        TRUST,
        "--read",
        "metric",
        "--pairs",
        "40",
        "--base",
        run + "base",
        "--head",
        run + head,
        "--same-sides",
    )
    done = maxcode(*words, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return {row["name"]: row["verdict"] for row in json.loads(done.stdout)["rows"]}


@pytest.mark.heavy
def test_of_a_suite_only_the_row_that_changed_is_flagged(tmp_path: Path) -> None:
    found = suite(tmp_path, "slow")
    assert len(found) == 40
    assert [name for name, word in found.items() if word in ("faster", "slower")] == ["row7"]


@pytest.mark.sandbox
def test_a_folder_that_the_sandbox_would_hide_is_refused(repository: Path, tmp_path: Path) -> None:
    done = maxcode_here("race", "--show", "/tmp", "fast", "slow", *COMMAND, cwd=repository)
    assert done.returncode == 2
    assert "the sandbox has its own /tmp" in done.stderr


@pytest.mark.sandbox
@pytest.mark.parametrize("tier", ["1", "2"])
def test_a_build_and_a_file_of_results_work_in_each_tier(repository: Path, tier: str) -> None:
    bench = 'echo BenchmarkX 10 "$(cat ns)" ns/op > /tmp/rows'
    done = maxcode(
        *("race", "--sandbox", tier, "--build", "wc -c < work.py > ns", "--read", "go:/tmp/rows"),
        *("--same-sides", "--json", "slow", "broken", "--", "sh", "-c", bench), cwd=repository,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(row["name"], row["verdict"]) for row in found["rows"]] == [("BenchmarkX", "faster")]
    assert found["exercise"]["head"] == ["ns"]


def test_a_kept_race_has_its_figures_a_summary_and_the_command_that_repeats_it(
    repository: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    words = ("race", TRUST, "--out", kept, "slow", "--json", "fast", *COMMAND)
    done = maxcode(*words, cwd=repository)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert json.loads((kept / "race.json").read_text()) == found
    commits = [git(repository, "rev-parse", tag)[:12] for tag in ("slow", "fast")]
    again = (kept / "repeat.sh").read_text().splitlines()[1]
    assert again == (
        f"cd {repository} && maxcode race {TRUST} {commits[0]} --json {commits[1]} -- /usr/bin/python3 -I work.py"
    )
    summary = (kept / "summary.md").read_text()
    assert summary.startswith("### maxcode race: head is faster") and again in summary
    shell = again.replace("maxcode", f"{sys.executable} -m maxcode")
    repeated = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(repeated.stdout)["verdict"] == found["verdict"] == "faster"
    refused = maxcode_here(*words, cwd=repository)
    assert refused.returncode == 2 and f"{kept} holds a race already; choose another --out" in refused.stderr


@pytest.mark.parametrize(
    ("read", "goal", "words", "amount"),
    [
        ("", "cpu", "CPU time", "2 s"),
        ("", "instructions", "instructions", "2"),
        ("go", "cpu", "time as go says", "2 s"),
        ("google", "wall", "wall time as google says", "2 s"),
        ("metric", "cpu", "values as metric says", "2"),
    ],
)
def test_figures_have_the_name_of_what_they_are(read: str, goal: Clock, words: str, amount: str) -> None:
    ratio = Interval(1.0, 0.99, 1.01)
    found = VersionsRaced("no change", "main", "head", "", goal, 0.02, 0.01, 0.01, 9, "none", ratio=ratio,
                          rows=(RaceRow("a", "no change", ratio, 2.0, 2.0),), read=read)  # fmt: skip
    assert f"base over head, {words}, 9 pairs" in str(found) and f"head `head`, {words}, 9 pairs" in found.markdown()
    assert f"| a | {amount} | {amount} | " in found.markdown()
    assert ("time" in found.sentence()) == ("time" in found.markdown()) == amount.endswith("s")


def test_what_a_side_calls_its_benchmarks_stays_text_in_markdown() -> None:
    ratio = Interval(1.0, 0.99, 1.01)
    row = RaceRow("<img src=x>|@all #1 `", "no change", ratio, 1.0, 1.0)
    found = VersionsRaced(
        "no change", "main", "a`b|c", "", "cpu", 0.02, 0.01, 0.01, 9, "none", ratio=ratio, control=ratio, rows=(row,)
    )
    shown = found.markdown()
    assert (
        "| &#60;img src=x&#62;&#124;&#64;all &#35;1 &#96; | 1 s | 1 s | +0.0 % time [-1.0, +1.0] | no change |" in shown
    )
    assert "head `a'b/c`" in shown
    assert shown.startswith("### maxcode race: no change above 2 % (+0.0 % time")


ALTERNATES = """import pathlib, sys
counted = pathlib.Path("counted")
count = len(counted.read_bytes()) if counted.exists() else 0
counted.write_bytes(b"." * (count + 1))
print(f"METRIC row={sys.argv[1 + count % 2]}")
"""


@pytest.mark.parametrize(
    ("values", "words"), [("1.0 1.1", "more work, or a larger --margin"), ("1.04 1.06", "--pairs 91")]
)
def test_an_undecided_race_says_how_many_pairs_would_decide_it(tmp_path: Path, values: str, words: str) -> None:
    """The values are given, and head wins every second pair: nothing is decided."""
    (tmp_path / "alternates.py").write_text(ALTERNATES)
    sides = ("--base", "echo METRIC row=1.05", "--head", f"/usr/bin/python3 -I alternates.py {values}")
    options = ("--read", "metric", "--same-sides", "--pairs", "9", "--margin", "0.3%", "--json")
    found = json.loads(maxcode("race", TRUST, *options, *sides, cwd=tmp_path).stdout)
    assert (found["verdict"], found["doubt"]) == ("undecided", False)
    (cure,) = (note for note in found["notes"] if "decide" in note)
    assert words in cure


@pytest.mark.parametrize(
    ("base", "head", "doubt", "said"),
    [
        ("a=2 b=2", "a=1", True, "head lacks results of b, which base has in every run"),
        ("a=2", "a=1 b=2", False, "not judged, since not every run has a result: b"),
    ],
    ids=["left_out", "honest_new"],
)
def test_a_benchmark_that_head_leaves_out_is_a_doubt_and_a_new_one_is_not(
    tmp_path: Path, base: str, head: str, doubt: bool, said: str
) -> None:
    sides = ["--base", echoed(base), "--head", echoed(head)]
    options = (
        "--read",
        "metric",
        "--same-sides",
        "--pairs",
        "9",
        "--fail-on",
        "slower,undecided,doubt",
        "--json",
    )
    done = maxcode("race", TRUST, *options, *sides, cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], found["doubt"]) == (int(doubt), "faster", doubt)
    assert any(said in note for note in found["notes"])


def echoed(rows: str) -> str:
    return "; ".join(f"echo METRIC {row}" for row in rows.split())


@pytest.mark.parametrize(("half", "times"), [(0.001, 2.0), (0.02, 2.0), (0.04, 4.0), (0.1, 25.0)])
def test_more_pairs_are_computed_from_the_width(half: float, times: float) -> None:
    margin = math.expm1(0.02)
    assert times_for(Interval(1.0, math.exp(-half), math.exp(half)), margin) == pytest.approx(times)
    assert times_for(Interval(1.0, 0.0, math.inf), margin) == math.inf
