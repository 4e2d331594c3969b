"""Killed at any moment over real HTTP: no recorded answer is paid again, nothing recorded is evaluated again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from maxcode.llm.journal import CALLS
from maxcode.run.record import Evaluated, Proposed, Record, read_events
from tests.support.llm_driver import ANSWER
from tests.support.provider import Provider, serving

pytestmark = pytest.mark.heavy

DRIVER = Path(__file__).parents[1] / "support" / "llm_driver.py"


def started(folder: Path, running: Provider, budget: int) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, str(DRIVER), str(folder), running.url, str(budget)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def killed(folder: Path, running: Provider, budget: int, after_s: float) -> bool:
    """Whether the run was killed ``after_s`` seconds into its asking, and not at its end already."""
    with started(folder, running, budget) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        time.sleep(after_s)
        run.kill()
    return run.returncode == -signal.SIGKILL


def finished(folder: Path, running: Provider, budget: int) -> None:
    with started(folder, running, budget) as run:
        out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert out == f"ready\n{budget}\n"


def answered(folder: Path) -> int:
    path = folder / CALLS
    return path.read_bytes().count(b'"call":"answered"') if path.exists() else 0


def evaluated(folder: Path) -> list[str]:
    path = folder / "evaluated"
    return path.read_text().splitlines() if path.exists() else []


def recorded(folder: Path) -> set[str]:
    """The programs whose evaluation is recorded."""
    programs: dict[object, str] = {}
    found: set[str] = set()
    for line in read_events(folder) if (folder / "events.jsonl").exists() else ():
        if isinstance(line, Proposed) and line.action.program is not None:
            programs[line.at] = line.action.program.text.strip()
        if isinstance(line, Evaluated):
            found.add(programs[line.at])
    return found


def told(folder: Path) -> list[tuple[object, str, float]]:
    """What the run came to: the program and speed-up of every slot."""
    with Record(folder) as record:
        return [
            (at, action.program.text if action.program else "", timing.speedup.value if timing else 0.0)
            for at, action in sorted(record.actions.items())
            for timing in [record.evaluations[at].timing]
        ]


def until(happened: Callable[[], bool]) -> None:
    """Wait for what happens within a minute."""
    last = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < last, "it did not happen"
        time.sleep(0.01)


def settled(running: Provider) -> int:
    """How many answers were paid for, once the provider has noticed who left."""
    with closing(HTTPConnection(running.url.removeprefix("http://"))) as last:
        last.request("GET", "/")
        last.getresponse().read()  # whoever connected before is among the open ones now
    until(lambda: not running.open)
    return running.paid.total()


def broken_run(tmp_path: Path, kills: int, budget: int) -> None:
    chance = random.Random(7)
    with serving(ANSWER) as running:
        running.delay_s = 0.05
        finished(tmp_path / "whole", running, budget)
        whole = running.paid.total()
        assert running.paid_again == 0
    with serving(ANSWER) as running:
        running.delay_s = 0.05
        folder, lost = tmp_path / "broken", 0
        for _ in range(kills):
            before = len(evaluated(folder)), recorded(folder) if folder.exists() else set[str]()
            assert killed(folder, running, budget, chance.uniform(0.0, 0.35)), "the run is too short for so many kills"
            assert not before[1] & set(evaluated(folder)[before[0] :])
            lost = settled(running) - answered(folder)
        finished(folder, running, budget)
        assert running.paid_again <= lost <= 6 * kills
        assert running.paid.total() == answered(folder) + lost == whole + lost
    assert told(folder) == told(tmp_path / "whole")
    assert max(Counter(evaluated(tmp_path / "whole")).values()) == 1


def test_killed_five_times_nothing_answered_is_paid_again(tmp_path: Path) -> None:
    broken_run(tmp_path, kills=5, budget=60)


@pytest.mark.slow
def test_killed_fifty_times_nothing_answered_is_paid_again(tmp_path: Path) -> None:
    broken_run(tmp_path, kills=50, budget=600)


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_a_call_waits_for_the_answer_and_keeps_it(tmp_path: Path) -> None:
    with serving(ANSWER) as running:
        running.delay_s = 1.0
        with started(tmp_path, running, 6) as run:
            assert run.stdout is not None
            assert run.stdout.readline() == "ready\n"
            until(lambda: running.under_way == 6)
            os.kill(run.pid, signal.SIGINT)
            _, err = run.communicate(timeout=60)
        assert run.returncode != 0
        assert "all finished parts are recorded" in err
        assert running.paid.total() == answered(tmp_path) == 6
        finished(tmp_path, running, 6)
        assert running.paid_again == 0


def test_a_provider_that_dies_and_comes_back_costs_nothing_twice(tmp_path: Path) -> None:
    with serving(ANSWER) as first:
        first.delay_s = 0.2
        run = started(tmp_path, first, 60)
        until(lambda: first.paid.total() >= 12)
    port = int(first.url.rsplit(":", 1)[1])
    with run, serving(ANSWER, port) as again:
        out, err = run.communicate(timeout=120)
        assert (run.returncode, out) == (0, "ready\n60\n"), err
    paid = first.paid + again.paid
    assert again.paid and paid.total() - answered(tmp_path) <= 6, "at most what was under way when it died"
    assert len(paid) == answered(tmp_path)


@pytest.mark.slow
def test_a_provider_that_fails_in_every_way_changes_nothing_but_the_time(tmp_path: Path) -> None:
    with serving(ANSWER) as running:
        finished(tmp_path / "whole", running, 24)
    rates = {"ok": 66, "limit": 10, "down": 5, "garbage": 5, "half": 10, "hang": 2, "slow": 2}
    with serving(ANSWER) as running:
        running.script = random.Random(3).choices(list(rates), list(rates.values()), k=1000)
        running.retry_after = "0.05"
        finished(tmp_path / "troubled", running, 24)
        assert running.paid_again == 0
        assert len(running.bodies) > running.paid.total() + 10
    assert told(tmp_path / "troubled") == told(tmp_path / "whole")
