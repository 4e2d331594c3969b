"""The finished run that the tests of the command line and of certificates look at."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from tests.support.finished import FinishedRun, make_finished, read_finished


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Made once, whichever worker comes first; the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    place = shared / "finished"
    with (shared / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "told.json").exists():
            shutil.rmtree(place, ignore_errors=True)
            make_finished(place)
    return read_finished(place)


@pytest.fixture
def copied(finished: FinishedRun, tmp_path: Path) -> Path:
    """A copy of the finished run, of its problem and tests, in which a test may change things."""
    return shutil.copytree(finished.place, tmp_path / finished.place.name)  # the folder's name is in the problem's
