"""A real cluster of two node processes on this machine, shared by the tests that only measure on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from maxcode.core.types import Problem
from maxcode.evaluate.cluster import Cluster, ClusterRequest, opened
from maxcode.problems import load
from tests.support.counting import SLOW

TWO = ClusterRequest("local:2", shared=True)  # other tests use the same cores


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "slow.c").write_text(SLOW)
    (folder / "tests").mkdir()
    for number, n in enumerate((10, 150_000_000, 200_000_000)):
        (folder / "tests" / f"{number}.in").write_text(f"{n}\n")
        (folder / "tests" / f"{number}.out").write_text(f"{n * (n - 1) // 2}\n")
    return folder


@pytest.fixture(scope="session")
def problem(place: Path) -> Problem:
    return load(place / "slow.c", place / "tests", {}).problem


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Cluster]:
    with opened(TWO, None) as cluster:
        yield cluster
