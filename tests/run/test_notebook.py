"""In the kernel of a notebook, which runs an event loop: a run works, shows its progress, and its result is HTML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from tests.support.run_0_1 import run_of_0_1

CELL = """
import maxcode
maxcode.optimize_program("slow.cpp", tests="tests", budget=3, method="best-of-n", out="finished")
"""


@pytest.fixture
def outputs(tmp_path: Path) -> list[dict[str, Any]]:
    """What the cell shows."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": sys.executable}
    resources = {"metadata": {"path": str(run_of_0_1(tmp_path))}}
    nbclient.NotebookClient(book, timeout=300, resources=resources).execute()
    return list(book.cells[0].outputs)


@pytest.mark.heavy
@pytest.mark.sandbox
@pytest.mark.filterwarnings("default")  # those of the notebook's own packages
def test_a_run_in_a_notebook_shows_progress_and_its_result(outputs: list[dict[str, Any]]) -> None:
    progress, result = outputs
    assert "3/3 candidates (3 correct), best 1.65x [1.63, 1.72]" in progress["data"]["text/plain"]
    assert result["output_type"] == "execute_result"
    assert "1.65x [1.63, 1.72] 95% interval" in result["data"]["text/html"]
    assert 'href="./finished/report.html"' in result["data"]["text/html"]
