"""The page shows the certificate that lies beside it, and leads to it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import cast

import anyio
import pytest

from maxcode.bench.versus import entrant
from maxcode.core.types import Problem, ProgramSpec
from maxcode.evaluate.harness_protocol import SearchHarness
from maxcode.run.report import write_report
from maxcode.run.run_folder import write_best
from maxcode.run.smaller_patch import smaller_patch
from tests.run.test_smaller_patch import Table
from tests.support.fake_runs import WON, make_run
from tests.support.html_tree import Node, read

ATTACK = "<script>alert(1)</script>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    result = make_run(tmp_path, WON)
    assert result.best is not None
    hashes = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in result.best.program.files.items()}
    interval = {"value": 1.6, "low": 1.5, "high": 1.7, "confidence": 0.95}
    timing = {"clock": "cpu", "speedup": interval, "significant": True, "verdict": "faster", "pairs": 15}
    claim = {
        "holds": True,
        "trusted": True,
        "refused": "",
        "subject": {"winner": hashes, "kind": "program"},
        "made": "2026-01-02T03:04:05+00:00",
        "verification": {"runs": 10, "failed": 0},
        "timing": timing,
        "harsher": {"triggers": ["12.0 times faster"], "inputs": 32, "passed": True, "why": ""},
        "unseen": {"interval": interval, "inputs": ["made-1", "made-2"], "samples": [[1, 2]]},
        "control": {"interval": {"value": 1.0, "low": 0.99, "high": 1.01, "confidence": 0.99}},
        "made_inputs": {"inputs": [{"name": "made-1"}]},
    }
    (tmp_path / "certificate.json").write_text(json.dumps(claim))
    return tmp_path


def section(folder: Path, **changes: object) -> Node:
    path = folder / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return read(write_report(folder)).at("certificate")


def test_a_certificate_is_summed_up_and_linked(folder: Path) -> None:
    found = section(folder)
    assert [node.attributes["href"] for node in found.all("a")] == ["certificate.json"]
    assert "the winner is 1.60x [1.50, 1.70] as fast, and no check failed." in found.text
    assert "10 of 10 runs right, each with 1 newly generated inputs" in found.text
    assert "1.60x [1.50, 1.70] on 2 of them" in found.text
    assert "passed on 32 extra inputs (triggered by: 12.0 times faster)" in found.text
    assert "the original against itself: [0.9900, 1.0100], 99% interval" in found.text


def test_all_of_a_page_and_of_a_comparison_is_about_the_smaller_patch(folder: Path) -> None:
    whole = entrant(folder)
    assert whole.winner is not None and whole.timing is not None
    base, useful = whole.original, "    cin.tie(nullptr);\n"
    problem = Problem("word-count", "repo", "cpp", base, ProgramSpec())
    table = cast(SearchHarness, Table([useful]))
    smaller = anyio.run(smaller_patch, table, problem, whole.winner, folder, lambda words: None)
    assert len(smaller.dropped) == 1 and useful in smaller.program.text and smaller.evaluation is not None
    write_best(folder, base, smaller.program, is_patch=True)
    found = entrant(folder)
    assert (found.winner, found.timing) == (smaller.program, smaller.evaluation.timing)
    hashes = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in smaller.program.files.items()}
    (folder / "certificate.json").write_text(json.dumps({"holds": True, "trusted": True, "refused": "",
                                                         "subject": {"winner": hashes}}))  # fmt: skip
    page = read(write_report(folder))
    assert "about another program" not in page.at("certificate").text
    assert "2.00x" in page.text and "without its changes that do not pay, is 2.00x" in page.text
    gone = next(line for line in whole.winner.text.splitlines() if line.startswith("int plan"))
    assert gone in whole.winner.text and gone not in page.at("change").text
    write_best(folder, base, whole.winner, is_patch=True)
    assert entrant(folder) == whole


def test_what_speaks_against_a_certificate_is_said_first(folder: Path) -> None:
    found = section(folder, trusted=False, doubts=[ATTACK], warnings=["it may be fast only on what was given"])
    assert "but a check failed, so do not trust it." in found.text
    assert f"Do not trust it: {ATTACK}" in found.text and found.all("script") == []
    assert "Warning: it may be fast only on what was given" in found.text
    assert "Not certified: its answers are flaky." in section(folder, refused="its answers are flaky", timing=None).text
    unseen = section(folder, refused="", unseen={"why": "tests.made is 0"}, harsher=None)
    assert "not compared: tests.made is 0" in unseen.text


def test_a_certificate_of_another_program_and_one_that_cannot_be_read_certify_nothing(folder: Path) -> None:
    other = section(folder, subject={"winner": {"slow.cpp": "0" * 64}})
    assert "Not certified: certificate.json is about another program, not the best one" in other.text
    (folder / "certificate.json").write_text("{")
    damaged = read(write_report(folder)).at("certificate")
    assert "Not certified: certificate.json exists but cannot be read" in damaged.text
    (folder / "certificate.json").unlink()
    assert [node for node in read(write_report(folder)).all("section") if node.attributes["id"] == "certificate"] == []
