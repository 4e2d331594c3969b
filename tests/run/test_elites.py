"""The map of elites, and what a threaded kernel is worth on one core, as the page tells them."""

from __future__ import annotations

from pathlib import Path

from maxcode.run.report import write_report
from tests.support.fake_runs import Plan, make_run
from tests.support.html_tree import Node, read, rows

SIMD = ("for (int i", '_Pragma("omp simd") for (int i')
KERNELS = (
    Plan(speed=1.3, rate=10.0, edit=SIMD),
    Plan(speed=1.4, rate=12.0, edit=("int total = 0", "long total = 0")),
    Plan(speed=2.5, rate=20.0, edit=(SIMD[0], SIMD[1].replace("int", "long"))),
    Plan(speed=0.9, rate=5.0, edit=("int total = 0", "short total = 0")),
)


def page_of(folder: Path) -> Node:
    make_run(folder, KERNELS)
    return read(write_report(folder))


def test_the_map_holds_the_fastest_candidate_of_every_cell_the_fastest_first(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    (told,) = page.at("elites").all("table")
    found = rows(told)
    assert [row[0] for row in found] == ["simd", "none"]
    assert [row[2] for row in found] == ["1:2", "1:1"]
    assert [row[4] for row in found] == ["20.0 GFLOPS", "12.0 GFLOPS"]
    assert "2 cells were reached" in page.at("elites").text


def test_the_verdict_on_a_threaded_kernel_says_what_it_is_worth_on_one_core(tmp_path: Path) -> None:
    text = page_of(tmp_path).text
    assert "in wall-clock time" in text
    assert "On one core it is 1.25x [1.20, 1.30] as fast, by CPU time." in text
