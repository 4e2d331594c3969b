"""What a candidate's panel holds: colours that change no letter, the prompt that was answered, and what to trust."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from maxcode.cli import cli
from maxcode.core.types import Interval, Outcome, StateId, Usage
from maxcode.core.types import Node as Stamp
from maxcode.errors import InputError, RecordError
from maxcode.llm.clients import Completion, Message, ModelRequest
from maxcode.llm.journal import CALLS, Journal, answers_in
from maxcode.run.record import Record
from maxcode.run.report import write_candidate, write_report
from maxcode.run.report.prompts_section import sections
from maxcode.run.report.run_view import read_run
from maxcode.run.report.syntax import code, colored, cut
from maxcode.run.report.tree_section import TreeRow, places
from maxcode.search import BestOfN, CudaLlm, Refine
from maxcode.testing import ScriptedModel
from tests.support.fake_runs import HEADER, WON, Plan, make_run
from tests.support.html_tree import Node, panels, parse, read

LONG = "A long statement that all prompts have. " * 20


def asked(folder: Path, prompts: dict[StateId, str]) -> None:
    """A journal in which a model gave the record's answers to these prompts."""
    with Record(folder) as record, Journal(folder) as journal:
        for draw, (at, prompt) in enumerate(prompts.items()):
            model = ScriptedModel([Completion(record.actions[at].completion, Usage(1, 10, 10))])
            request = ModelRequest((Message("system", "Be fast."), Message("user", prompt)), draw, 0.7)
            anyio.run(journal.answer, "a-model", request, model)


def fold(panel: Node, words: str) -> Node:
    (found,) = [one for one in panel.all("details") if one.all("summary")[0].text.startswith(words)]
    return found


# ---------------------------------------------------------------------------------------------------------- the prompt


def test_a_candidates_prompt_is_the_one_that_got_its_answer(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    asked(tmp_path, {(1, slot): f"# Problem\n\n{LONG}\n\n# Best so far\n\nnumber {slot}" for slot in range(4)})
    page = read(write_report(tmp_path))
    found = panels(page)
    for slot in range(4):
        prompt = fold(found[f"1:{slot}"], "Prompt: 3 sections")
        assert "Asked of a-model at temperature 0.7." in prompt.text
        assert fold(prompt, "Best so far").one("pre").text == f"number {slot}"
        assert fold(prompt, "system").one("pre").text == "Be fast."
    assert [one for one in found["2:0"].all("details") if "Prompt" in one.text] == []


def test_a_long_section_is_on_the_page_once_and_led_to_from_the_others(tmp_path: Path) -> None:
    result = make_run(tmp_path, WON)
    assert result.best is not None
    asked(tmp_path, {(1, slot): f"# Problem\n\n{LONG}" for slot in range(4)} | {(2, 1): f"# Problem\n\n{LONG}"})
    page = read(write_report(tmp_path))
    assert page.text.count(LONG.strip()) == 1
    best = f"{result.best.id[0]}:{result.best.id[1]}"
    assert LONG.strip() in fold(panels(page)[best], "Prompt").text  # the candidate that is looked at first has it
    (again,) = panels(page)["1:0"].all("p", "again")
    assert again.text == f"Problem: the same as in the prompt of candidate {best}"
    assert again.one("a").attributes["href"] == f"#c{best.replace(':', '-')}"


def test_where_several_calls_got_the_same_answer_it_is_said(tmp_path: Path) -> None:
    make_run(tmp_path, [Plan(Outcome.UNPARSED, words="I cannot."), Plan(Outcome.UNPARSED, words="I cannot.")])
    asked(tmp_path, {(1, 0): "# Task\n\none", (1, 1): "# Task\n\ntwo"})
    for panel in panels(read(write_report(tmp_path))).values():
        assert "2 calls got this very answer; the first is shown." in fold(panel, "Prompt").text


def test_a_run_without_a_model_says_that_none_was_asked(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    told = "No model was asked: the policy rewriter made it, and the record keeps no prompt."
    assert all(told in panel.text for panel in panels(read(write_report(tmp_path))).values())


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("# A\n\none\n\n# B\n\ntwo", [("A", "one"), ("B", "two")]),
        ("before\n# A\none", [("", "before"), ("A", "one")]),
        ("# A\n```python\n# no title\n```\n# B\n", [("A", "```python\n# no title\n```"), ("B", "")]),
        ("# A\n~~~~\n```\n# no\n~~~~\n# B\nx", [("A", "~~~~\n```\n# no\n~~~~"), ("B", "x")]),
        ("#include <map>\nno title", [("", "#include <map>\nno title")]),
    ],
)
def test_a_prompts_sections_are_its_titles_outside_of_code(prompt: str, wanted: list[tuple[str, str]]) -> None:
    assert sections(prompt) == wanted


def test_a_journal_is_read_call_by_call_and_damage_is_named(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    asked(tmp_path, {(1, 0): "first", (1, 1): "second"})
    assert [call.request.messages[1].text for call in answers_in(tmp_path)] == ["first", "second"]
    with open(tmp_path / CALLS, "ab") as file:
        file.write(b'{"call":"answ')  # torn
    assert len(list(answers_in(tmp_path))) == 2
    whole = (tmp_path / CALLS).read_bytes().split(b"\n")
    (tmp_path / CALLS).write_bytes(b"\n".join([whole[0], b"{", b""]))
    with pytest.raises(RecordError, match=r"calls\.jsonl, line 2 is damaged"):
        list(answers_in(tmp_path))
    with pytest.raises(RecordError, match="asked no language model"):
        list(answers_in(tmp_path / "elsewhere"))


# ---------------------------------------------------------------------------------------------------------- the colours


@given(
    st.sampled_from(["c", "cpp", "python", "cobol", ""]),
    st.text(st.sampled_from("ax1 \"'/*#\n\\{}<>é\U0001f600\ud800\x00;()"), max_size=80),
)
def test_colours_change_no_letter_of_any_text(language: str, text: str) -> None:
    lines = colored(language, text)
    assert "\n".join("".join(part for _, part in runs) for runs in lines) == text
    for runs in lines:
        whole = "".join(part for _, part in runs)
        for start, end in ((0, 3), (2, 5), (1, len(whole))):
            assert "".join(part for _, part in cut(runs, start, end)) == whole[start:end]


def test_each_sort_of_word_has_its_colour() -> None:
    text = '#include <map>\n// why\nint twice(int x) {\n  return 2 * x; /* "no\n  text" */\n}\nconst char* s = "for";\n'
    page = parse(code("cpp", text))
    found = {kind: [node.text for node in page.all("i", kind)] for kind in "cksdtf"}
    assert found["c"] == ["// why", '/* "no', '  text" */']  # a comment goes on over lines
    assert found["k"] == ["#include", "return", "const"] and found["s"] == ["<map>", '"for"']
    assert found["d"] == ["2"] and found["f"] == ["twice"] and set(found["t"]) == {"int", "char"}
    assert page.text == text
    python = parse(code("python", "def f():\n    return 'x'  # so\n"))
    assert [node.text for node in python.all("i")] == ["def", "f", "return", "'x'", "# so"]
    assert parse(code("cobol", text)).all("i") == []


@pytest.mark.heavy
@pytest.mark.parametrize("language", ["c", "cpp", "python"])
@pytest.mark.parametrize(
    "unit", ["//\\\n", "#/*\n", 'R"(', "int\r", "\n", "a &", "*/", "'enum//", "#if 0\n", "int f(", "{"]
)
def test_no_text_keeps_the_colours_busy_for_long(language: str, unit: str) -> None:
    started = time.process_time()
    colored(language, "int f " + unit * (60_000 // len(unit)))
    assert time.process_time() - started < 10


# ------------------------------------------------------------------------------------------------------------ the tree


def shape(run: list[TreeRow]) -> list[tuple[str, int]]:
    """Column of the dot and how it hangs, by row."""
    return [(place.joint, len(place.lines) + (place.joint in ("t", "e"))) for place in run]


def test_brothers_stand_beside_and_an_only_child_straight_below(tmp_path: Path) -> None:
    make_run(tmp_path / "wide", WON[:3], search=BestOfN(3, 3))
    found = list(places(read_run(tmp_path / "wide")))
    assert [place.level for place in found] == [1, 2, 2, 2]
    assert shape(found) == [("", 0), ("t", 1), ("t", 1), ("e", 1)]
    make_run(tmp_path / "deep", [WON[0]] * 6, search=Refine(6))
    chain = list(places(read_run(tmp_path / "deep")))
    assert [place.level for place in chain] == [1, 2, 3, 4, 5, 6, 7]
    assert set(shape(chain)) == {("", 0), ("u", 0)}


def test_every_candidate_is_below_its_parent_and_a_line_runs_past_those_between(tmp_path: Path) -> None:
    make_run(tmp_path, WON * 3, search=CudaLlm(4, 6))
    run = read_run(tmp_path)
    parents = {slot.at: slot.parent for slot in run.slots}
    path: list[StateId] = []
    found = list(places(run))
    assert {place.at for place in found} == {(0, 0), *parents}
    for place in found:
        del path[place.level - 1 :]
        assert place.at[0] == 0 or path[-1] == parents[place.at]
        path.append(place.at)
    for above, below in pairwise(found):
        assert above.bears == (below.level > above.level)


@pytest.mark.heavy
def test_a_chain_of_a_thousand_steps_nests_nothing(tmp_path: Path) -> None:
    lines = ['{"part":"opened","t":1.0}']
    for batch in range(1, 1001):
        parent = [batch - 1, 0]
        action = {"program": {"files": {"a.c": f"int a{batch};\n"}}, "completion": f"step {batch}"}
        lines += [
            json.dumps({"part": "batch", "batch": batch, "parents": [parent]}),
            json.dumps({"part": "proposed", "at": [batch, 0], "action": action}),
            json.dumps({"part": "evaluated", "at": [batch, 0], "evaluation": {"outcome": "correct"}}),
            json.dumps({"part": "settled", "batch": batch}),
        ]
    (tmp_path / "events.jsonl").write_text("\n".join(lines) + "\n")
    path = write_report(tmp_path)
    assert path.stat().st_size < 2_000_000
    page = read(path)
    assert [item.attributes["data-level"] for item in page.one("ul", "tree").all("li")] == [
        str(level) for level in range(1, 1002)
    ]


# ------------------------------------------------------------------------------------------------------- one candidate


def test_a_page_of_one_candidate_has_all_of_it(tmp_path: Path) -> None:
    words = "thought " * 1500
    make_run(tmp_path, [Plan(Outcome.UNBUILT, words=words, diagnostics="error " * 900)] * 4, search=BestOfN(4, 4))
    done = CliRunner().invoke(cli, ["report", str(tmp_path), "--node", "1:2", "--json"])
    assert (done.exit_code, json.loads(done.output)) == (0, {"report": str(tmp_path / "report-1-2.html")})
    page = read(tmp_path / "report-1-2.html")
    panel = page.at("c1-2")
    assert words.strip() in fold(panel, "The whole answer of the policy").text
    assert panel.all("div", "diff") and "error error" in fold(panel, "Compiler's words").text
    assert "int plan2;" in page.one("pre").text
    assert panel.all("p", "left-out") == [] and page.all("script") == []


@pytest.mark.parametrize("node", ["1", "a:b", "-1:0", "1:2:3", ""])
def test_a_candidate_that_cannot_be_read_or_is_not_there_is_bad_input(tmp_path: Path, node: str) -> None:
    make_run(tmp_path, WON)
    with pytest.raises(InputError, match="give the batch and the slot of a candidate, like 2:3"):
        CliRunner().invoke(
            cli, ["report", str(tmp_path), "--node", node], standalone_mode=False, catch_exceptions=False
        )
    with pytest.raises(InputError, match=r"has no candidate 7:0; its candidates are 1:0 to 2:3"):
        write_candidate(tmp_path, (7, 0))


# -------------------------------------------------------------------------------------------------------------- trust


def trust(folder: Path) -> dict[str, str]:
    pairs = [pair for pair in read(write_report(folder)).one("dl", "trust").children if isinstance(pair, Node)]
    return {pair.one("dt").text: pair.one("dd").text for pair in pairs}


def test_the_panel_of_trust_tells_sandbox_tests_machine_clock_control_and_certificate(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    found = trust(tmp_path)
    assert found["Sandbox"] == "bubblewrap, no network, seccomp"
    assert found["Tests"].startswith("3 seen by the policy4 held out") and "8 made by the generator" in found["Tests"]
    assert "dropped" not in found["Tests"]
    assert found["Machine"] == "lab-7, AMD EPYC 7B13, Linux 6.1, 2 cores"
    assert found["Best timed by"] == "CPU time, 20 fresh pairs, 2 inputs"
    assert found["Control"].startswith("none in this folder") and found["Certificate"] == "none in this folder"
    control = {"interval": {"value": 1.0, "low": 0.99, "high": 1.01, "confidence": 0.99}}
    claim = {"holds": True, "trusted": False, "refused": "", "doubts": ["the machine was busy"], "control": control}
    (tmp_path / "certificate.json").write_text(json.dumps(claim))
    found = trust(tmp_path)
    assert found["Control"] == "the original against itself: [0.9900, 1.0100], 99% interval"
    assert found["Warnings"] == "do not trust it: the machine was busy"
    assert found["Certificate"] == "certificate.json"


def test_what_was_measured_on_nodes_of_a_cluster_says_on_which(tmp_path: Path) -> None:
    quiet = Stamp("lab-8:0-3", "EPYC 9554", "gcc 13.2", (0, 1, 2, 3), Interval(0.0101, 0.01, 0.0102), (0.0, 2.0))
    crowded = replace(quiet, calibration=Interval(0.0121, 0.012, 0.0122), busy=(31.0, 4.0), shared=True)
    other = replace(quiet, name="lab-9:0-3")
    make_run(tmp_path, [Plan(speed=1.5, node=quiet), Plan(speed=1.2, node=crowded), Plan(node=other), Plan(node=other)])
    found = trust(tmp_path)["Measured on"]
    assert "lab-8:0-3: 2 candidates, EPYC 9554, gcc 13.2, calibration 10.1 to 12.1 ms" in found
    assert "cores used by others for at most 31 %, 1 of them on SHARED cores" in found
    assert "lab-9:0-3: 2 candidates" in found
    panel = panels(read(write_report(tmp_path)))["1:1"]
    assert "Measured on lab-8:0-3, EPYC 9554, calibration 12.1 ms, on SHARED cores." in panel.text


def test_what_the_record_does_not_say_is_said_to_be_missing(tmp_path: Path) -> None:
    make_run(tmp_path, [Plan(Outcome.WRONG)], {**HEADER, "tests": {}, "machine": "a box", "sandbox": ""})
    found = trust(tmp_path)
    assert found["Tests"] == "the record does not say" and found["Machine"] == "a box"
    assert found["Best timed by"] == "nothing was confirmed" and found["Warnings"] == "none on the best candidate"


def test_what_was_spent_stands_under_the_headline(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    page = read(write_report(tmp_path))
    told = {pair.one("dt").text: pair.one("dd").text for pair in page.one("dl", "spent").all("div")}
    assert told == {"Candidates": "8 of 8", "Time": "0 s", "Model calls": "0"}
    asked(tmp_path, {(1, slot): "faster" for slot in range(4)})
    page = read(write_report(tmp_path))
    told = {pair.one("dt").text: pair.one("dd").text for pair in page.one("dl", "spent").all("div")}
    assert told["Model calls"] == "4" and told["Tokens"] == "40 in, 40 out" and told["Cost"] == "$0"


def test_a_critique_with_an_earlier_figure_names_it(tmp_path: Path) -> None:
    result = make_run(tmp_path, WON)
    assert result.best is not None and result.best.step is not None and result.best.step.evaluation.timing is not None
    figure = str(result.best.step.evaluation.timing.speedup)
    found = panels(read(write_report(tmp_path)))
    told = found[f"{result.best.id[0]}:{result.best.id[1]}"].text
    assert f"The figure of this candidate is {figure}, from fresh pairs." in told
    assert sum("from fresh pairs." in panel.text for panel in found.values()) < len(WON), "others were timed once"
