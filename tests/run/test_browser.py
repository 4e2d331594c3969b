"""The page in a real browser: the tree is worked by mouse and keyboard, nothing hostile runs, everybody can read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import anyio
import pytest
from selenium.webdriver.common.keys import Keys

from maxcode.core.types import Outcome, Usage
from maxcode.llm.clients import Completion, Message, ModelRequest
from maxcode.llm.journal import Journal
from maxcode.run.record import Record
from maxcode.run.report import write_report
from maxcode.search import CudaLlm
from maxcode.testing import ScriptedModel
from tests.support.browser import DESKTOP, PHONE, Browser, chromium
from tests.support.fake_runs import WON, Plan, make_run

pytestmark = pytest.mark.browser

AXE = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def won(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three levels of four and more candidates, of all outcomes; model calls are in the journal."""
    folder = tmp_path_factory.mktemp("won")
    make_run(folder, WON * 2, search=CudaLlm(4, 4))
    prompted(folder, "# Problem\n\nFaster, please.\n\n# Task\n\nA whole program.")
    return write_report(folder)


def prompted(folder: Path, prompt: str) -> None:
    """A journal in which a model gave the answers of the record to ``prompt``."""
    with Record(folder) as record, Journal(folder) as journal:
        for draw, action in enumerate(record.actions.values()):
            model = ScriptedModel([Completion(action.completion, Usage(1, 900, 100, 1.0, 0.01))])
            request = ModelRequest((Message("system", "You make programs faster."), Message("user", prompt)), draw)
            anyio.run(journal.answer, "a-model", request, model)


def row(at: str) -> str:
    return f'.tree a[href="#c{at.replace(":", "-")}"]'


def open_panel(browser: Browser) -> str:
    """The heading of the only panel that is shown."""
    (panel,) = browser.shown("article.node")
    return panel.find_element("tag name", "h3").text


def tree_of(browser: Browser) -> list[str]:
    return [link.text.split()[0] for link in browser.shown(".tree a")]


# ------------------------------------------------------------------------------------------------------------ looking


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_the_window_and_the_console_stays_empty(
    browser: Browser, won: Path, size: tuple[int, int], dark: bool
) -> None:
    browser.look(size, dark)
    browser.open(won)
    assert browser.ask("return document.documentElement.scrollWidth") <= size[0]
    assert browser.ask("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 21, 23)" if dark else "rgb(252, 252, 251)"
    )
    assert len(browser.shown("#curve svg")) == 1 and len(browser.shown("#samples svg")) == 1
    browser.ask("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert browser.ask("return document.documentElement.scrollWidth") <= size[0]
    assert browser.errors == []


@pytest.mark.parametrize(("size", "dark"), [(DESKTOP, False), (PHONE, True)], ids=["desktop-light", "phone-dark"])
def test_axe_finds_nothing_that_keeps_somebody_out(
    browser: Browser, won: Path, size: tuple[int, int], dark: bool
) -> None:
    browser.look(size, dark)
    browser.open(won)
    browser.ask("for (const fold of document.querySelectorAll('details')) fold.open = true")
    browser.ask(AXE)
    found = browser.driver.execute_async_script("axe.run().then(arguments[0])")
    told = [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"]]
    assert told == [] and len(found["passes"]) > 30


# ------------------------------------------------------------------------------------------------------------ the tree


def test_clicking_a_node_shows_its_difference_its_timing_its_critique_and_its_prompt(
    browser: Browser, won: Path
) -> None:
    browser.look()
    browser.open(won)
    browser.one(row("1:2")).click()
    assert open_panel(browser) == "Candidate 1:2" and browser.fragment == "#c1-2"
    panel = browser.one("#c1-2")
    added = [line.text for line in panel.find_elements("css selector", "ins")]
    removed = [line.text for line in panel.find_elements("css selector", "del")]
    assert any("++i" in line for line in added) and any("i++" in line for line in removed)
    keyword = panel.find_element("css selector", "ins .k")
    assert keyword.text == "for" and keyword.value_of_css_property("color") == "rgba(122, 45, 143, 1)"
    assert [title.text for title in panel.find_elements("tag name", "h4")] == [
        "Difference to original", "Timing samples", "Critique"
    ]  # fmt: skip
    assert len(panel.find_elements("css selector", "svg .leader circle")) >= 12
    (fold,) = [one for one in panel.find_elements("css selector", "details") if one.text.startswith("Prompt")]
    fold.find_element("tag name", "summary").click()
    assert "a-model at temperature 0.6" in fold.text
    (section,) = [one for one in fold.find_elements("tag name", "details") if one.text.startswith("Problem")]
    section.find_element("tag name", "summary").click()
    assert "Faster, please." in section.text


def test_the_best_is_open_at_first_and_an_address_opens_its_own_candidate(browser: Browser, won: Path) -> None:
    browser.look()
    browser.open(won)
    best = browser.one(".tree a.best").text.split()[0]
    assert open_panel(browser) == f"Candidate {best}"
    browser.open(won, "#c1-3")
    assert open_panel(browser) == "Candidate 1:3"
    browser.one("#curve summary").click()
    browser.shown("#curve td a, #curve th a")[0].click()
    led = browser.fragment.removeprefix("#c").replace("-", ":")
    assert led != "1:3" and open_panel(browser) == f"Candidate {led}"


def test_the_tree_scrolls_to_the_candidate_that_is_open_and_the_page_stays_where_it_is(
    browser: Browser, tmp_path: Path
) -> None:
    plans = [replace(plan, speed=1.01) for plan in WON * 10] + [Plan(speed=1.9)] * 2 + [Plan(speed=1.01)] * 40
    make_run(tmp_path, plans, search=CudaLlm(4, 31))
    browser.look()
    browser.open(write_report(tmp_path))
    inside = (
        "const box = document.querySelector('.shape').getBoundingClientRect();"
        "const row = arguments[0].getBoundingClientRect();"
        "return box.top <= row.top && row.bottom <= box.bottom && box.left <= row.left && row.left < box.right"
    )
    best = browser.one(".tree a.best")
    assert browser.ask("return document.querySelector('.shape').scrollTop") > 0
    assert browser.ask(inside, best) and browser.ask("return scrollY") == 0


def test_a_dot_of_the_curve_opens_its_candidate(browser: Browser, won: Path) -> None:
    browser.look()
    browser.open(won, "#c1-1")
    dot = browser.shown("#curve .timed circle")[0]
    named = browser.ask("return arguments[0].parentElement.textContent", dot).split(": ")[0]
    browser.ask("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", dot)
    assert named != "1:1" and browser.fragment == f"#c{named.replace(':', '-')}"
    assert open_panel(browser) == f"Candidate {named}"


def test_the_keyboard_walks_the_tree_folds_it_and_enters_a_panel(browser: Browser, won: Path) -> None:
    browser.look()
    browser.open(won, "#c1-0")
    order = tree_of(browser)
    browser.one(row("1:0")).send_keys(Keys.HOME)
    assert browser.focused.text == "original" and open_panel(browser) == "The original"
    browser.press(Keys.ARROW_DOWN)
    assert open_panel(browser) == f"Candidate {order[1]}"
    browser.press(Keys.END)
    assert open_panel(browser) == f"Candidate {order[-1]}"
    browser.press(Keys.ARROW_UP)
    assert open_panel(browser) == f"Candidate {order[-2]}"
    browser.press(Keys.HOME, Keys.ARROW_LEFT)
    assert tree_of(browser) == ["original"] and browser.focused.get_attribute("aria-expanded") == "false"
    browser.press(Keys.ARROW_RIGHT)
    assert tree_of(browser) == order
    browser.press(Keys.ARROW_RIGHT, Keys.ENTER)
    assert browser.focused.tag_name == "h3" and browser.focused.text == f"Candidate {order[1]}"
    assert browser.errors == []


def test_one_tab_stop_leads_into_the_tree_and_never_to_a_folded_row(browser: Browser, won: Path) -> None:
    browser.look()
    browser.open(won)
    parent = next(link for link in browser.all(".tree a[aria-expanded]") if link.text != "original")
    child = browser.ask("return arguments[0].parentElement.nextElementSibling.querySelector('a')", parent)
    child.click()
    assert [link.text for link in browser.all('.tree a[tabindex="0"]')] == [child.text]
    parent.find_element("xpath", "preceding-sibling::i[contains(@class, 'dot')]").click()
    assert not child.is_displayed() and parent.get_attribute("aria-expanded") == "false"
    assert [link.text for link in browser.all('.tree a[tabindex="0"]')] == [parent.text]


def test_a_screen_reader_is_told_the_place_and_the_standing_of_every_node(browser: Browser, won: Path) -> None:
    browser.look()
    browser.open(won)
    assert browser.one(".tree").aria_role == "tree" and browser.one(".tree").accessible_name == "Search tree"
    best = browser.one(".tree a.best")
    assert best.aria_role == "treeitem" and best.get_attribute("aria-selected") == "true"
    words = best.accessible_name.split()
    assert words[0] == best.text.split()[0] and words[-1] == "correct" and {"best", "confirmed"} <= set(words)
    (root,) = [link for link in browser.all(".tree a") if link.get_attribute("aria-level") == "1"]
    first = browser.one(row("1:0"))
    assert root.accessible_name == "original" and first.get_attribute("aria-level") == "2"
    brothers = [link for link in browser.all(".tree a") if link.get_attribute("aria-level") == "2"]
    places = [(link.get_attribute("aria-posinset"), link.get_attribute("aria-setsize")) for link in brothers]
    assert places == [(str(at), str(len(brothers))) for at in range(1, len(brothers) + 1)]


def test_without_scripts_everything_is_there_to_be_read(browser: Browser, won: Path) -> None:
    browser.look(scripts=False)
    browser.open(won)
    panels = browser.all("article.node")
    assert len(panels) == 17 and all(panel.is_displayed() for panel in panels)
    assert browser.one(row("1:2")).aria_role == "link"
    browser.one(row("1:2")).click()
    assert browser.driver.current_url.endswith("#c1-2")
    browser.look()


# -------------------------------------------------------------------------------------------------------------- safety

RUNS = "document.title='ran'"
ATTACK = (
    f'</pre></style></script></code><script>{RUNS}</script><img src=x onerror="{RUNS}"><svg onload="{RUNS}">'
    f'<a href="javascript:{RUNS}">x</a><iframe srcdoc="<script>parent.{RUNS}</script>"></iframe>\u2028{RUNS}'
)


def test_nothing_that_a_candidate_a_critic_or_a_prompt_says_runs(browser: Browser, tmp_path: Path) -> None:
    plans = [
        Plan(speed=1.7, words=ATTACK, edit=("int total = 0;", f"int total = 0; // {ATTACK}")),
        Plan(Outcome.UNBUILT, words=ATTACK, reasons=(ATTACK,), diagnostics=ATTACK),
        Plan(Outcome.UNPARSED, words=f"```\n{ATTACK}", reasons=(ATTACK,)),
        Plan(speed=1.2, warnings=(ATTACK,)),
    ]
    make_run(tmp_path, [replace(plan) for plan in plans], {"problem": ATTACK, "notes": [ATTACK]})
    prompted(tmp_path, f"# {ATTACK}\n\n{ATTACK}")
    browser.look()
    browser.open(write_report(tmp_path))
    title = browser.ask("return document.title")
    browser.ask("for (const fold of document.querySelectorAll('details')) fold.open = true")
    for link in browser.all(".tree a"):
        link.click()
        assert ATTACK.split("\u2028")[0][:20] in browser.shown("article.node")[0].text or "original" in link.text
    assert browser.ask("return document.title") == title and ATTACK[:20] in title
    assert browser.ask("return document.scripts.length") == 1
    assert browser.all("img, iframe, [onload], [href^=javascript]") == []
    assert browser.errors == []


def test_the_policy_of_the_page_keeps_a_script_from_running_even_where_one_got_in(
    browser: Browser, won: Path, tmp_path: Path
) -> None:
    text = won.read_text(encoding="utf-8")
    smuggled = f"<script>{RUNS}</script><img src=x onerror=\"{RUNS}\"><p id=in style='color: red'>in</p>"
    text = text.replace("<footer>", f"{smuggled}<footer>")
    (tmp_path / "smuggled.html").write_text(text, encoding="utf-8")
    (tmp_path / "open.html").write_text(text.replace("Content-Security-Policy", "nothing"), encoding="utf-8")
    browser.look()
    browser.open(tmp_path / "open.html")
    assert browser.ask("return document.title") == "ran"  # the attack is a real one
    browser.open(tmp_path / "smuggled.html")
    assert browser.ask("return document.title") != "ran"
    assert browser.one("#in").value_of_css_property("color") != "rgba(255, 0, 0, 1)"
    refused = [told for told in browser.errors if "Content Security Policy" in told]
    assert len(refused) >= 4
    assert open_panel(browser).startswith("Candidate")  # our own still runs
