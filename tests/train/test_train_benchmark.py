"""The benchmark of training at toy size on a table of rates: every cell once, resumed, at equal measurements."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from tests.support.toy_run import DEMO, TABLE, TableBench

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("rl")


@pytest.mark.slow
@pytest.mark.parametrize("completion", ["text", "schedule"])
def test_variants_and_what_else_the_measurements_would_have_bought(
    completion: str, script: Any, tmp_path: Path
) -> None:
    config = tmp_path / "toy.toml"
    config.write_text(tomli_w.dumps({**TABLE, "problems": [str(DEMO / "gemm")]}))
    bench, changes = TableBench(), {"completion": completion}
    setting = script.Setting(config, tmp_path / "out", bench, lambda note: None, changes)
    found = script.rows(setting, [script.DEFAULT, "plain"], [0])
    names = ["pre-trained", script.DEFAULT, "plain", "corpus", "generator", "best-of-N", "search"]
    assert [row["variant"] for row in found] == names
    by_name = {row["variant"]: row for row in found}
    measured = by_name[script.DEFAULT]["kernels"]
    assert measured > 0
    assert all(0 < by_name[kind]["kernels"] <= measured for kind in script.BESIDE)
    assert by_name["corpus"]["valid"] == 1.0
    assert by_name["corpus"]["best"][1] > 1.0
    assert set(by_name["plain"]["step"]) == set(script.SECONDS)
    told = script.table(found)
    assert all(name in told for name in names)
    before = len(bench.training.asked)
    assert script.rows(setting, [script.DEFAULT, "plain"], [0]) == found
    assert len(bench.training.asked) == before, "a cell that is there is not made again"
    assert json.loads((tmp_path / "out" / "cells" / "corpus-0.json").read_text()) == by_name["corpus"]


def test_the_variants_are_those_that_are_to_be_compared(script: Any) -> None:
    kinds = {name: changes["advantage.kind"] for name, changes in script.VARIANTS.items()}
    assert set(kinds.values()) == {"plain", "leave_one_out", "max_at_k", "entropic"}
    for name, changes in script.VARIANTS.items():
        assert changes["diversity.archive"] == ("SQD" in name or "archive" in name), name
        assert changes["diversity.promotion"] == ("SQD" in name or "stages" in name), name
