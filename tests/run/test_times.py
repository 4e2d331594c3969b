"""The seconds of a command are split by what they went to, and the parts sum up to the whole."""

from __future__ import annotations

import time

import pytest

from maxcode.run.times import ADMISSION, CONFIRMATION, SEARCH, Times, in_words


def test_parts_and_waits_sum_up_to_what_the_clock_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    times = Times()
    now[0] += 10
    times.turn_to(SEARCH)
    now[0] += 20
    with times.spent_on(CONFIRMATION):
        times.others.begin()
        now[0] += 7
        times.others.end()
        now[0] += 3
    now[0] += 30
    split = times.split()
    assert split == {ADMISSION: 10.0, SEARCH: 50.0, CONFIRMATION: 3.0, "waits": 7.0}
    assert sum(split.values()) == now[0] - 1000
    assert in_words(split) == "70 s: admission 10 s, search 50 s, confirmation 3 s, waits for other maxcode runs 7 s"


def test_a_part_that_is_cut_off_still_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    times = Times()

    def cut_off() -> None:
        with times.spent_on(CONFIRMATION):
            now[0] += 4
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_off()
    now[0] += 2
    assert times.split() == {ADMISSION: 2.0, CONFIRMATION: 4.0}
