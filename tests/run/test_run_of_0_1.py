"""What version 0.1 wrote is read, repeated and resumed: a run folder with its certificate, and an interrupted run."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import tomli_w

from maxcode.run.certificate import read
from maxcode.run.record import Evaluated, read_events
from tests.support.cli import answer, maxcode, maxcode_here
from tests.support.run_0_1 import DATA, run_of_0_1

pytestmark = pytest.mark.sandbox  # also the reading: its folder is given this machine's name


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return run_of_0_1(tmp_path)


def test_its_report_is_written_anew(place: Path) -> None:
    done = maxcode("report", "finished", cwd=place)
    assert done.returncode == 0, done.stderr
    page = (place / "finished" / "report.html").read_text()
    assert "Candidate 1:2 is 1.65x as fast as the original" in page
    assert "the machine is busy" in page  # a note of result.json


def test_an_interrupted_run_has_a_report(place: Path) -> None:
    assert maxcode("report", "interrupted", cwd=place).returncode == 0
    assert "This run is unfinished" in (place / "interrupted" / "report.html").read_text()


def test_it_is_compared(place: Path) -> None:
    found = answer(maxcode("compare", "finished", "finished", "--json", cwd=place))
    assert found["verdict"] == "same program"
    assert found["first"]["speedup"]["low"] == pytest.approx(1.6266, abs=1e-4)


def test_its_certificate_is_read_and_nothing_in_it_contradicts_its_samples() -> None:
    found = read(DATA / "finished" / "certificate.json")
    assert (found.version, found.holds, found.trusted) == ("0.1.0", True, True)


@pytest.mark.slow
def test_tests_that_are_not_named_or_gone_or_changed_are_told(place: Path, tmp_path: Path) -> None:
    """From another folder: version 0.1 did not name them; this version does, so each can be looked up again."""
    path = place / "finished" / "run.toml"
    header = tomllib.loads(path.read_text())
    (place / "tests" / "01.in").write_text("1\n")
    told = [
        ({}, "which tests?", "give them with --tests DIR"),
        ({"tests": "/gone/tests"}, "were in /gone/tests, which is not here", "give them with --tests DIR"),
        ({"tests": str(place / "tests")}, "the test 01 (", "input is another one"),
    ]
    for given, *words in told:
        path.write_text(tomli_w.dumps({**header, "given": {"source": "/gone/slow.cpp", **given}}))
        done = maxcode_here("verify", str(place / "finished" / "certificate.json"), cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.slow
def test_its_certificate_is_verified_again(place: Path) -> None:
    done = maxcode("verify", "finished/certificate.json", "--problem", "slow.cpp", "--tests", "tests", cwd=place)
    assert done.returncode in (0, 1), done.stderr  # 1: not significantly faster here, on a loaded machine
    assert "(certificate: 1.65x [1.62, 1.72])" in done.stdout


@pytest.mark.slow
def test_an_interrupted_run_is_resumed_and_keeps_what_it_had_recorded(place: Path) -> None:
    events = place / "interrupted" / "events.jsonl"
    before = events.read_bytes()
    recorded = {line.at for line in read_events(place / "interrupted") if isinstance(line, Evaluated)}
    found = answer(
        maxcode("optimize", "slow.cpp", "--tests", "tests", "--budget", 4, "--out", "interrupted", "--method",
                "best-of-n", "--no-certificate", "--json", cwd=place, timeout=600)
    )  # fmt: skip
    assert events.read_bytes().startswith(before)
    assert found["candidates"] == 4
    after = [line.at for line in read_events(place / "interrupted") if isinstance(line, Evaluated)]
    assert len(recorded) == 2
    assert sorted(after) == sorted({(1, slot) for slot in range(4)})  # each once: nothing recorded was repeated
    assert (place / "interrupted" / "result.json").is_file()
    assert (place / "interrupted" / "report.html").is_file()
