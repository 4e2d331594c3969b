"""KernelBench's files from our runs: read the way its analysis reads them, they say what the runs say."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.bench.export import Score, export_kernelbench, fast_p, geometric_mean
from maxcode.core.types import Action, Evaluation, Feedback, Interval, Outcome, Program, Timing
from maxcode.errors import InputError
from maxcode.problems.kernelbench import VARIABLE
from maxcode.run.record import Batch, Evaluated, Proposed, Record, Settled, check_header

FILES = {1: ["1_Half.py", "2_Double.py", "3_Sum.py", "4_Mean.py"], 2: ["1_Chain.py"]}
NAME = "class ModelNew: pass"
Result = tuple[Outcome, float, bool]  # outcome, speed-up, confirmed


@pytest.fixture(autouse=True)
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for level, names in FILES.items():
        (tmp_path / "suite" / f"level{level}").mkdir(parents=True)
        for name in names:
            (tmp_path / "suite" / f"level{level}" / name).write_text(f"# {name}\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "suite"))


def evaluation(outcome: Outcome, speedup: float, confirmed: bool) -> Evaluation:
    """What an evaluator says of a candidate; the original takes 4 ms a pass, give or take."""
    if outcome is not Outcome.CORRECT:
        return Evaluation(outcome, Feedback((f"it is {outcome.value}",)))
    samples = tuple((0.004 * wobble, 0.004 * wobble / speedup) for wobble in (0.9, 1.0, 1.1))
    about = Interval(speedup, speedup * 0.97, speedup * 1.03, 0.95)
    compiled = Interval(speedup / 2, speedup / 2.1, speedup / 1.9, 0.95) if confirmed else None
    return Evaluation(
        outcome,
        timing=Timing(
            "cpu", about, speedup > 1.05, "faster", 3, confirmed=confirmed, samples=samples, over_compiled=compiled
        ),
    )


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Path]:
    """Makes a run folder: (level, id, results of its candidates, the referee's word on each, header) -> its path."""
    made: list[Path] = []

    def make(level: int, number: int, *results: Result, settled: dict[int, Result] | None = None, **more: Any) -> Path:
        folder = tmp_path / f"run{len(made)}"
        made.append(folder)
        file = FILES[level][number - 1]
        header = {
            "source": f"kernelbench:{level}/{number}",
            "suite": {"suite": "kernelbench", "level": level, "id": number, "file": file, "sha256": "5f"},
            "machine": {"cpu": "Some CPU @ 2 GHz", "node": "lab"},
            "seed": 0,
            "constants": {"dim": 64},
            "device": "cpu",
        }
        check_header(folder, header | more, frozenset())
        with Record(folder) as record:
            record.append(Batch(batch=1, parents=((0, 0),) * len(results)))
            for slot, result in enumerate(results):
                program = Program({file: f"{NAME}  # {slot}\n"})
                record.append(Proposed(at=(1, slot), action=Action(program)))
                record.append(Evaluated(at=(1, slot), evaluation=evaluation(*result)))
            words = {slot: evaluation(*one) for slot, one in (settled or {}).items()}
            record.append(Settled(batch=1, evaluations=words))
        return folder

    return make


def analysed(out: Path, name: str, level: int, baseline: str) -> dict[float, float]:
    """fast_p as the benchmark's own script reads these files: sample 0 of each problem, the rest failed; a problem is
    counted where the baseline names it; the ratio of means, strictly greater."""
    results = json.loads((out / "runs" / f"{name}_level{level}" / "eval_results.json").read_text())
    times = json.loads(next(out.glob(f"results/timing/*/{baseline}.json")).read_text())[f"level{level}"]
    entries: dict[str, dict[str, Any]] = {}
    for number, samples in results.items():
        first = [one for one in samples if one["sample_id"] == 0]
        assert len(first) == 1
        entries[number] = first[0]
    ratios, counted = [], 0
    for number, file in enumerate(FILES[level], start=1):
        if file not in times:
            continue
        counted += 1
        entry = entries.get(str(number), {"correctness": False})
        if entry["correctness"]:
            ratios.append(times[file]["mean"] / entry["runtime"])
    return {p: sum(ratio > p for ratio in ratios) / counted for p in (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)}


def test_the_files_say_what_the_runs_say(run: Callable[..., Path], tmp_path: Path) -> None:
    won = run(
        1,
        1,
        (Outcome.WRONG, 0, False),
        (Outcome.CORRECT, 1.9, False),
        (Outcome.CORRECT, 3.0, False),
        settled={1: (Outcome.CORRECT, 2.5, True), 2: (Outcome.WRONG, 0, False)},
    )
    slower = run(1, 3, (Outcome.CORRECT, 0.7, False), (Outcome.UNBUILT, 0, False))
    broken = run(1, 4, (Outcome.UNBUILT, 0, False), (Outcome.CRASHED, 0, False))
    (found,) = export_kernelbench([won, slower, broken], tmp_path / "out", "ours")
    assert (found.level, found.problems, found.tried, found.correct, found.not_compared) == (1, 4, 3, 2, 1)
    assert found.confirmed == 1
    assert found.scores == {0.0: 0.5, 0.5: 0.5, 0.8: 0.25, 1.0: 0.25, 1.5: 0.25, 2.0: 0.25}
    assert analysed(tmp_path / "out", "ours", 1, "baseline_time_torch") == found.scores
    results = json.loads(found.eval_results.read_text())
    assert results.keys() == {"1", "3", "4"}
    entry = results["1"][0]
    assert (entry["compiled"], entry["correctness"], entry["sample_id"]) == (True, True, 0)
    assert entry["runtime"] == entry["runtime_stats"]["mean"] == pytest.approx(4 / 2.5)
    assert entry["metadata"]["speedup"]["low"] == pytest.approx(2.5 * 0.97)
    assert entry["metadata"]["constants"] == {"dim": 64}
    assert (results["4"][0]["compiled"], results["4"][0]["correctness"]) == (True, False)
    assert results["4"][0]["runtime"] == -1.0
    kernel = found.eval_results.parent / "level_1_problem_1_sample_0_kernel.py"
    assert kernel.read_text() == f"{NAME}  # 1\n"


def test_against_torch_compile_only_what_was_compared_is_counted(run: Callable[..., Path], tmp_path: Path) -> None:
    won = run(1, 1, (Outcome.CORRECT, 3.0, True))
    slower = run(1, 3, (Outcome.CORRECT, 0.7, False))
    export_kernelbench([won, slower], tmp_path / "out")
    found = analysed(tmp_path / "out", "maxcode", 1, "baseline_time_torch_compile_inductor_default")
    assert found[1.0] == pytest.approx(1 / 3)
    assert found[1.5] == 0


def test_several_runs_of_a_problem_are_samples_that_share_a_baseline(run: Callable[..., Path], tmp_path: Path) -> None:
    runs = [run(2, 1, (Outcome.CORRECT, speedup, True), seed=seed) for seed, speedup in enumerate((2.0, 4.0))]
    (found,) = export_kernelbench(runs, tmp_path / "out")
    samples = json.loads(found.eval_results.read_text())["1"]
    baseline = json.loads(found.baseline.read_text())["level2"]["1_Chain.py"]["mean"]
    assert [one["sample_id"] for one in samples] == [0, 1]
    assert [baseline / one["runtime"] for one in samples] == pytest.approx([2.0, 4.0])


def test_runs_that_cannot_share_a_baseline_are_refused(run: Callable[..., Path], tmp_path: Path) -> None:
    first = run(1, 1, (Outcome.CORRECT, 2.0, True))
    other_shape = run(1, 1, (Outcome.CORRECT, 2.0, True), constants={"dim": 128})
    other_machine = run(1, 2, (Outcome.CORRECT, 2.0, True), machine={"cpu": "Another"})
    no_suite = run(1, 2, (Outcome.CORRECT, 2.0, True), suite={"suite": "own", "level": 1})
    for runs, words in (
        ([first, other_shape], "differ in constants"),
        ([first, other_machine], "was made on Another"),
        ([no_suite], "maxcode optimize kernelbench:LEVEL/ID"),
        ([tmp_path], "is no run folder"),
    ):
        with pytest.raises(InputError, match=words):
            export_kernelbench(runs, tmp_path / "out")


def test_another_version_of_the_suite_is_refused(run: Callable[..., Path], tmp_path: Path) -> None:
    first = run(1, 1, (Outcome.CORRECT, 2.0, True))
    (tmp_path / "suite" / "level1" / "1_Half.py").rename(tmp_path / "suite" / "level1" / "1_Third.py")
    with pytest.raises(InputError, match="set MAXCODE_KERNELBENCH to the version"):
        export_kernelbench([first], tmp_path / "out")


@pytest.mark.heavy
def test_the_command_prints_the_score_and_how_to_analyse(run: Callable[..., Path], tmp_path: Path) -> None:
    folder = run(1, 1, (Outcome.CORRECT, 2.0, True))
    command = [sys.executable, "-m", "maxcode", "export", "kernelbench", str(folder), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "1 of 4 problems, 1 correct, 1 confirmed to be faster, geometric mean 2.00x" in done.stdout
    assert "1.5: 0.250" in done.stdout
    assert "scripts/benchmark_eval_analysis.py run_name=maxcode_level1" in done.stdout


def test_fast_p_is_strict_and_over_all_problems_of_the_level() -> None:
    scores = [Score(True, 1.0), Score(True, 2.0), Score(False, 9.0), Score(True, None)]
    assert fast_p(scores, 1.0, 10) == 0.1
    assert fast_p(scores, 0.99, 10) == 0.2
    assert fast_p(scores, 0, 10) == 0.3
    assert fast_p([], 1.0, 10) == 0
    with pytest.raises(ValueError, match="4 scores for a level of 3"):
        fast_p(scores, 1.0, 3)
    assert geometric_mean(scores) == pytest.approx(2**0.5)
    assert geometric_mean([Score(False, 9.0)]) is None


SCORES = st.lists(st.builds(Score, st.booleans(), st.none() | st.floats(0.01, 100)), max_size=20)


@given(SCORES, st.floats(0, 10), st.floats(0, 10), st.integers(0, 30))
def test_fast_p_falls_with_p_and_with_the_size_of_the_level(scores: list[Score], p: float, q: float, more: int) -> None:
    low, high = sorted((p, q))
    size = max(1, len(scores))
    assert 0 <= fast_p(scores, high, size) <= fast_p(scores, low, size) <= 1
    assert fast_p(scores, p, size + more) * (size + more) == pytest.approx(fast_p(scores, p, size) * size)
