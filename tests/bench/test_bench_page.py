"""The page of a bench says what its table says, leads to the runs, and opens in a real browser without a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from maxcode.bench import (
    AXES,
    BenchState,
    BenchView,
    Planned,
    RunFailed,
    TableRequest,
    bench,
    cells,
    claim,
    curves,
    planned,
    read_bench,
    table,
    write_bench_report,
)
from maxcode.cli import cli
from maxcode.core.budget import Budget
from maxcode.errors import BoundaryError
from maxcode.run.report import write_report
from tests.support.bench_help import row, runner
from tests.support.browser import DESKTOP, PHONE, chromium
from tests.support.html_tree import Node, read, rows

METHODS = ("best-of-n", "refine", "cuda-llm")
ATTACK = "</td></table><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"


def view_of(plan: Planned, found: BenchState) -> BenchView:
    asked = TableRequest(plan.suites, plan.cells, budget=plan.budget)
    drawn = tuple(curve for axis in AXES for curve in curves(found.rows, axis))
    return BenchView(plan, found, table(found.rows, asked), drawn)


def terms(out: Path) -> None:
    plan: dict[str, Sequence[object]] = {"methods": list(METHODS), "seeds": [0, 1], "suites": ["maxcode", "pie"]}
    claim(out, {"budget": "6", "policy": "script"}, {"p": "1", "qq": "2", "rrr": "3"}, plan)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bench of three problems, three methods and two seeds, the last run of which is open."""
    folder = tmp_path_factory.mktemp("bench")
    terms(folder)
    plan = planned(folder)
    found = bench(plan.cells[:-1], runner(folder, tokens=100))
    for one in found.rows:
        write_report(folder / one.cell.name)
    assert len(found.rows) == 17
    return folder


@pytest.fixture(scope="module")
def view(out: Path) -> BenchView:
    plan = planned(out)
    return view_of(plan, read_bench(out, plan))


@pytest.fixture(scope="module")
def path(out: Path, view: BenchView) -> Path:
    return write_bench_report(out, view)


def captioned(page: Node, words: str) -> Node:
    (found,) = [one for one in page.all("table") if words in one.one("caption").text]
    return found


@pytest.mark.heavy
def test_the_page_says_what_the_table_says(view: BenchView, path: Path) -> None:
    page = read(path)
    assert page.one("p", "headline").text == "3 methods on 3 problems"
    told = rows(captioned(page, "Figures of maxcode"))
    for summary, line in zip(view.table.methods, told, strict=True):
        assert line[0] == summary.method
        assert line[1].startswith(str(summary.figures["median"]))
        assert line[2].startswith(str(summary.figures["geometric"]))
    assert len(rows(captioned(page, "Figures of pie"))) == 3
    pairs = rows(captioned(page, "compared problem by problem"))
    assert len(pairs) == len(view.table.contrasts) == 3
    by_name = {f"{one.first} : {one.second}": one for one in view.table.contrasts}
    assert [line[3] for line in pairs] == [f"{by_name[line[0]].p:.3f}" for line in pairs]
    costs = rows(captioned(page, "cost"))
    assert [line[1] for line in costs] == [str(one.candidates) for one in view.table.methods]
    assert [item.text for item in page.at("notes").all("li")] == list(view.table.notes)


def test_every_finished_run_is_led_to_and_every_open_one_named(out: Path, view: BenchView, path: Path) -> None:
    page = read(path)
    links = [link.attributes["href"] for link in page.all("a", "seed")]
    assert len(links) == 17
    assert {(out / link).resolve() for link in links} == {
        out / row.cell.name / "report.html" for row in view.found.rows
    }
    assert all((out / link).is_file() for link in links)
    assert page.one("p", "unfinished").text.startswith("This bench is unfinished: 17 of 18 runs are done.")
    (line,) = rows(captioned(page, "not finished"))
    assert line == [view.plan.cells[-1].name, "not run yet, or stopped"]
    why = replace(view.found, failed=(RunFailed(view.plan.cells[-1], BoundaryError("the provider is down")),))
    again = read(write_bench_report(out, replace(view, found=why)))
    assert rows(captioned(again, "not finished"))[0][1] == "the provider is down"
    write_bench_report(out, view)


def test_a_curve_is_drawn_for_every_method_and_axis_with_its_band_and_told_in_numbers(
    view: BenchView, path: Path
) -> None:
    page = read(path)
    axes = {curve.axis for curve in view.curves}
    assert {"candidates", "depth", "tokens", "seconds", "dollars"} == axes
    figures = page.at("curves").all("figure")
    assert len(figures) == len(axes)
    for figure in figures:
        for drawing in figure.all("svg"):
            for kind in ("m0", "m1", "m2", "b0", "b1", "b2"):
                assert len(drawing.one("g", kind).all("path")) == 1
    first = next(one for one in view.curves if one.axis == "candidates")
    told = rows(captioned(page, "Best after so many candidates"))
    assert told[0] == [first.method, *(str(first.at(float(x))) for x in range(1, 7))]


def test_the_map_has_the_geometric_mean_over_seeds_in_its_shade(tmp_path: Path) -> None:
    gains = {("p", "a"): (1.0, 1.0), ("p", "b"): (2.0, 8.0), ("q", "a"): (1.2, 1.2), ("q", "b"): (1.6, 1.6)}
    found = tuple(row(*at, seed, gain) for at, some in gains.items() for seed, gain in enumerate(some))
    plan = Planned(cells(["p", "q"], ["a", "b"], range(2)), Budget(4), ("maxcode",))
    page = read(write_bench_report(tmp_path, view_of(plan, BenchState(found))))
    shades = [(one.text, one.classes[-1]) for one in page.one("table", "map").all("span", "shade")]
    assert shades == [("1.00x", "s0"), ("4.00x", "s4"), ("1.20x", "s2"), ("1.60x", "s3")]


def test_names_that_are_an_attack_stay_text_and_links_stay_inside_the_folder(tmp_path: Path) -> None:
    names = (ATTACK, "javascript:alert(1)", "../../up")
    found = tuple(row(problem, method, 0, 1.5) for problem in names for method in ("a", ATTACK))
    plan = Planned(cells(names, ["a", ATTACK], [0]), Budget(4), ("maxcode",), {ATTACK: ATTACK})
    path = write_bench_report(tmp_path, view_of(plan, BenchState(found)))
    page = read(path)
    assert {"script", "img"} & {node.tag for node in page.walk()} == set()
    links = [link.attributes["href"] for link in page.all("a", "seed")]
    assert len(links) == 6 and all(link.startswith("./") and link.count("/") == 2 for link in links)
    assert page.text.count(ATTACK) > 3


@pytest.mark.heavy
def test_a_bench_of_a_thousand_problems_fits_into_two_megabytes(tmp_path: Path) -> None:
    methods = ("best-of-n", "cuda-llm", "tree")
    names = [f"problem-{at:04}" for at in range(1000)]
    found = tuple(row(cell.problem, cell.method, cell.seed, 1.5) for cell in cells(names, methods, range(3)))
    plan = Planned(cells(names, methods, range(4)), Budget(4), ("maxcode",))
    done = {one.cell for one in found}
    left = tuple(cell for cell in plan.cells if cell not in done)
    small = table(found[:90], TableRequest(plan=plan.cells[:90]))
    path = write_bench_report(tmp_path, BenchView(plan, BenchState(found, left=left), small, ()))
    assert path.stat().st_size < 2_000_000
    page = read(path)
    assert "333 of 1000 problems are shown" in page.at("problems").text
    assert "2800 more are open" in page.at("open").text


def test_a_bench_that_has_only_begun_has_a_page_too(tmp_path: Path) -> None:
    plan = Planned(cells(["p"], ["a", "b"], [0]), Budget(4), ("maxcode",))
    page = read(write_bench_report(tmp_path, view_of(plan, BenchState((), left=plan.cells))))
    assert page.one("p", "headline").text == "2 methods on 1 problem"
    assert [title.text for title in page.all("h2")] == ["Left open", "The bench", "Notes"]


@pytest.mark.heavy
def test_report_writes_the_page_of_a_bench_anew(out: Path, path: Path) -> None:
    before = path.read_text()
    path.unlink()
    done = CliRunner().invoke(cli, ["report", str(out)])
    assert (done.exit_code, done.output.strip()) == (0, str(path))
    assert path.read_text() == before


@pytest.mark.browser
def test_the_page_of_a_bench_opens_in_a_browser_wide_and_narrow_and_keeps_nobody_out(
    path: Path, tmp_path: Path
) -> None:
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    with chromium(tmp_path / "profile") as browser:
        for size, dark in ((DESKTOP, False), (PHONE, True)):
            browser.look(size, dark)
            browser.open(path)
            browser.ask("for (const fold of document.querySelectorAll('details')) fold.open = true")
            assert browser.ask("return document.documentElement.scrollWidth") <= size[0]
            assert len(browser.shown("#curves svg")) == 5
            browser.ask(axe)
            found = browser.driver.execute_async_script("axe.run().then(arguments[0])")
            assert [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"]] == []
            assert browser.errors == []
        browser.look()
        browser.open(path)
        browser.shown("a.seed")[0].click()
        assert browser.driver.title.endswith("maxcode") and browser.driver.current_url.endswith("/report.html")
        assert len(browser.all(".tree a")) == 7
