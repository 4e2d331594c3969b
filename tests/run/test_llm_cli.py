"""The command line with a language model at its other end: a provider on loopback stands in for one.

One run is as a user makes it.  What models cost, are capped at and are replayed from is seen on the table machine,
through the same options and the same job.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maxcode.code.source import fenced
from maxcode.errors import ProviderError
from maxcode.evaluate.machine.machine import describe
from maxcode.llm.journal import CALLS
from maxcode.run.job import optimize_source
from maxcode.run.record import Batch, Critiqued, Proposed, read_events
from maxcode.run.result import RunResult
from maxcode.testing import Table
from tests.support.cli import answer, maxcode, maxcode_here, request_of
from tests.support.counting import FAST, SLOW
from tests.support.provider import Provider, serving
from tests.support.table_machine import TableMachine

NOBODY = "http://127.0.0.1:9/v1"

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    """A provider whose one model always answers the fast program, a comment with the draw apart."""
    with serving(fixed=fenced(FAST + "static const long drawn = {draw};\n", "c")) as here:
        yield here


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a slow program and its tests."""
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    for number, n in enumerate((10, 1000, 220_000_000)):
        (tmp_path / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-table")
    return tmp_path


def words(url: str, *more: str) -> list[str]:
    return ["optimize", "slow.c", "--tests", "tests", "--policy", "llm:maxcode-fixed", "--base-url", url,
            "--method", "cuda-llm", "--no-certificate", *more]  # fmt: skip


def speed(text: str) -> float:
    return 3.0 if "n * (n - 1) / 2" in text else 1.0


def ran(url: str, *more: str) -> RunResult:
    """The command, measured on the table machine."""
    _, *rest = words(url, *more)
    return optimize_source(request_of(*rest), on=TableMachine(Table(rule=speed)))


def test_a_run_with_a_model_is_measured_paid_and_holds_no_key(running: Provider, place: Path) -> None:
    (place / "prices.toml").write_text('"maxcode-fixed" = { input = 1000, output = 1000 }\n')
    more = ["--budget", "2", "--prices", "prices.toml", "--max-calls", "5", "--out", "run", "--json"]
    found = answer(maxcode(*words(running.url, *more), cwd=place, OPENAI_API_KEY="sk-secret"))
    assert found["speedup"]["significant"] and found["confirmed"]
    spent = found["spent"]
    assert spent["calls"] == 2 and spent["prompt_tokens"] == 200
    assert spent["dollars"] == pytest.approx((spent["prompt_tokens"] + spent["completion_tokens"]) / 1000)
    assert tomllib.loads((place / "run" / "run.toml").read_text())["caps"] == {"calls": 5}
    for path in (place / "run").rglob("*"):
        assert path.is_dir() or b"sk-secret" not in path.read_bytes(), path
    calls = [json.loads(line) for line in (place / "run" / CALLS).read_bytes().splitlines()]
    assert len(calls) == 2
    assert calls[0]["request"]["messages"][0]["role"] == "system"


def test_a_run_can_be_replayed_without_the_model_and_no_further(running: Provider, place: Path) -> None:
    found = ran(running.url, "--budget", "2", "--out", "run")
    assert found.speedup is not None and found.speedup.value == 3.0
    assert found.spent is not None and (found.spent.calls, found.spent.dollars) == (2, None)
    asked = len(running.bodies)
    again = ran(NOBODY, "--budget", "2", "--out", "again", "--replay", "run")
    assert again.speedup == found.speedup
    assert again.spent is not None and again.spent.calls == 0
    assert len(running.bodies) == asked
    with pytest.raises(ProviderError, match="holds no answer of maxcode-fixed"):
        ran(NOBODY, "--budget", "3", "--out", "again", "--replay", "run")


def test_a_replay_in_which_another_candidate_is_the_fastest_takes_the_answers_of_that_batch(
    running: Provider, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "replies", told)
    more = ["--method", "cuda-llm+maxcode/paper", "--budget", "4"]  # the critic is the model, too
    found = ran(running.url, *more, "--out", "run")
    proposed = {line.at: line.action for line in read_events(place / "run") if isinstance(line, Proposed)}
    last = next(slot for slot in (1, 0) if slot != expanded(place / "run")[1][0][1])
    other = proposed[1, last].program
    assert other is not None
    rule = Table(rule=lambda text: 4.0 if text == other.text else speed(text))
    _, *rest = words(NOBODY, *more, "--out", "again", "--replay", "run")
    again = optimize_source(request_of(*rest), on=TableMachine(rule))
    assert again.speedup is not None and again.speedup.value == 4.0
    assert again.candidates == found.candidates == 4
    assert expanded(place / "again") == [((0, 0), (0, 0)), ((1, last), (1, last))]
    assert any(note.startswith("2 replayed answers are to other candidates") for note in again.notes)
    critiqued = {line.at: line.critique for line in read_events(place / "again") if isinstance(line, Critiqued)}
    by_rules = {at for at, critique in critiqued.items() if "is not among the replayed answers" in critique}
    assert by_rules == {(2, 0), (2, 1)}, "these have another step before them"


def expanded(run: Path) -> list[tuple[tuple[int, int], ...]]:
    """The states that each batch expanded."""
    return [line.parents for line in read_events(run) if isinstance(line, Batch)]


def test_a_budget_of_calls_ends_a_run_and_a_larger_one_goes_on(running: Provider, place: Path) -> None:
    first = ran(running.url, "--budget", "2-calls", "--out", "run")
    assert first.spent is not None and first.candidates == first.spent.calls == 2
    assert first.ended == "2 of 2 model calls are spent"
    assert "its budget is used: 2 of 2 model calls are spent" in first.notes
    header = tomllib.loads((place / "run" / "run.toml").read_text())
    assert (header.get("budget"), header["caps"], header["shape"]) == (None, {"calls": 2}, 24)
    more = ran(running.url, "--budget", "3-calls", "--out", "run")
    assert more.spent is not None and more.candidates == more.spent.calls == 3


def test_a_cap_ends_a_run_and_a_larger_one_goes_on(running: Provider, place: Path) -> None:
    first = ran(running.url, "--budget", "4", "--out", "run", "--max-calls", "1")
    assert first.spent is not None and first.candidates == first.spent.calls == 1
    assert any("1 of 1 model calls are spent" in note for note in first.notes)
    more = ran(running.url, "--budget", "4", "--out", "run", "--max-calls", "3")
    assert more.spent is not None and more.candidates == more.spent.calls == 3


def test_a_cap_on_money_ends_a_run_by_another_price_table(running: Provider, place: Path) -> None:
    (place / "prices.toml").write_text('"maxcode-fixed" = { input = 4000, output = 4000 }\n')
    more = ["--budget", "3", "--prices", "prices.toml", "--max-dollars", "0.9", "--out", "run"]
    spent = ran(running.url, *more).spent
    assert spent is not None
    assert spent.dollars == pytest.approx((spent.prompt_tokens + spent.completion_tokens) / 250)
    assert spent.calls < 3


def test_a_dry_run_shows_the_first_prompt_and_asks_nothing(running: Provider, place: Path) -> None:
    asked = len(running.bodies)
    found = answer(maxcode_here(*words(running.url, "--dry-run", "--out", "run", "--json"), cwd=place))
    assert [message["role"] for message in found["messages"]] == ["system", "user"]
    assert "the original program:" in found["messages"][1]["text"] and "sum += i" in found["messages"][1]["text"]
    assert found["calls"] == 24 and found["tokens"] > 24 * found["prompt_tokens"] > 0
    assert found["estimate"]["low"]["calls"] == found["estimate"]["high"]["calls"] == 24
    assert len(running.bodies) == asked and not (place / "run").exists()


def test_the_estimate_of_a_dry_run_is_never_above_the_cap_on_dollars(place: Path) -> None:
    (place / "prices.toml").write_text('"maxcode-fixed" = { input = 3, output = 15 }\n')
    free = words(NOBODY, "--dry-run", "--prices", "prices.toml")
    whole = answer(maxcode_here(*free, "--json", cwd=place))["estimate"]["high"]["dollars"]
    cap = round(whole / 2, 3)
    capped = answer(maxcode_here(*free, "--max-dollars", cap, "--json", cwd=place))["estimate"]
    assert capped["high"]["dollars"] == cap and capped["low"]["dollars"] <= capped["expected"]["dollars"] <= cap
    said = maxcode_here(*free, "--max-dollars", cap, cwd=place).stdout.splitlines()[-1]
    assert said.endswith(f" to ${cap:.2g}; the cap ends it at ${cap:g})"), said
    far = maxcode_here(*free, "--max-dollars", 2 * whole, cwd=place).stdout.splitlines()[-1]
    assert "the cap" not in far and far.endswith(f" to ${whole:.2g})"), far


def told(body: dict[str, Any]) -> str:
    """A critique to the critic; to the policy a program that no other answer holds, of which every fourth is wrong.  It
    is longer than the original by about what a real model adds in examples/recorded, half of it new in every answer."""
    if "JSON" in body["messages"][0]["content"]:
        advice = "Replace the loop by the closed form of the sum, so that nothing is left to repeat. " * 3
        return json.dumps({"diagnosis": advice, "bottleneck": "algorithm", "line": 1, "steps": [advice] * 2})
    drawn = body["seed"]
    cases = [f"case_{number}_{drawn % 1000 if number % 2 else 0:03}" for number in range(170)]
    more = "".join(f"/* {case} */ static const long {case} = {drawn % 1000};\n" for case in cases)
    program = (SLOW if drawn % 4 == 0 else FAST) + more
    return f"I keep the loop and change its bound, which saves a step in each call.\n{fenced(program, 'c')}".replace(
        "int main", f"static const long drawn = {drawn};\nint main"
    )


def slow_is_wrong(text: str) -> float | None:
    return 2.0 + len(text) % 7 / 10 if "n * (n - 1) / 2" in text else None


@pytest.mark.parametrize("method", ["cuda-llm+maxcode", "cuda-llm/paper", "cuda-llm+maxcode/paper"])
def test_the_estimate_of_a_dry_run_is_near_what_the_run_then_spends(
    method: str, running: Provider, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "replies", told)
    monkeypatch.setattr(running, "counts_bytes", True)
    (place / "prices.toml").write_text('"maxcode-fixed" = { input = 3, output = 15 }\n')
    more = ["--method", method, "--prices", "prices.toml", "--budget", "16", "--set", "critic.thinking_tokens=0"]
    found = answer(maxcode_here(*words(NOBODY, *more, "--dry-run", "--json"), cwd=place, OPENAI_API_KEY=""))
    _, *rest = words(running.url, *more, "--out", "run")
    same = TableMachine(Table(rule=slow_is_wrong), describe(""))  # the dry run tells of this machine too
    spent = optimize_source(request_of(*rest), on=same).spent
    assert spent is not None and spent.dollars is not None
    ratio = found["dollars"] / spent.dollars
    print(
        f"{method}: estimated {found['calls']} calls ${found['dollars']:.4f}, spent {spent.calls} ${spent.dollars:.4f}"
    )
    assert 1 / 1.5 < ratio < 1.5
    assert found["estimate"]["low"]["dollars"] < spent.dollars < found["estimate"]["high"]["dollars"]
    assert (spent.calls == 32) == method.endswith("+maxcode/paper"), "the paper asks the critic about every candidate"
    assert spent.calls >= 16 and (spent.calls == 16) == (method == "cuda-llm/paper")


@pytest.mark.parametrize(
    ("more", "cure"),
    [
        (["--policy", "llm:"], "names no model"),
        (["--policy", "rewriter", "--critic", "llm"], "--critic llm:MODEL"),
        (["--critic", "rule"], "did you mean 'rules'?"),
        (["--without", "bests"], "did you mean 'best'?"),
        (["--max-dollars", "1"], "--prices FILE"),
        (["--models", "missing.toml"], "cannot read the settings missing.toml"),
        (["--models", "wrong.toml"], "did you mean 'attempts'?"),
        (["--policy", "gpt-4o"], "did you mean llm:gpt-4o"),
        (
            ["--policy", "rewritter"],
            "did you mean 'rewriter'? Known: FILE.py:NAME, agent:NAME, ask, command:CMD",
        ),
        (["--out", "wrong.toml/run"], "wrong.toml is not a folder; choose another --out"),
        (["--critic", "o4-mini"], "did you mean llm:o4-mini"),
        (["--set", "policy.max_token=5"], "did you mean 'max_tokens'?"),
        (["--set", "polcy.max_tokens=5"], "did you mean 'policy'?"),
        (["--set", "max_tokens=5"], "write TABLE.KEY=VALUE"),
        (["--set", "policy.max_tokens=0"], "give at least 1"),
        (["--method", "cuda-llm/papr"], "did you mean 'cuda-llm/paper'"),
        (["--replay", "nowhere"], "give --replay the folder of a run"),
        (["--provider", "anthropic", "--base-url", "https://api.anthropic.com"], "set ANTHROPIC_API_KEY"),
    ],
)
def test_bad_input_is_one_sentence_with_its_cure(more: list[str], cure: str, place: Path) -> None:
    (place / "wrong.toml").write_text("[model]\natempts = 3\n")
    done = maxcode_here(*words(NOBODY, "--json"), *more, cwd=place, ANTHROPIC_API_KEY="")
    assert done.returncode == 2, done.stderr
    assert cure in done.stderr and "Traceback" not in done.stderr
    assert not (place / "runs").exists()
