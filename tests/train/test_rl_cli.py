"""``maxcode train``: refused where it cannot be, and the short demonstration from random weights to a report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from maxcode.cli.train_grpo import TrainProgress
from maxcode.problems import load
from maxcode.train.config import read_config
from maxcode.train.pipeline import Note
from tests.support.cli import maxcode_here

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).parents[2]
SHORT = ("train", "demo", "--short", "--json")


def maxcode(*words: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: it trains."""
    command = [sys.executable, "-m", "maxcode", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_a_wrong_key_is_refused_before_anything_is_built() -> None:
    done = maxcode_here("train", "grpo", "configs/qwen2.5-coder-14b.toml", "--set", "grpo.stpes=3", cwd=ROOT)
    assert done.returncode == 2
    assert "did you mean 'steps'" in done.stderr
    assert maxcode_here("train", "grpo", "nowhere.toml").returncode == 2
    assert "KEY=VALUE" in maxcode_here("train", "demo", "--set", "grpo.steps").stderr


def test_the_dry_run_of_the_paper_s_setting_shows_prompt_ladder_and_sizes_without_weights() -> None:
    done = maxcode_here("train", "grpo", "configs/hpc-paper.toml", "--dry-run", "--json", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    ladder = [found["ladder"][word] for word in ("unparsed", "rejected", "unbuilt", "timeout", "crashed", "wrong")]
    assert ladder == [-100, -100, -40, -30, -20, -10] and found["ladder"]["correct, 10 GFLOPS"] == 10
    assert found["sizes"]["advantage"] == "plain" and found["sizes"]["weight of the KL term"] > 0
    user = found["prompt"][1]["content"]
    assert "-fopenmp" in user and "# Machine" in user and "last attempt" not in user
    assert not any("roofline" in name for name in found["sizes"]), "this ladder does not depend on it"
    config = read_config(ROOT / "configs" / "hpc-paper.toml")
    stages = config.rules.stages
    assert stages is not None and any("threads" in (stage.permitted or ()) for stage in stages.stages)
    assert load(config.paths[0]).problem.goal == "wall"


def test_the_dry_run_says_of_which_roofline_its_rewards_are() -> None:
    done = maxcode_here("train", "grpo", "configs/schedule.toml", "--dry-run", "--json", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sizes"]["roofline of these rewards, assumed"] == "64 GFLOPS"


def test_the_verbs_are_told() -> None:
    told = maxcode_here("train", "--help").stdout
    assert "grpo" in told and "demo" in told and "assess" in told
    assert "0.7 million parameters" in " ".join(maxcode_here("train", "demo", "--help").stdout.split())


def test_progress_tells_the_phase_its_share_and_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    with TrainProgress() as progress:
        progress.say(Note("grpo", 0, 4))
        progress.say(Note("grpo", 1, 4, "hidden: too soon after the last line"))
        progress.say(Note("grpo", 4, 4, "mean 8.1"))
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("admitting")
    assert told[1:] == [
        "grpo      [........................] 0/4",
        "grpo      [########################] 4/4  mean 8.1",
    ]


@pytest.mark.slow  # minutes: real kernels are built and timed
def test_the_short_demonstration_is_killed_taken_up_and_ends_with_a_report(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    command = [sys.executable, "-m", "maxcode", *SHORT, "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        while not list((out / "grpo").glob("checkpoint-*/diversity.json")) and process.poll() is None:
            time.sleep(0.2)
        os.kill(process.pid, signal.SIGKILL)
    measured = (out / "grpo" / "measurements.jsonl").read_bytes()
    done = maxcode(*SHORT, "--out", out)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (out / "grpo" / "measurements.jsonl").read_bytes().startswith(measured), "nothing is measured twice"
    assert told["before"]["all"]["answers"] == told["after"]["all"]["answers"] == 32
    assert told["corpus_best"] > 0.5
    assert told["before"]["all"]["valid"]["value"] > 0.1, "a third of a minute of pre-training writes some kernels"
    assert told["best"]["low"] > 0
    assert "Before and after" in (out / "report.html").read_text()
    again = maxcode(*SHORT, "--out", out)
    assert json.loads(again.stdout)["after"] == told["after"]
