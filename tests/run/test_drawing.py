"""What is drawn is what was measured: the charts' places, the difference's lines, the words of a completion."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maxcode.code.prose import prose
from maxcode.core.types import Interval, Outcome, Program
from maxcode.run.report import write_report
from maxcode.run.report.charts import BestStep, Dot, count_ticks, curve, ratio_ticks, samples
from maxcode.run.report.diff import pieces, program_diff
from maxcode.run.report.evidence import DRAWN, curve_section
from maxcode.run.report.run_view import read_run
from maxcode.search import BestOfN
from tests.support.fake_runs import WON, Plan, make_run
from tests.support.html_tree import Node, parse, read


def at(x: int, value: float, low: float | None = None, high: float | None = None) -> Dot:
    return Dot(x, Interval(value, low or value, high or value), f"{x}")


def drawing(page: Node, size: str = "wide") -> Node:
    return page.one("div", size).one("svg")


def places(part: Node) -> list[tuple[float, float]]:
    return [(float(dot.attributes["cx"]), float(dot.attributes["cy"])) for dot in part.all("circle")]


# ---------------------------------------------------------------------------------------------------------- charts


def test_a_ratio_and_its_inverse_are_equally_far_from_one() -> None:
    svg = drawing(parse(curve([], [at(1, 2.0), at(2, 1.0), at(3, 0.5)], [], [], 3)))
    (x1, up), (x2, one), (x3, down) = places(svg.one("g", "timed"))
    assert one - up == pytest.approx(down - one, abs=0.2) and up < one < down
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)


def test_leaders_candidates_and_failures_are_told_apart_and_counted() -> None:
    page = parse(curve([BestStep(2, Interval(1.5, 1.4, 1.6))], [at(1, 1.2), at(4, 1.1)], [at(2, 1.5)], [3, 5, 6], 6))
    for size in ("wide", "narrow"):
        svg = drawing(page, size)
        counts = {name: len(places(svg.one("g", name))) for name in ("timed", "leader", "failed")}
        assert counts == {"timed": 2, "leader": 1, "failed": 3}
        assert len(svg.all("g", "bars")) == 1


def test_of_many_candidates_the_curve_draws_some_all_over_the_run_and_says_so(tmp_path: Path) -> None:
    count = DRAWN + 500
    make_run(tmp_path, ([Plan(speed=0.9)] * 99 + [Plan(Outcome.WRONG)]) * (count // 100), search=BestOfN(count, 50))
    page = parse(curve_section(read_run(tmp_path)))
    svg = drawing(page)
    timed, failed = places(svg.one("g", "timed")), places(svg.one("g", "failed"))
    assert len(timed) + len(failed) == DRAWN
    drawn = sorted(x for x, _ in timed)
    assert max(after - before for before, after in pairwise(drawn)) < 0.01 * (drawn[-1] - drawn[0])
    assert f"500 of {count} candidates" in page.one("figcaption").text


def test_the_line_of_the_best_starts_at_the_original_and_steps_up_to_each_leader() -> None:
    leaders = [at(2, 1.5, 1.4, 1.6), at(4, 2.0, 1.9, 2.1)]
    svg = drawing(parse(curve([BestStep(dot.x, dot.ratio) for dot in leaders], [], leaders, [], 6)))
    path = svg.one("g", "best").one("path").attributes["d"]
    line = [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]
    (x1, y1), (x2, y2) = places(svg.one("g", "leader"))
    original = re.search(r"M[\d.]+ ([\d.]+)", svg.one("g", "original").one("path").attributes["d"])
    assert original is not None
    y0 = float(original[1])
    end = line[-1][0]
    wanted = [(0.0, y0), (x1, y0), (x1, y1), (x2, y1), (x2, y2), (end, y2)]
    assert [(round(x), round(y)) for x, y in line[1:]] == [(round(x), round(y)) for x, y in wanted[1:]]
    assert line[0][1] == pytest.approx(y0, abs=0.2) and end > x2


def test_pointing_at_a_candidate_names_it() -> None:
    svg = drawing(parse(curve([], [Dot(1, Interval(1.2, 1.1, 1.3), "1:0: 1.20x [1.10, 1.30] tie")], [], [], 1)))
    assert svg.one("g", "timed").one("title").text == "1:0: 1.20x [1.10, 1.30] tie"


@pytest.mark.parametrize("ratios", [[1.0], [1e-9, 1e6], [0.0, 1.0], [3.0, 3.0, 3.0], [7.123] * 60])
def test_odd_ratios_are_drawn_all_the_same(ratios: list[float]) -> None:
    dots = [at(x, ratio) for x, ratio in enumerate(ratios, start=1)]
    for page in (
        curve([], dots, [], [], len(dots)),
        samples(ratios, Interval(1.0, 0.5, 1.5)),
        curve([], [], [], [1], 1),
    ):
        for size in ("wide", "narrow"):
            svg = drawing(parse(page), size)
            assert "nan" not in str(svg) and "inf" not in str(svg)
            assert svg.all("circle")


def test_the_samples_are_drawn_in_order_around_their_median() -> None:
    svg = drawing(parse(samples([2.4, 2.6, 2.5], Interval(2.5, 2.4, 2.6))))
    (x1, low), (x2, high), (x3, middle) = places(svg.one("g", "leader"))
    assert x1 < x2 < x3 and high < middle < low
    assert svg.all("g", "original") == []  # 1 is far away
    assert drawing(parse(samples([1.02, 1.03], Interval(1.02, 1.01, 1.03)))).all("g", "original")


def test_a_legend_explains_what_is_drawn_and_nothing_else(tmp_path: Path) -> None:
    make_run(tmp_path / "won", WON)
    make_run(tmp_path / "lost", [Plan(), Plan()])
    legends = {}
    for folder in ("won", "lost"):
        page = read(write_report(tmp_path / folder))
        legends[folder] = [key.classes[1] for figure in page.all("figure") for key in figure.all("span", "key")]
    assert legends["won"] == ["best", "leader", "timed", "failed", "original", "leader", "best"]
    assert legends["lost"] == ["best", "timed", "original"]


def test_a_drawing_holds_nothing_but_shapes_and_numbers() -> None:
    page = parse(samples([1.5, 1.6], Interval(1.5, 1.4, 1.6)))
    assert {node.tag for node in page.walk()} <= {"div", "svg", "g", "path", "rect", "circle", "text", "title"}
    names = {key for node in page.walk() for key in node.attributes}
    assert not {key for key in names if key.startswith("on") or "href" in key or key in ("style", "id")}


@example(0.0014340246289719243, 1.25)
@given(st.floats(1e-3, 1e3), st.floats(1.21, 1e4))
def test_ticks_of_ratios_are_round_few_and_inside(low: float, spread: float) -> None:
    ticks = ratio_ticks(low, low * spread)
    assert 1 <= len(ticks) <= 9 and ticks == sorted(set(ticks))
    assert low * (1 - 1e-6) <= ticks[0] and ticks[-1] <= low * spread * (1 + 1e-6)
    assert all(float(f"{tick:.4g}") == pytest.approx(tick) for tick in ticks)


@given(st.integers(0, 1), st.integers(1, 5000), st.sampled_from([6, 12]))
def test_ticks_of_counts_hold_both_ends(first: int, last: int, most: int) -> None:
    ticks = count_ticks(first, last, most)
    assert ticks == sorted(set(ticks)) and ticks[0] == first and ticks[-1] == last and len(ticks) <= most + 2


# ------------------------------------------------------------------------------------------------------- difference

LINES = st.lists(st.sampled_from(["a", "b", "", "}", "  x = 1;", "\x0c", "c\r"]), max_size=30)


@given(LINES, LINES)
def test_the_pieces_of_a_difference_make_both_texts(old: list[str], new: list[str]) -> None:
    found = pieces("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))
    assert [line for piece in found if piece.kind != "added" for line in piece.lines] == old
    assert [line for piece in found if piece.kind != "removed" for line in piece.lines] == new
    for piece in found:
        if piece.kind != "added":
            assert old[piece.old - 1 : piece.old - 1 + len(piece.lines)] == list(piece.lines)
        if piece.kind != "removed":
            assert new[piece.new - 1 : piece.new - 1 + len(piece.lines)] == list(piece.lines)


def test_a_changed_line_has_its_change_marked() -> None:
    page = parse(program_diff(Program({"a.c": "int f(string s) {\n"}), Program({"a.c": "int f(const string& s) {\n"})))
    assert page.one("del").one("mark").text == "string" and page.one("ins").one("mark").text == "const string&"
    other = parse(program_diff(Program({"a.c": "alpha();\n"}), Program({"a.c": "while (x) y++;\n"})))
    assert other.all("mark") == []


def test_line_numbers_are_those_of_each_side() -> None:
    page = parse(program_diff(Program({"a.c": "1\n2\n3\n"}), Program({"a.c": "1\nx\ny\n3\n"})))
    numbers = [(node.attributes["data-old"], node.attributes["data-new"]) for node in page.all("span", "n")]
    assert numbers == [("1", "1"), ("2", ""), ("", "2"), ("", "3"), ("3", "4")]


def test_files_that_came_went_or_stayed_are_each_told() -> None:
    before, after = (
        Program({"a.c": "a\n", "b.h": "b\n", "c.h": "c"}),
        Program({"b.h": "b\n", "c.h": "c\n", "d.c": "d\n"}),
    )
    told = [node.text for node in parse(program_diff(before, after)).all("p", "file")]
    assert told == [
        "a.c: lines removed 1, added 0.",
        "b.h: unchanged.",
        "c.h: only the line break at its end differs.",
        "d.c: lines removed 0, added 1.",
    ]


# ------------------------------------------------------------------------------------------------------------ prose


@pytest.mark.parametrize(
    ("completion", "words"),
    [
        ("use a vector", "use a vector"),
        ("before\n```cpp\nint x;\n```\nafter", "before\nafter"),
        ("a\n~~~\ncode\n~~~\nb\n```\nmore\n```", "a\nb"),
        ("a\n````\n```\ncode\n```\n````\nb", "a\nb"),
        ("never closed\n```cpp\nint main() {", "never closed"),
        ("```\nonly code\n```", ""),
        ("inline ``` ticks stay", "inline ``` ticks stay"),
        ("a\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\nb", "a\nb"),
        ("a\n------- SEARCH:\nx\n=======\ny\n+++++++ REPLACE\nb", "a\nb"),
        ("cut\n<<<<<<< SEARCH a.cpp\nint x;", "cut"),
        ("see\n----- Search space\nIt is large.", "see\n----- Search space\nIt is large."),
        ("see\n----- Search\nIt is large.", "see\n----- Search\nIt is large."),
    ],
)
def test_the_words_of_a_completion_are_what_is_not_code(completion: str, words: str) -> None:
    assert prose(completion) == words


def test_the_runtime_that_a_rule_inserts_is_in_one_closed_fold() -> None:
    old = "#include <iostream>\nint main() {\n    std::cin >> n;\n}\n"
    helper = "// ---- maxcode runtime: reader ----\nint a;\n\n}\n// ---- end of maxcode runtime ----\n"
    new = f"#include <iostream>\n{helper}{helper.replace('reader', 'writer')}int main() {{\n    mxr::in >> n;\n}}\n"
    page = parse(program_diff(Program({"a.cpp": old}), Program({"a.cpp": new})))
    fold = page.one("details")
    assert fold.one("summary").text == (
        "maxcode runtime: reader, writer (10 lines): helpers that the changed lines call"
    )
    assert "int a;" in fold.text and "mxr::in" not in fold.text
    assert "int a;" not in page.text.replace(fold.text, "")
