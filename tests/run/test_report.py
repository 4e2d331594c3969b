"""The report says what the record says, whatever state the run is in."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core.history import Result, leads
from maxcode.core.method import Method
from maxcode.core.types import Outcome, State, Usage
from maxcode.errors import InputError, RecordError
from maxcode.llm.clients import Completion, Message, ModelRequest
from maxcode.llm.journal import Journal
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import EVENTS, Record, check_header
from maxcode.run.record import HEADER as RUN_TOML
from maxcode.run.report import write_report
from maxcode.search import BestOfN, CudaLlm
from maxcode.testing import FakeClock, Scripted, ScriptedModel, Table, toy_problem
from tests.support.fake_runs import HEADER, SLOW, WON, Plan, make_run
from tests.support.html_tree import Node, candidates, panels, read, rows


def report(folder: Path) -> Node:
    return read(write_report(folder))


def facts(page: Node) -> dict[str, str]:
    """The facts of the run, inner tables as "key value key value"."""
    found = {}
    for pair in page.one("dl", "facts").children:
        assert isinstance(pair, Node)
        term, told = (part for part in pair.children if isinstance(part, Node))
        found[term.text] = " ".join(node.text for node in told.all() if not node.all()) or told.text
    return found


def states(result: Result) -> list[State]:
    return [state for state in result.reached if state.step is not None]


def shown(state: State) -> str:
    assert state.step is not None
    timing = state.step.evaluation.timing
    return str(timing.speedup) if timing else "no timing"


# ------------------------------------------------------------------------------------------------------ what is said


def test_a_won_run_tells_its_speedup_with_interval_and_confidence(tmp_path: Path) -> None:
    best = make_run(tmp_path, WON).best
    assert best is not None and best.step is not None and best.step.evaluation.timing is not None
    found = best.step.evaluation.timing.speedup
    page = report(tmp_path)
    assert page.one("h1").text == "word-count"
    assert page.one("p", "headline").text == str(found)
    told = page.one("p", "sentence").text
    assert f"Candidate {best.id[0]}:{best.id[1]} is {found.value:.2f}x as fast" in told
    assert f"95 % interval {found.low:.2f} to {found.high:.2f}" in told
    assert "confirmed on 20 pairs" in told
    assert page.all("p", "unfinished") == []
    title = page.one("head").one("title").text
    assert "word-count" in title and str(found) in title


def test_every_candidate_has_its_row_in_order_with_the_numbers_of_the_record(tmp_path: Path) -> None:
    result = make_run(tmp_path, WON * 3, search=CudaLlm(4, 6))
    table = candidates(report(tmp_path))
    assert [row[0] for row in table] == [f"{state.id[0]}:{state.id[1]}" for state in states(result)]
    parents = [state.parent.id for state in states(result) if state.parent is not None]
    assert [row[1] for row in table] == [f"{at[0]}:{at[1]}" if at[0] else "original" for at in parents]
    assert [row[2] for row in table] == [state.outcome.value for state in states(result)]
    assert [row[3].split(" at ")[0] for row in table] == [shown(state) for state in states(result)]


def test_what_the_referee_measured_anew_replaces_what_the_evaluator_said(tmp_path: Path) -> None:
    result = make_run(tmp_path, WON)
    with Record(tmp_path) as record:
        anew = {(batch, slot) for batch, line in record.settled.items() for slot in line.evaluations}
        before = {at: record.evaluations[at].timing for at in anew}
    assert anew
    table = {row[0]: row for row in candidates(report(tmp_path))}
    for state in states(result):
        row = table[f"{state.id[0]}:{state.id[1]}"]
        assert row[3].split(" at ")[0] == shown(state)
        assert ("confirmed" in row[4]) == (state.id in anew)
        if state.id in anew:
            old = before[state.id]
            assert old is not None and str(old.speedup) not in row[3]


def test_a_candidate_the_referee_found_wrong_is_shown_as_wrong(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    with Record(tmp_path) as record:
        end = record.settled[2]
        ((slot, evaluation),) = end.evaluations.items()
    wrong = replace(evaluation, outcome=Outcome.WRONG, timing=None)
    text = (tmp_path / EVENTS).read_text().splitlines()
    with Record(tmp_path / "other") as other:
        other.append(type(end)(batch=2, evaluations={slot: wrong}))
    line = (tmp_path / "other" / EVENTS).read_text().splitlines()[-1]
    text = [line if '"settled"' in old and '"batch":2' in old else old for old in text]
    (tmp_path / EVENTS).write_text("\n".join(text) + "\n")
    row = next(row for row in candidates(report(tmp_path)) if row[0] == f"2:{slot}")
    assert row[2:4] == ["wrong", "no timing"]


def test_a_run_without_a_winner_says_that_nothing_was_confirmed(tmp_path: Path) -> None:
    result = make_run(tmp_path, [Plan(speed=1.0), Plan(Outcome.WRONG), Plan(speed=0.9)])
    assert result.best is None
    page = report(tmp_path)
    told = page.one("p", "sentence").text
    assert told.startswith("Nothing was confirmed to be faster than the original. 2 of 3 candidates were correct")
    assert shown(states(result)[0]) in told
    assert [node.text for node in page.all("h2")] == ["Best so far", "Candidates", "What to trust", "The run", "Notes"]
    assert len(candidates(page)) == 3


def test_a_run_that_could_not_be_measured_says_why(tmp_path: Path) -> None:
    why = "not measurable: the original's slowest test runs 2.0 ms of CPU; give larger inputs"
    plan = Plan(timed=False, warnings=(why,))
    make_run(tmp_path / "warned", [plan, plan])
    make_run(tmp_path / "noted", [replace(plan, warnings=())], {"notes": [why]})
    for folder in ("warned", "noted"):
        page = report(tmp_path / folder)
        assert page.one("p", "headline").text == "Not measurable"
        assert page.one("p", "sentence").text == f"N{why[1:]}"
        assert [node.text for node in page.all("h2")][:2] == ["Candidates", "What to trust"]
        assert candidates(page)[0][3:5] == ["no timing", "not timed"]


def test_an_interrupted_run_shows_what_is_open(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    lines = (tmp_path / EVENTS).read_bytes().split(b"\n")
    second = next(at for at, line in enumerate(lines) if b'"part":"batch"' in line and b'"batch":2' in line)
    (tmp_path / EVENTS).write_bytes(b"\n".join(lines[: second + 4]) + b'\n{"part":"crit')
    page = report(tmp_path)
    assert page.one("p", "unfinished").text.startswith("This run is unfinished: 4 of 8 launched candidates are final.")
    table = candidates(page)
    assert len(table) == 8
    assert [row[2] for row in table[5:]] == ["open"] * 3
    assert "not settled" in table[4][4]
    assert "Not proposed yet." in table[7][5]
    assert ["open", "3", "38 %"] in rows(page.at("candidates").one("table", "plain"))


def test_a_batch_that_is_not_settled_has_no_leader_yet(tmp_path: Path) -> None:
    with Record(tmp_path) as record:
        method = Method(Scripted(["1", "2", "3"]), BestOfN(3, 3), compose())
        assert optimize(toy_problem(), method, Table(rule=float), Run(3, record=record)).best is not None
    assert report(tmp_path).one("p", "headline").classes == ["headline", "won"]
    lines = (tmp_path / EVENTS).read_text().splitlines(keepends=True)
    (tmp_path / EVENTS).write_text("".join(line for line in lines if '"settled"' not in line))
    page = report(tmp_path)
    assert page.one("p", "headline").text == "No speed-up"
    assert page.one("ul", "tree").all("a", "best") == []


def test_standing_says_what_a_timing_is_good_for(tmp_path: Path) -> None:
    words = {}
    result = make_run(tmp_path, [*WON, Plan(speed=1.5)])
    for state, row in zip(states(result), candidates(report(tmp_path)), strict=True):
        assert state.step is not None
        timing = state.step.evaluation.timing
        key = (timing.significant, timing.confirmed, timing.verdict) if timing else None
        words[key] = row[4].removesuffix(" best").removesuffix(" was the best for a time")
    assert words == {
        None: "",
        (True, True, "faster"): "confirmed",
        (True, False, "faster"): "significant",
        (False, False, "tie"): "not significant",
        (False, False, "slower"): "slower",
    }


def test_a_run_that_stopped_before_its_budget_says_so(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    check_header(tmp_path, {**HEADER, "budget": 40}, frozenset({"budget"}))
    assert report(tmp_path).one("p", "unfinished").text.startswith("8 of 40 candidates were tried")


def test_a_run_that_has_only_begun_has_a_report_too(tmp_path: Path) -> None:
    check_header(tmp_path, HEADER, frozenset())
    page = report(tmp_path)
    assert page.one("p", "headline").text == "Nothing tried yet"
    assert facts(page)["Policy"] == "rewriter"
    Record(tmp_path).close()
    assert report(tmp_path).one("p", "headline").text == "Nothing tried yet"


def test_a_record_without_a_header_or_an_original_has_a_report_too(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    (tmp_path / RUN_TOML).unlink()
    (tmp_path / "original" / "slow.cpp").unlink()
    page = report(tmp_path)
    assert page.one("h1").text == tmp_path.name
    assert "has no copy of the original" in page.at("change").text
    assert page.at("change").all("div", "diff") == []


# ---------------------------------------------------------------------------------------------------- the facts


def test_the_facts_are_those_of_the_header(tmp_path: Path) -> None:
    clock = FakeClock(1_770_000_000.0)
    make_run(tmp_path, WON, clock=clock)
    clock.advance(90)
    with Record(tmp_path, clock):
        pass
    found = facts(report(tmp_path))
    assert found["Method"] == "best-of-n" and found["Budget (candidates)"] == "8" and found["Seed"] == "0"
    assert found["Compiler flags"] == "-std=c++17, -O3"
    assert found["Tests"] == "seen 3 held out 4 generated 8 dropped 0"
    assert found["Machine"].startswith("name lab-7 processor AMD EPYC 7B13 cores 2")
    assert "g++ g++ (Debian 12.2.0) 12.2.0" in found["Machine"]
    assert found["Candidates launched"] == "8"
    assert found["Time"] == "0.0 s of work, from 2026-02-02 02:40:00 UTC to 2026-02-02 02:41:30 UTC"


def test_what_models_were_paid_is_told_with_the_critics_calls(tmp_path: Path) -> None:
    make_run(tmp_path, WON, {"critic": "llm", "caps": {"calls": 20}})

    async def ask() -> None:
        model = ScriptedModel([Completion("x", Usage(1, 900, 100, 1.0, 0.25))])
        with Journal(tmp_path) as journal:
            for draw in range(3):
                await journal.answer("m", ModelRequest((Message("user", "?"),), draw), model)

    anyio.run(ask)
    found = facts(report(tmp_path))
    assert found["Critic"] == "llm" and found["Caps"] == "calls 20"
    assert found["Model calls"] == "3" and found["Model tokens"] == "2700 in, 300 out"
    assert found["Model cost"] == "$0.75"


def test_slots_that_a_cap_dropped_are_not_shown_as_open(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    lines = (tmp_path / EVENTS).read_text().splitlines()
    kept = [line for line in lines if '"at":[2,3]' not in line]
    settled = {**json.loads(kept[-1]), "dropped": [3]}
    (tmp_path / EVENTS).write_text("\n".join([*kept[:-1], json.dumps(settled)]) + "\n")
    check_header(
        tmp_path, {**HEADER, "budget": 8, "notes": ["ended before its budget"]}, frozenset({"budget", "notes"})
    )
    page = report(tmp_path)
    assert page.one("p", "unfinished").text.startswith("7 of 8 candidates were tried")
    assert [row[2] for row in candidates(page)].count("open") == 0
    assert len(candidates(page)) == 7
    assert "ended before its budget" in page.at("notes").text


def test_unknown_and_missing_keys_of_the_header_are_no_trouble(tmp_path: Path) -> None:
    odd: dict[str, object] = {"cluster": {"nodes": [1, 2], "inner": {"deep": True}}, "empty": [], "note": 3.5}
    check_header(tmp_path, odd, frozenset())
    found = facts(report(tmp_path))
    assert found["cluster"] == "nodes 1, 2 inner deep yes" and found["empty"] == "none" and found["note"] == "3.5"
    assert "Policy" not in found


def test_the_machine_code_of_the_original_stays_in_the_record(tmp_path: Path) -> None:
    code = {"instructions": 82, "loops": 1, "bodies": [{"line": 4, "text": "vaddps %ymm1,%ymm2,%ymm3"}]}
    make_run(tmp_path, WON, {"machine_code": code})
    page = write_report(tmp_path).read_text()
    assert "vaddps" in (tmp_path / RUN_TOML).read_text()
    assert "<dt>machine_code</dt>" not in page and "vaddps" not in page


def test_the_notes_are_shown(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    assert "41 % std::istream (line 21)" in report(tmp_path).at("notes").text


def test_the_policys_words_are_shown_without_their_code(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    told = candidates(report(tmp_path))[2][5]
    assert "pre-increment" in told and "#include" not in told and "```" not in told


def test_a_long_story_is_folded_and_whole(tmp_path: Path) -> None:
    words = " ".join(f"thought{at}" for at in range(200))
    make_run(tmp_path, [Plan(speed=1.5, words=words)])
    story = panels(report(tmp_path))["1:0"]
    assert len(story.one("p", "notes").text) < 450
    assert words in story.all("details")[0].text


def test_reasons_critique_and_compiler_words_stand_with_their_candidate(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    story = report(tmp_path).at("c1-1")
    assert "it does not compile" in story.one("ul", "reasons").text
    folded = {node.all("summary")[0].text: node.text for node in story.all("details")}
    titles = [node.text for node in story.all("h4")]
    assert titles == ["Difference to original", "Critique"]
    assert "outcome unbuilt" in story.text.split("Critique")[1]
    assert "no match for <<" in folded["Compiler's words"]


# ------------------------------------------------------------------------------------- the curve, the samples, the diff


def test_the_curve_is_the_loops_own_succession_of_leaders(tmp_path: Path) -> None:
    result = make_run(tmp_path, WON * 3, search=CudaLlm(4, 6))
    best: State | None = None
    succession = []
    for number, state in enumerate(states(result), start=1):
        if leads(state, best):
            best = state
            succession.append([f"{state.id[0]}:{state.id[1]}", str(number), shown(state)])
    assert len(succession) > 1
    page = report(tmp_path)
    assert rows(page.at("curve").one("table")) == succession
    for drawing in page.at("curve").all("svg"):
        assert len(drawing.one("g", "leader").all("circle")) == len(succession)


def test_the_best_is_marked_and_so_are_former_leaders(tmp_path: Path) -> None:
    result = make_run(tmp_path, WON)
    page = report(tmp_path)
    (row,) = page.one("ul", "tree").all("a", "best")
    assert result.best is not None
    assert row.attributes["href"] == f"#c{result.best.id[0]}-{result.best.id[1]}"
    assert [row[0] for row in candidates(page) if "was the best for a time" in row[4]] == ["1:0"]


def test_the_samples_of_the_best_are_those_of_the_record(tmp_path: Path) -> None:
    best = make_run(tmp_path, WON).best
    assert best is not None and best.step is not None and best.step.evaluation.timing is not None
    timing = best.step.evaluation.timing
    pairs, inputs = report(tmp_path).at("samples").all("table")
    wanted = [[f"{a:.4f}", f"{b:.4f}", f"{a / b:.3f}x"] for a, b in timing.samples]
    assert [row[1:] for row in rows(pairs)] == wanted and len(wanted) == timing.pairs
    assert rows(inputs) == [[name, f"{ratio:.2f}x"] for name, ratio in timing.per_input.items()]


def test_the_difference_holds_both_programs(tmp_path: Path) -> None:
    best = make_run(tmp_path, WON * 2, search=CudaLlm(4, 4)).best
    assert best is not None
    page = report(tmp_path)
    lines = [(node.classes[1], node.text) for node in page.at("change").all("div", "line")]
    assert "".join(text[2:] for kind, text in lines if kind != "added") == SLOW
    assert "".join(text[2:] for kind, text in lines if kind != "removed") == best.program.text
    assert {text[0] for kind, text in lines if kind == "added"} == {"+"}
    assert page.at("change").one("pre").text == best.program.text


def test_long_unchanged_runs_are_folded(tmp_path: Path) -> None:
    make_run(tmp_path, [Plan(speed=1.6, edit=("cout << best", "cout << +best"))])
    fold = report(tmp_path).at("change").one("div", "diff").all("details")[0]
    assert fold.one("summary").text == "30 unchanged lines (1 to 30)"
    assert len(fold.all("div", "line")) == 30


# ------------------------------------------------------------------------------------------------------- bad input


def test_a_folder_that_is_no_run_is_bad_input_with_the_cure(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=r"is not a run folder.*give the folder that `maxcode optimize"):
            write_report(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_or_header_is_named(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    whole = (tmp_path / EVENTS).read_text()
    (tmp_path / EVENTS).write_text(re.sub(r"(?m)^(.*\n.*\n).*$", r"\1{", whole, count=1))
    with pytest.raises(RecordError, match="line 3 is damaged"):
        write_report(tmp_path)
    (tmp_path / EVENTS).write_text(whole)
    (tmp_path / RUN_TOML).write_text("budget = = 3")
    with pytest.raises(RecordError, match=r"run\.toml is damaged"):
        write_report(tmp_path)


def test_a_report_that_cannot_be_written_leaves_nothing_half_written(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    (tmp_path / "report.html").mkdir()
    with pytest.raises(InputError, match="cannot write"):
        write_report(tmp_path)
    assert not list(tmp_path.glob("*.new"))


def test_the_same_record_gives_the_same_page(tmp_path: Path) -> None:
    make_run(tmp_path, WON)
    assert write_report(tmp_path).read_bytes() == write_report(tmp_path).read_bytes()
