"""``maxcode train to-go`` keeps the command line's contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from maxcode.train.to_go import Training, train_to_go
from maxcode.train.to_go.dataset import Dataset
from maxcode.train.to_go.evaluation import Plan, evaluate
from maxcode.train.to_go.fit import Fit
from maxcode.train.to_go.fitting import fit
from maxcode.train.to_go.pairs import read_pairs, run_folders
from tests.support.value_help import run, several

pytestmark = pytest.mark.heavy


def train(*words: object, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "maxcode", "train", "to-go", *map(str, words)]
    paths = [*([str(path)] if path is not None else []), *sys.path]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


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
        (("--evaluate", "-1"), "'--evaluate': -1 is not in the range x>=0"),
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


def test_without_torch_a_generative_training_leaves_a_finished_model_alone(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    train_to_go(Training((runs,), out, "constant"))
    before = contents(out)
    (tmp_path / "without" / "torch").mkdir(parents=True)
    (tmp_path / "without" / "torch" / "__init__.py").write_text("raise ImportError('No module named torch')\n")
    done = train("--from", runs, "--out", out, "--model", "generative", "--seed", 1, path=tmp_path / "without")
    assert done.returncode == 2
    assert "pip install 'maxcode[train]'" in done.stderr
    assert contents(out) == before


def test_a_file_that_cannot_be_written_is_said_before_anything_is_trained(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").mkdir()
    done = train("--from", runs, "--out", tmp_path)
    assert done.returncode == 2
    assert "metrics.json is a folder, but maxcode writes a file of that name; choose another --out" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.json"]


@pytest.mark.slow
def test_a_fold_that_cannot_be_trained_on_is_said_before_anything_is_trained(tmp_path: Path) -> None:
    for problem, method in (("a", "best-of-n"), ("b", "cuda-llm"), ("c", "cuda-llm")):
        run(tmp_path / "runs" / problem, problem, method)
    words = ["--from", tmp_path / "runs", "--hold-out", "c", "--prefixes", 2]
    done = train(*words, "--out", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert "0 guided, 0 off-policy\nheld out   c: 8 states" in done.stdout
    done = train(*words, "--evaluate", 1, "--out", tmp_path / "other")
    assert done.returncode == 2
    assert "--evaluate cannot hold out a: 16 states to train on" in done.stderr
    assert done.stderr.strip().endswith("or leave --evaluate out")
    assert not (tmp_path / "other").exists()


def test_what_is_done_before_the_folds_is_told_and_written(runs: Path, tmp_path: Path) -> None:
    told: list[str] = []

    def say(words: str) -> None:
        if words.startswith("seed 0"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_to_go(Training((runs,), tmp_path, seeds=1), say, told.append)
    assert "regret@25%" in told[0]
    assert json.loads((tmp_path / "metrics.json").read_text())["folds"] == {}
    assert (tmp_path / "value.json").exists()


def test_an_evaluation_that_is_broken_off_takes_up_what_its_finished_folds_foresaw(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = read_pairs(run_folders([runs]))
    asked: list[str] = []

    class Died(Exception):
        pass

    def fitted(name: str, data: Dataset, how: Fit, dies_at: int = 3) -> Any:
        asked.append(name)
        if len(asked) == dies_at:
            raise Died
        return fit(name, data, how)

    def evaluated(kept: Path | None) -> Any:
        return evaluate(pairs, Plan(("trees",), (0,), how=Fit(Path(), kept=kept)))

    monkeypatch.setattr("maxcode.train.to_go.evaluation.fit", fitted)
    with pytest.raises(Died):
        evaluated(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    found = evaluated(tmp_path)
    assert len(asked) == 3 + 1, "two of three folds were known"
    assert found == evaluated(None) == evaluated(tmp_path)
    assert len(asked) == 3 + 1 + 3
