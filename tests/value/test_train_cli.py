"""``maxcode train to-go`` keeps the command line's contract."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from value_help import several


def train(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "maxcode", "train", "to-go", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return several(tmp_path_factory.mktemp("runs"), ["a", "b", "c"])


def test_runs_become_a_model_with_its_cards(runs: Path, tmp_path: Path) -> None:
    done = train("--from", runs, "--out", tmp_path / "model", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["card"]["split"]["programs on both sides"] == 0
    assert "class balance: 0:" in done.stderr
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        "value.json", "CARD.md", "DATA.md", "pairs.jsonl", "metrics.json",
    }  # fmt: skip
    assert json.loads((tmp_path / "model" / "metrics.json").read_text()) == found


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--model", "tress"), "did you mean 'trees'"),
        (("--edges", "pies"), "did you mean 'pie'"),
        (("--gamma", "1.5"), "--gamma is 1.5"),
        (("--share", "1"), "--share is 1"),
        (("--prefixes", "0"), "--prefixes is 0"),
        (("--hold-out", "z"), "no run of z"),
        (("--hold-out", "a", "--hold-out", "b", "--hold-out", "c"), "0 states to train on"),
    ],
)
def test_bad_input_is_one_line_and_status_2(runs: Path, tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    done = train("--from", runs, "--out", tmp_path / "model", *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "model").exists(), "nothing is written"


def test_one_problem_is_too_few(runs: Path, tmp_path: Path) -> None:
    done = train("--from", runs / "a-refine", "--out", tmp_path / "model")
    assert done.returncode == 2
    assert "a split by problem needs two: give runs of other problems with --from" in done.stderr
