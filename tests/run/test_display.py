"""Progress without a terminal: plain lines, and a reminder where nothing else is said for long."""

from __future__ import annotations

import time

import pytest

from maxcode.run.display import PlainScreen


def test_a_log_in_which_nothing_happens_says_again_what_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    screen, lines = PlainScreen(quiet_s=0.05), list[str]()
    screen.open()
    screen.say("timing the winner")
    deadline = time.monotonic() + 20
    while len(lines) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
        lines += capfd.readouterr().err.splitlines()
    screen.close()
    assert lines[0] == "timing the winner"
    assert [line.partition(", ")[0] for line in lines[1:3]] == ["still at this"] * 2
    assert all(line.endswith("s later: timing the winner") for line in lines[1:3])


def test_a_log_that_is_closed_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    screen = PlainScreen(quiet_s=2.0)
    screen.open()
    screen.say("certified")
    screen.close()
    time.sleep(2.5)
    assert capfd.readouterr().err == "certified\n"
