"""One Ctrl-C ends a real command within seconds in every phase; nothing recorded is lost, and the command goes on."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from maxcode.sandbox.lanes import LOCK
from tests.support.counting import QUARTER, counting_place
from tests.support.processes import descendants, is_alive, optimizing, wait_until

pytestmark = pytest.mark.sandbox
AT_MOST_S = 15.0  # on a busy machine; without a load it is two to three seconds
POLICY = f"""
from maxcode import Action

class Gives:
    async def propose(self, observation):
        return Action(observation.state.program.with_text({QUARTER!r}), "- by four")
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A program whose pairs take a second, so that a confirmation or a certificate takes far longer than a stop."""
    return counting_place(tmp_path, 900_000_000, POLICY)


def started(place: Path, *words: str) -> AbstractContextManager[subprocess.Popen[str]]:
    return optimizing(place, "--policy", "policy.py:Gives", "--method", "best-of-n", "--budget", "1", *words)


def stopped_at(run: subprocess.Popen[str], moment: str) -> str:
    """Presses Ctrl-C once when the command says ``moment``; what it says from there."""
    assert run.stderr is not None
    assert any(moment in line for line in run.stderr), f"it never said: {moment}"
    time.sleep(0.5)  # into the work that it announced
    family, began = descendants(run.pid), time.monotonic()
    run.send_signal(signal.SIGINT)
    _, words = run.communicate(timeout=60)
    assert time.monotonic() - began < AT_MOST_S
    assert run.returncode == 130, words
    assert "Traceback" not in words
    assert wait_until(lambda: not any(map(is_alive, family)), 10), "processes were left behind"
    return words


def parts(place: Path) -> list[str]:
    record = place / "run" / "events.jsonl"
    return [json.loads(line)["part"] for line in record.read_text().splitlines()] if record.exists() else []


@pytest.mark.parametrize(
    ("moment", "told", "recorded"),
    [
        ("confirming the best of batch 1", "stopped while the best of batch 1 was confirmed", {"evaluated"}),
        ("certificate: timing the winner", "stopped in the certificate", {"evaluated", "settled"}),
    ],
)
@pytest.mark.slow
def test_ctrl_c_after_the_search_ends_soon_and_the_same_command_goes_on(
    place: Path, moment: str, told: str, recorded: set[str]
) -> None:
    with started(place) as run:
        words = stopped_at(run, moment)
    assert f"{told}; all finished parts are recorded\nto resume: maxcode optimize slow.c" in words
    assert {"evaluated", "settled"} & set(parts(place)) == recorded
    with started(place, "--no-certificate", "--json") as run:
        said, words = run.communicate(timeout=120)
    assert run.returncode == 0, words
    assert json.loads(said)["confirmed"]
    assert parts(place).count("evaluated") == 1, "what was recorded is not measured again"


def test_ctrl_c_in_the_admission_ends_soon(place: Path) -> None:
    with started(place) as run:
        words = stopped_at(run, "admitting: building and checking the original")
    assert "stopped in the admission; all finished parts are recorded\nto resume: maxcode optimize slow.c" in words
    assert not (place / "run" / "result.json").exists()


def test_ctrl_c_while_a_candidate_waits_for_another_run_ends_soon(place: Path) -> None:
    with started(place) as run:
        assert run.stderr is not None
        assert any("admitted: " in line for line in run.stderr)
        with LOCK.open() as lane:
            fcntl.flock(lane, fcntl.LOCK_EX)
            assert wait_until(lambda: "proposed" in parts(place), 60)
            time.sleep(1.0)
            run.send_signal(signal.SIGINT)
            began = time.monotonic()
            _, words = run.communicate(timeout=60)
    assert time.monotonic() - began < AT_MOST_S
    assert run.returncode == 130
    assert "stopping: measurements end within 2 s" in words and "to resume: maxcode optimize slow.c" in words
    assert "evaluated" not in parts(place), "the slot stays open for a resume"
