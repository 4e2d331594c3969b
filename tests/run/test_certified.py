"""The page shows the certificate that lies beside it, and leads to it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from maxcode.run.report import write_report
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
