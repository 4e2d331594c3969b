"""The command line keeps its contract: one JSON object, exit statuses, one clear sentence for bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from maxcode.core.stats import RaceRule
from maxcode.errors import InputError
from maxcode.run.job import optimize_source
from maxcode.run.result import RunResult
from maxcode.sandbox.cgroup import survey
from maxcode.testing import Table
from tests.support.cli import EXAMPLES, answer, maxcode, maxcode_here, request_of
from tests.support.counting import BY_FOUR, FAST, QUARTER, SLOW
from tests.support.finished import COMMAND, FinishedRun
from tests.support.table_machine import TableMachine

pytestmark = pytest.mark.sandbox

POLICY = '''
"""Policies that cannot be used, and one that proposes nothing new."""
from maxcode import Action

POLICY = 3

class Wants:
    def __init__(self, model):
        pass

class Idle:
    async def propose(self, observation):
        text = observation.state.problem.program.text
        return Action(observation.state.program.with_text(text + f"/* {observation.draw} */"), "- comment()")
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a slow program, its tests, candidates and policies."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "slow.c").write_text(SLOW)
    (folder / "fast.c").write_text(FAST)
    (folder / "quarter.c").write_text(QUARTER)
    (folder / "wrong.c").write_text(SLOW.replace("+= i", "-= i"))
    (folder / "policy.py").write_text(POLICY)
    (folder / "broken.py").write_text("def X(:\n")
    shutil.copytree(EXAMPLES / "gemm", folder / "kernel")
    (folder / "tests").mkdir()
    for number, n in enumerate((10, 1000, 220_000_000, 240_000_000)):
        (folder / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (folder / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return folder


EVALUATE_KEYS = {
    "outcome",
    "reasons",
    "speedup",
    "why",
    "confirmed",
    "trusted",
    "doubts",
    "tests",
    "inputs_timed",
    "timed_on",
    "sandbox",
    "machine",
    "notes",
}
OPTIMIZE_KEYS = EVALUATE_KEYS | {"candidates", "outcomes", "best", "record", "report", "spent", "unchanged"}


def test_evaluate_confirms_a_faster_candidate(place: Path) -> None:
    found = answer(maxcode("evaluate", "quarter.c", "--against", "slow.c", "--tests", "tests", "--json", cwd=place))
    assert set(found) == EVALUATE_KEYS | {"unseen", "fresh_inputs"}
    assert (found["outcome"], found["confirmed"], found["reasons"]) == ("correct", True, [])
    speedup = found["speedup"]
    assert speedup["significant"]
    assert 1 < speedup["low"] <= speedup["value"] <= speedup["high"]
    assert speedup["clock"] == "cpu"
    assert speedup["pairs"] >= RaceRule().confirm_least
    assert found["tests"] == {"seen": 2, "held_out": 2, "generated": 0, "dropped": 0}
    assert found["inputs_timed"] >= 1
    assert "bubblewrap" in found["sandbox"]
    assert found["machine"]["cores"] >= 1


def test_evaluate_says_why_a_wrong_candidate_has_no_speedup(place: Path) -> None:
    words = ("evaluate", "wrong.c", "--against", "slow.c", "--tests", "tests", "--json")
    found = answer(maxcode_here(*words, cwd=place))
    assert found["outcome"] == "wrong"
    assert found["speedup"] is None
    assert found["why"] == "not timed: wrong"
    assert found["reasons"]
    again, anew = answer(maxcode_here(*words, cwd=place)), answer(maxcode_here(*words, "--no-cache", cwd=place))
    for name in ("outcome", "why", "reasons", "tests"):
        assert again[name] == anew[name] == found[name], name


def test_optimize_writes_the_best_program_its_diff_a_report_and_the_record(finished: FinishedRun) -> None:
    found, out = finished.told, finished.folder
    assert set(found) == OPTIMIZE_KEYS | {"certificate", "change", "unseen", "fresh_inputs", "times"}
    assert found["confirmed"]
    assert found["speedup"]["significant"]
    assert found["speedup"]["pairs"] >= RaceRule().confirm_least
    assert found["candidates"] == sum(found["outcomes"].values()) == 6
    assert BY_FOUR in Path(found["best"]).read_text()
    assert "+    for (; i < n; i++) sum += i;" in (out / "best.diff").read_text()
    assert (out / "original" / "slow.c").read_text() == SLOW
    assert json.loads((out / "result.json").read_text()) == found
    assert Path(found["report"]).read_text().lstrip().lower().startswith("<!doctype html>")


def test_a_finished_run_is_shown_and_not_done_again(finished: FinishedRun, copied: Path) -> None:
    def recorded() -> list[str]:
        events = (copied / "run" / "events.jsonl").read_text()
        return [line for line in events.splitlines() if '"opened"' not in line]

    before = recorded()
    resumed = maxcode(*COMMAND, "--out", copied / "run", cwd=copied)
    assert "6/6 candidates" in resumed.stderr  # a resumed run shows what it resumes
    assert answer(resumed)["speedup"] == finished.told["speedup"]
    assert recorded() == before


@pytest.mark.slow
def test_a_function_is_optimised_by_the_policy_for_kernels_and_told_in_gflops(place: Path) -> None:
    gemm = EXAMPLES / "gemm"
    (place / "gemm").mkdir()
    for name in ("gemm.c", "gemm.h"):
        (place / "gemm" / name).write_text((gemm / name).read_text())
    text = (gemm / "problem.toml").read_text()
    (place / "gemm" / "problem.toml").write_text(text.replace("256", "128"))
    found = answer(
        maxcode("optimize", "gemm", "--method", "elites", "--budget", 6, "--out", "kernels", "--no-certificate",
                "--json", cwd=place)
    )  # fmt: skip
    assert found["speedup"]["significant"]
    assert found["speedup"]["low"] > 1.5
    rate = found["gflops"]
    assert 0 < rate["low"] <= rate["value"] <= rate["high"] < 1.1 * rate["roofline"]
    assert 'policy = "kernels"' in (place / "kernels" / "run.toml").read_text()
    page = (place / "kernels" / "report.html").read_text()
    assert "The best of every cell" in page
    assert "GFLOPS" in page


def idle(out: Path, *more: str) -> RunResult:
    """`maxcode optimize` with a policy that proposes nothing new, measured on a machine where all are as fast."""
    words = ("slow.c", "--tests", "tests", "--policy", "policy.py:Idle", "--out", str(out), *more)
    return optimize_source(request_of(*words), on=TableMachine(Table(rule=lambda text: 1.0)))


def test_a_run_that_finds_nothing_gives_the_original_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    run = idle(place / "idle", "--budget", "2")
    assert "candidates 2: 2 unchanged" in str(run).splitlines()
    found = json.loads(run.as_json())
    assert found["best"] == "slow.c"
    assert (found["outcomes"], found["unchanged"], found["trusted"]) == ({"correct": 2}, 2, False)
    assert found["speedup"]["significant"] is False
    assert found["speedup"]["value"] == 1.0
    assert "no candidate was confirmed" in found["why"]
    assert not (place / "idle" / "best").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("optimize", "absent.c", "--tests", "tests"), "absent.c"),
        (("optimize", "slow.c"), "tests"),
        (("optimize", "slow.c", "--tests", "empty"), "empty"),
        (("optimize", "slow.c", "--tests", "absent"), "absent"),
        (("optimize", "slow.c", "--tests", "tests", "--policy", "rewritter"), "did you mean 'rewriter'"),
        (("optimize", "slow.c", "--tests", "tests", "--policy", "absent.py:X"), "no such file"),
        (("optimize", "slow.c", "--tests", "tests", "--policy", "policy.py:X"), "defines no 'X'"),
        (("optimize", "slow.c", "--tests", "tests", "--policy", "broken.py:X"), "cannot be loaded (SyntaxError"),
        (("optimize", "slow.c", "--tests", "tests", "--policy", "policy.py:POLICY"), "no policy: it has no `propose`"),
        (("optimize", "slow.c", "--tests", "tests", "--policy", "policy.py:Wants"), "cannot be made without arguments"),
        (("optimize", "slow.c", "--tests", "tests", "--checker", "exact", "--tolerance", "0.1"), "--checker float"),
        (("optimize", "kernel", "--tolerance", "1e-6"), "a function has no tests and no checker"),
        (("optimize", "slow.c", "--tests", "tests", "--method", "cuda-lm"), "did you mean 'cuda-llm'"),
        (("optimize", "slow.c", "--tests", "tests", "--budget", "0"), "--budget"),
        (("optimize", "slow.c", "--tests", "tests", "--budget", "many"), "--budget"),
        (("optimize", "slow.c", "--tests", "tests", "--flags", "-fplugin=x.so"), "-fplugin=x.so"),
        (("optimize", "broken.c", "--tests", "tests"), "does not build"),
        (("optimize", "other.c", "--tests", "tests"), "passes none of its 4 tests"),
        (("optimize", "slow.c", "--tests", "tests", "--out", "slow.c/run"), "--out"),
        (("optimize", "slow.txt", "--tests", "tests"), "slow.txt"),
        (("evaluate", "absent.c", "--against", "slow.c", "--tests", "tests"), "absent.c"),
        (("report", "tests"), "tests"),
        (("list", "rules", "--count", "absent.c"), "absent.c"),
        (("list", "methods", "--count", "slow.c"), "--count"),
    ],
)
def test_bad_input_gets_one_clear_sentence_and_exit_2(arguments: tuple[str, ...], words: str, place: Path) -> None:
    (place / "empty").mkdir(exist_ok=True)
    (place / "broken.c").write_text("int main(void) { retur 0; }\n")
    (place / "other.c").write_text('#include <stdio.h>\nint main(void) { puts("other"); return 0; }\n')
    (place / "slow.txt").write_text(SLOW)
    before = sorted(place.rglob("*"))
    done = maxcode_here(*arguments, cwd=place)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(path for path in place.rglob("*") if "__pycache__" not in path.parts) == before


def test_a_resume_of_another_run_is_refused_and_names_the_difference(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    assert idle(place / "one", "--budget", "1").candidates == 1
    with pytest.raises(InputError, match="seed was 0, now 7") as refused:
        idle(place / "one", "--budget", "1", "--seed", "7")
    assert refused.value.exit_code == 2
    assert idle(place / "one", "--budget", "2").candidates == 2


def test_a_machine_without_the_tier_that_is_demanded_is_refused_with_exit_3(place: Path, tmp_path: Path) -> None:
    (tmp_path / "gcc").symlink_to("/usr/bin/gcc")
    command = ("evaluate", "fast.c", "--against", "slow.c", "--tests", "tests", "--sandbox", "1")
    done = maxcode(*command, cwd=place, PATH=str(tmp_path))
    assert done.returncode == 3
    assert "install bubblewrap" in done.stderr or "apt" in done.stderr
    assert "Traceback" not in done.stderr
    doctor = maxcode("doctor", "--sandbox", "1", cwd=place, PATH=str(tmp_path))
    assert doctor.returncode == 3
    assert "bubblewrap" in doctor.stdout


@pytest.mark.slow
def test_a_doctor_says_why_a_better_tier_is_passed_over_and_what_is_not_installed(place: Path, tmp_path: Path) -> None:
    for name in ("gcc", "g++", "addr2line", "as", "ld"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    done = maxcode("doctor", cwd=place, PATH=str(tmp_path))
    assert "\nnot used   tier 1: bubblewrap is not installed; `apt install bubblewrap`" in done.stdout
    assert "\nvalgrind   instructions are counted by valgrind, which is not installed: `apt install" in done.stdout


def test_doctor_shows_the_sandbox_the_compilers_and_the_noise(place: Path) -> None:
    done = maxcode("doctor", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "attacks blocked" in done.stdout
    assert "a program against itself" in done.stdout
    assert "\nvalgrind   " in done.stdout
    assert f"\ncgroup     {survey()}\n" in done.stdout
    assert "not used" not in done.stdout
    found = answer(maxcode("doctor", "--json", cwd=place))
    assert found["trouble"] == []
    assert all(finding["held"] for finding in found["findings"])


@pytest.mark.parametrize("kind", ["methods", "policies", "rules", "steps", "techniques", "languages"])
def test_list_names_what_there_is(kind: str, place: Path) -> None:
    found = answer(maxcode_here("list", kind, "--json", cwd=place))
    shown = maxcode_here("list", kind, cwd=place).stdout
    assert found
    assert all(name in shown for name in found)


@pytest.mark.slow
def test_the_rewriter_reaches_many_programs_and_a_sample_of_them_builds(place: Path) -> None:
    (place / "sum.cpp").write_text(
        "#include <iostream>\n#include <vector>\nusing namespace std;\nint total(vector<int> v) {\n    int s = 0;\n"
        "    for (int i = 0; i < (int)v.size(); i++) s += v[i];\n    return s;\n}\nint main() {\n    int n;\n"
        "    cin >> n;\n    vector<int> v(n);\n    for (int i = 0; i < n; i++) cin >> v[i];\n"
        "    cout << total(v) << endl;\n}\n"
    )
    found = answer(maxcode_here("list", "rules", "--count", "sum.cpp", "--sample", "6", "--json", cwd=place))
    assert int(found["reachable"].split()[0]) >= 200
    assert found["valid"] == "6 of 6 built"


def test_the_report_of_a_run_can_be_written_anew(copied: Path) -> None:
    (copied / "run" / "report.html").unlink()
    assert answer(maxcode_here("report", "run", "--json", cwd=copied))["report"] == "run/report.html"
    assert (copied / "run" / "report.html").exists()


VERBS = ("optimize", "evaluate", "verify", "race", "bench", "compare", "doctor", "report", "list")


def test_help_needs_nothing(tmp_path: Path) -> None:
    told = [maxcode("--help", cwd=tmp_path, PATH="")]
    told += [maxcode_here(verb, "--help", cwd=tmp_path, PATH="") for verb in VERBS]
    for done in told:
        assert done.returncode == 0
        assert "Usage: maxcode" in done.stdout


@pytest.mark.slow
def test_evaluate_counts_instructions_where_that_is_the_goal(place: Path) -> None:
    arguments = ("evaluate", "fast.c", "--against", "slow.c", "--tests", "tests", "--goal", "instructions")
    found = answer(maxcode(*arguments, "--json", cwd=place))
    assert found["speedup"]["clock"] == "instructions"
    assert found["speedup"]["low"] > 100
    assert found["speedup"]["pairs"] == 2
    assert found["seconds"]["clock"] == "cpu"
    assert found["seconds"]["low"] > 2
    assert any("not seconds: blind to cache misses" in note for note in found["notes"])
    told = maxcode("evaluate", "slow.c", *arguments[2:], cwd=place).stdout
    assert "counted    1.000x [1.000, 1.000] (least to largest of 2 counts a side): no difference" in told


@pytest.mark.slow
def test_a_tie_break_may_be_asked_for_and_the_pressure_is_told(place: Path) -> None:
    arguments = (
        "evaluate",
        "slow.c",
        "--against",
        "slow.c",
        "--tests",
        "tests",
        "--tie-break",
        "instructions",
        "--json",
    )
    found = answer(maxcode(*arguments, cwd=place))
    assert found["speedup"]["significant"] is False
    assert 0 <= found["speedup"]["pressure"] <= 100


def test_instructions_of_a_python_program_are_refused_with_the_reason(place: Path) -> None:
    (place / "slow.py").write_text("print(int(input()) * 2)\n")
    done = maxcode_here(
        "evaluate", "slow.py", "--against", "slow.py", "--tests", "tests", "--goal", "instructions", cwd=place
    )
    assert done.returncode != 0
    assert "the instructions of its interpreter" in done.stderr
