"""A real run killed with SIGKILL inside a proposal, a build and a timed run goes on where it was.

The recorded prefix is unchanged byte for byte, nothing recorded is done again, and no process is left.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.support.counting import counting_place
from tests.support.processes import descendants, is_alive, is_timing, optimizing, wait_until

pytestmark = pytest.mark.sandbox

POLICY = '''
import anyio
from maxcode import Action

class Slowly:
    """Takes its time, and proposes a program that takes the compiler some."""

    async def propose(self, observation):
        await anyio.sleep(0.4)
        lines = "".join(f"static long f{i}(long x) {{ return x * {i} + x / {i + 1}; }}\\n" for i in range(3000))
        calls = " + ".join(f"f{i}(argc)" for i in range(3000))
        text = observation.state.problem.program.text.replace("main(void)", "main(int argc, char **argv)")
        text = text.replace("return 0;", f"return {calls} == {observation.draw} ? 3 : 0;")
        text = text.replace("int main", lines + "int main")
        return Action(observation.state.program.with_text(text), f"- padding({observation.draw})")
'''


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return counting_place(tmp_path, 200_000_000, POLICY)


def started(place: Path, *words: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A run of three candidates, gone when the block is left."""
    return optimizing(place, "--policy", "policy.py:Slowly", "--method", "refine", "--budget", "3", *words)


def events(place: Path) -> bytes:
    path = place / "run" / "events.jsonl"
    text = path.read_bytes() if path.exists() else b""
    return text[: text.rfind(b"\n") + 1]


def parts(place: Path) -> list[str]:
    return [json.loads(line)["part"] for line in events(place).splitlines()]


def open_part(place: Path) -> str:
    """What the run is doing now, by its last line."""
    found = [part for part in parts(place) if part != "opened"]
    return found[-1] if found else ""


Moment = Callable[[Path, int], bool]


def in_proposal(place: Path, pid: int) -> bool:
    return open_part(place) == "launched"


def in_build(place: Path, pid: int) -> bool:
    return open_part(place) == "proposed" and not is_timing(pid)


def in_timed_run(place: Path, pid: int) -> bool:
    return open_part(place) == "proposed" and is_timing(pid)


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment",
    [in_proposal, in_build, in_timed_run],  # the last has a sandbox, a lane and a compiled program to lose
)
def test_killed_inside(moment: Moment, place: Path) -> None:
    kept = b""
    for _ in range(2):
        with started(place) as run:
            assert wait_until(lambda: moment(place, run.pid), 60), f"never {moment.__name__}: {parts(place)}"
            family = descendants(run.pid)
            run.send_signal(signal.SIGKILL)
            run.communicate()
        assert wait_until(lambda: not any(map(is_alive, family)), 10), "processes were left behind"  # noqa: B023
        assert events(place).startswith(kept)
        kept = events(place)
    with started(place, "--json") as run:
        said, words = run.communicate(timeout=120)
    assert run.returncode == 0, words
    assert json.loads(said)["candidates"] == 3
    assert events(place).startswith(kept)
    done = Counter(
        (line["part"], str(line["at"])) for line in map(json.loads, events(place).splitlines()) if "at" in line
    )
    assert set(done.values()) == {1}


def test_ctrl_c_keeps_what_was_proposed_and_says_how_to_resume(place: Path) -> None:
    (place / "policy.py").write_text(POLICY.replace("3000", "600"))
    with started(place) as run:
        assert wait_until(lambda: in_build(place, run.pid), 300)
        run.send_signal(signal.SIGINT)
        said, words = run.communicate(timeout=300)
    assert run.returncode == 130
    assert said == ""
    assert "to resume: maxcode optimize slow.c" in words
    assert "Traceback" not in words
    assert parts(place).count("proposed") == 1
