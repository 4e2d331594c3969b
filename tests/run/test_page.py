"""The page is one safe file that everybody can read: nothing is loaded or run, structure carries the meaning."""

from __future__ import annotations

import random
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
import tomli_w

from maxcode.core.types import Outcome
from maxcode.run.record import HEADER as RUN_TOML
from maxcode.run.report import write_candidate, write_report
from maxcode.run.report.candidates import by_importance, visible
from maxcode.run.report.html import clip, element, escape, join, raw
from maxcode.run.report.run_view import read_run
from maxcode.run.report.tree_section import marks_of
from maxcode.search import BestOfN, CudaLlm
from tests.support.fake_runs import HEADER, WON, Plan, make_run
from tests.support.html_tree import Node, candidates, panels, read

pytestmark = pytest.mark.heavy

SCRIPT = files("maxcode.run.report").joinpath("report.js").read_text()
ATTACK = "</pre></style></script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&lt;"
HOSTILE = (
    Plan(speed=1.7, words=ATTACK, edit=("int total = 0;", f"int total = 0; // {ATTACK}")),
    Plan(Outcome.UNBUILT, words=f"```\n{ATTACK}", reasons=(ATTACK,), diagnostics=f"{ATTACK}\x00\x1b[31m"),
    Plan(Outcome.UNPARSED, words=f"{ATTACK}\ud800\u202e"),
    Plan(timed=False, warnings=(ATTACK,)),
)


def report(folder: Path) -> Node:
    return read(write_report(folder))


@pytest.fixture(scope="module")
def won(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("won")
    make_run(folder, WON * 3, search=BestOfN(24, 6))
    return write_report(folder)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which everything that others write is an attack: words, diagnostics, programs, names, TOML."""
    folder = tmp_path_factory.mktemp("attacked")
    hostile = [replace(plan, words=plan.words.replace("\ud800", "\ufffd")) for plan in HOSTILE]
    make_run(folder, hostile)
    header = {**HEADER, "problem": ATTACK, "notes": [ATTACK], ATTACK: {ATTACK: [ATTACK]}, "tests": ATTACK}
    (folder / RUN_TOML).write_bytes(tomli_w.dumps(header).encode())
    (folder / "original" / f"{ATTACK.replace('/', '')}.cpp").write_text(ATTACK)
    return write_report(folder)


# ---------------------------------------------------------------------------------------------------------- safety


def test_nothing_that_others_wrote_becomes_markup(attacked: Path) -> None:
    page = read(attacked)  # what opens and closes wrongly fails here
    assert {node.tag for node in page.walk()} & {"img", "iframe", "link", "object", "form", "base"} == set()
    assert [node.text for node in page.all("script")] == [SCRIPT]
    assert [node for node in page.walk() if any(key.startswith("on") for key in node.attributes)] == []
    assert len(page.all("style")) == 1 and ATTACK not in page.one("style").text


def test_everything_that_others_wrote_is_shown_as_text(attacked: Path) -> None:
    page = read(attacked)
    assert page.one("h1").text == ATTACK and ATTACK in page.one("head").one("title").text
    assert page.at("c1-0").one("p", "notes").text == ATTACK
    assert ATTACK in page.at("c1-1").one("ul", "reasons").text
    (words,) = [node for node in page.at("c1-1").all("details") if node.one("summary").text == "Compiler's words"]
    assert words.text.endswith(f"{ATTACK}\u2400\u241b[31m")
    assert page.at("c1-2").one("p", "notes").text == f"{ATTACK}\ufffd[U+202E]"
    assert ATTACK in page.at("c1-3").one("ul", "reasons").text
    assert ATTACK in page.at("change").one("pre").text and ATTACK in page.at("change").all("ins")[0].text
    assert page.at("change").text.count(ATTACK.replace("/", "")) >= 1
    assert ATTACK in page.at("notes").text and page.at("run").text.count(ATTACK) >= 4


@pytest.mark.parametrize("which", ["won", "attacked"])
def test_the_page_loads_and_runs_nothing(which: str, request: pytest.FixtureRequest) -> None:
    page = read(request.getfixturevalue(which))
    for node in page.walk():
        assert {"src", "srcset", "action", "data", "background", "poster"} & node.attributes.keys() == set()
        assert node.attributes.get("href", "#").startswith("#")
        assert "style" not in node.attributes
    assert not re.search(r"url\(|@import|expression|https?:", page.one("style").text)
    policy = next(node for node in page.all("meta") if node.attributes.get("http-equiv"))
    assert policy.attributes["http-equiv"] == "Content-Security-Policy"
    allowed = [("style-src", page.one("style").text), ("script-src", SCRIPT)]
    hashes = [f"{kind} 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for kind, text in allowed]
    assert policy.attributes["content"].split("; ") == [
        "default-src 'none'", *hashes, "base-uri 'none'", "form-action 'none'"
    ]  # fmt: skip
    assert page.all("script") == [page.one("body").children[-1]]


def test_the_page_names_no_address_but_the_svg_namespace(won: Path) -> None:
    addresses = set(re.findall(r"[a-z]+://[^\s\"'<]+", won.read_text()))
    assert addresses <= {"http://www.w3.org/2000/svg"}


@pytest.mark.slow
def test_a_page_of_two_hundred_candidates_stays_small(tmp_path: Path) -> None:
    chance = random.Random(0)
    plans = [replace(WON[at % len(WON)], speed=1 + chance.random() * at / 100) for at in range(200)]
    make_run(tmp_path / "usual", plans, search=BestOfN(200, 8))
    assert write_report(tmp_path / "usual").stat().st_size < 1_100_000
    flood = Plan(Outcome.UNBUILT, words="\"'&<\U0001f600" * 9000, reasons=("&" * 9000,) * 9, diagnostics="<" * 99_000)
    huge = Plan(speed=1.5, words="\U0001f600" * 50_000, edit=("int main", "// \"'<&\n" * 60_000 + "int main"))
    make_run(tmp_path / "flood", [huge] + [flood] * 199, search=BestOfN(200, 8))
    path = write_report(tmp_path / "flood")
    assert path.stat().st_size < 2_000_000
    page = read(path)
    assert len(candidates(page)) == 200 and len(page.one("ul", "tree").all("li")) == 201
    assert "more characters are in the record" in page.at("c1-1").text
    assert "too long for this page" in page.at("change").text


@pytest.mark.slow
def test_a_thousand_candidates_of_twenty_kilobytes_fit_into_two_megabytes(tmp_path: Path) -> None:
    helpers = "".join(f"static int helper{at}(int x) {{ return x * {at} + {7 * at}; }}  // {at}\n" for at in range(320))
    longer = [replace(plan, edit=("int score", f"{helpers}int score")) for plan in WON[:4]]
    chance = random.Random(0)
    plans = [replace(longer[at % 4], speed=1 + chance.random() * at / 600) for at in range(1000)]
    result = make_run(tmp_path, plans, search=BestOfN(1000, 25))
    path = write_report(tmp_path)
    assert 1_500_000 < path.stat().st_size < 2_000_000
    page = read(path)
    assert len(page.one("ul", "tree").all("li")) == 1001 and len(candidates(page)) == 1000
    assert result.best is not None
    best = panels(page)[f"{result.best.id[0]}:{result.best.id[1]}"]
    assert best.all("div", "diff") and best.all("svg") and not best.all("p", "left-out")
    short = [panel for panel in panels(page).values() if panel.all("p", "left-out")]
    assert len(short) > 500
    (told,) = short[-1].all("p", "left-out")
    command = told.one("code").text
    assert command.startswith(f"maxcode report {tmp_path.name} --node ")
    batch, slot = command.rsplit(" ", 1)[1].split(":")
    alone = read(write_candidate(tmp_path, (int(batch), int(slot)))).at(f"c{batch}-{slot}")
    assert alone.all("div", "diff") and not alone.all("p", "left-out")


def test_of_more_candidates_than_a_page_can_name_the_ones_that_matter_are_shown_with_all_above_them(
    tmp_path: Path,
) -> None:
    result = make_run(tmp_path, WON * 5, search=CudaLlm(4, 10))
    run = read_run(tmp_path)
    order = by_importance(run, marks_of(run))
    assert result.best is not None and order[0].at == result.best.id
    some = {slot.at for slot in visible(run, order, 12).slots}
    path = {state.id for state in result.best.ancestry if state.step is not None}
    assert path <= some and len(some) <= 12
    assert all(slot.parent in some or slot.parent[0] == 0 for slot in run.slots if slot.at in some)
    assert visible(run, order, 40) is run


# ------------------------------------------------------------------------------------------------------- semantics


def test_headings_name_the_sections_without_a_gap(won: Path) -> None:
    page = read(won)
    levels = [int(node.tag[1]) for node in page.walk() if re.fullmatch(r"h[1-6]", node.tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for section in page.one("main").all("section"):
        title = page.at(section.attributes["aria-labelledby"])
        assert title.tag == "h2" and title in section.children
    assert [len(page.all(tag)) for tag in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]


def test_every_table_has_a_caption_and_scoped_headings(won: Path) -> None:
    tables = read(won).all("table")
    assert len(tables) == 4
    for table in tables:
        assert table.one("caption").text
        headings = table.one("thead").all("th")
        assert {node.attributes["scope"] for node in headings} == {"col"}
        for row in table.one("tbody").all("tr"):
            cells = [node for node in row.children if isinstance(node, Node)]
            assert [node.tag for node in cells] == ["th"] + ["td"] * (len(headings) - 1)
            assert cells[0].attributes["scope"] == "row"
            assert [node.attributes["role"] for node in cells] == ["rowheader"] + ["cell"] * (len(headings) - 1)


def test_every_chart_is_told_in_words(won: Path) -> None:
    page = read(won)
    figures = page.all("figure")
    assert len(figures) == 14 == len([node for node in figures if "interval" in node.text or "1x" in node.text])
    for figure in figures:
        assert len(figure.one("figcaption").text) > 80
        hidden = [node for node in figure.all("div") if node.attributes.get("aria-hidden") == "true"]
        drawings = 1 if hidden[0].all("div", "small") else 2
        assert len(hidden) == 1 and len(hidden[0].all("svg")) == drawings == len(figure.all("svg"))
    for anchor in ("curve", "samples"):
        assert page.at(anchor).all("table")


def test_what_scrolls_can_be_reached_and_has_a_name(won: Path) -> None:
    page = read(won)
    parts = page.all("div", "code")
    assert len(parts) == 24
    for part in parts:
        assert part.attributes["tabindex"] == "0" and part.attributes["role"] == "group"
        assert part.attributes["aria-label"].endswith("slow.cpp")


def test_links_lead_somewhere_and_ids_are_unique(won: Path) -> None:
    page = read(won)
    ids = [node.attributes["id"] for node in page.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    links = [node.attributes["href"][1:] for node in page.all("a")]
    assert len(links) > 30 and set(links) <= set(ids)


def test_the_page_fits_light_dark_wide_and_narrow(won: Path) -> None:
    page = read(won)
    assert page.one("html").attributes["lang"] == "en"
    metas = {
        node.attributes.get("name"): node.attributes["content"] for node in page.all("meta") if len(node.attributes) > 1
    }
    assert metas["viewport"] == "width=device-width, initial-scale=1" and metas["color-scheme"] == "light dark"
    style = page.one("style").text
    assert "prefers-color-scheme: dark" in style and "@media (max-width" in style
    used, defined = set(re.findall(r"var\((--[a-z0-9-]+)", style)), re.findall(r"(--[a-z0-9-]+):", style)
    assert {name: defined.count(name) for name in used} == dict.fromkeys(used, 2)  # light and dark


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_text_can_be_read_on_everything_it_stands_on_light_and_dark(won: Path) -> None:
    schemes = re.findall(r":root \{(.*?)\}", read(won).one("style").text, re.DOTALL)
    assert len(schemes) == 2 and contrast("#000000", "#ffffff") == pytest.approx(21)
    words = ("ink", "soft", "accent", "good", "bad", "warn", "word", "text", "digit", "type", "call", "remark")
    behind = ("paper", "sheet", "faint", "good-soft", "bad-soft", "warn-soft", "accent-soft")
    code = ("ink", "word", "text", "digit", "type", "call", "remark")
    pairs = [(one, other) for one in words for other in behind] + [
        (one, other) for one in code for other in ("mark-good", "mark-bad")
    ]
    for scheme in schemes:
        colors = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", scheme))
        poor = {pair: contrast(colors[pair[0]], colors[pair[1]]) for pair in pairs}
        assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}


# ---------------------------------------------------------------------------------------------------------- markup


def test_text_is_escaped_and_markup_is_not_escaped_twice() -> None:
    inner = element("b", "<&>", title="\"'")
    assert inner == '<b title="&quot;&#x27;">&lt;&amp;&gt;</b>'
    assert join([inner, "<"], " & ") == f"{inner} &amp; &lt;"
    assert escape(escape("<")) == "&lt;" and element("p", raw("<i></i>")) == "<p><i></i></p>"
    assert element("p", f"{inner}") != element("p", inner)  # a formatted string is text again


def test_what_cannot_be_seen_is_made_visible() -> None:
    assert escape("a\x00\x1b\rb\u202ec\ud800\ufffe\td\n") == "a\u2400\u241b\u240db[U+202E]c\ufffd\ufffd\td\n"


@pytest.mark.parametrize("text", ["short", "x" * 5000, '"' * 5000, "\U0001f600" * 3000, "\x00" * 400])
@pytest.mark.parametrize("most", [10, 100, 4096])
def test_clipped_text_takes_no_more_room_than_it_may(text: str, most: int) -> None:
    clipped = clip(text, most)
    kept = clipped.split("\n[...")[0]
    assert text.startswith(kept) and len(escape(kept).encode()) <= most
    if kept != text:
        assert f"[... {len(text) - len(kept)} more characters" in clipped
        assert len(escape(kept).encode()) > most * 0.8 - 24
