"""``maxcode optimize problem.py --device cpu`` without a key: a verified result, and what the record tells of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import answer, maxcode, maxcode_here

pytestmark = pytest.mark.sandbox

EXAMPLE = Path(__file__).parents[2] / "examples" / "fused_gelu" / "problem.py"


@pytest.mark.slow
def test_a_candidate_that_is_the_reference_is_correct_and_no_faster(tmp_path: Path) -> None:
    candidate = tmp_path / "candidate.py"
    candidate.write_text(EXAMPLE.read_text().replace("class Model", "class ModelNew"))
    words = ("evaluate", candidate, "--against", EXAMPLE, "--device", "cpu", "--json")
    found = answer(maxcode(*words, cwd=tmp_path, timeout=600))
    assert found["outcome"] == "correct", found
    assert not found["speedup"]["significant"]  # a race alone may be wrong


@pytest.mark.slow
def test_a_candidate_that_leaves_out_an_operator_is_wrong(tmp_path: Path) -> None:
    candidate = tmp_path / "candidate.py"
    candidate.write_text(EXAMPLE.read_text().replace("class Model", "class ModelNew").replace(" + residual", ""))
    found = answer(maxcode("evaluate", candidate, "--against", EXAMPLE, "--device", "cpu", "--json", cwd=tmp_path))
    assert found["outcome"] == "wrong", found
    assert found["speedup"] is None


@pytest.mark.slow
def test_the_built_in_policy_makes_the_example_faster(tmp_path: Path) -> None:
    words = ("optimize", EXAMPLE, "--device", "cpu", "--budget", "6", "--out", "run", "--json")
    found = answer(maxcode(*words, cwd=tmp_path, timeout=1200))
    assert found["outcome"] == "correct", found
    assert found["confirmed"] and found["speedup"]["significant"] and found["speedup"]["low"] > 1
    assert found["certificate"], found["notes"]
    assert "native_map_" in (tmp_path / "run" / "best" / "problem.py").read_text()
    lines = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    told = [line["critique"] for line in lines if "critique" in line]
    assert any("of the time is spent outside of torch" in critique for critique in told), told


def test_the_rules_for_modules_can_be_listed() -> None:
    found = answer(maxcode_here("list", "modules", "--json"))
    assert {"simplify", "fuse", "reduce", "pool", "channels_last"} <= set(found)
    assert "no torch.compile" in answer(maxcode_here("list", "policies", "--json"))["modules"]
