"""The command line with a language model at its other end: `maxcode serve` stands in for the provider."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from maxcode.code.source import fenced
from maxcode.llm.journal import CALLS
from maxcode.serve import Serving, serving
from tests.support.cli import answer, maxcode
from tests.support.counting import FAST, SLOW

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def running() -> Iterator[Serving]:
    """A provider whose one model always answers the fast program, a comment with the draw apart."""
    with serving(fixed=fenced(FAST + "static const long drawn = {draw};\n", "c")) as here:
        yield here


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    for number, n in enumerate((10, 1000, 220_000_000)):
        (tmp_path / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return tmp_path


def words(url: str, *more: str) -> list[str]:
    return ["optimize", "slow.c", "--tests", "tests", "--policy", "llm:maxcode-fixed", "--base-url", url,
            "--method", "cuda-llm", "--no-certificate", "--json", *more]  # fmt: skip


def test_a_run_with_a_model_says_what_it_has_cost_and_can_be_replayed(running: Serving, place: Path) -> None:
    found = answer(maxcode(*words(running.base_url, "--budget", "2", "--out", "run"), cwd=place))
    assert found["speedup"]["significant"] and found["confirmed"]
    assert found["spent"]["calls"] == 2 and found["spent"]["prompt_tokens"] > 200
    assert found["spent"]["dollars"] is None
    assert (place / "run" / CALLS).read_bytes().count(b"\n") == 2
    asked = running.tally.requests
    replay = [*words("http://127.0.0.1:9/v1", "--budget", "2", "--out", "again"), "--replay", "run"]
    again = answer(maxcode(*replay, cwd=place))
    assert again["speedup"]["significant"] and again["spent"]["calls"] == 0
    assert running.tally.requests == asked
    more = [*words("http://127.0.0.1:9/v1", "--budget", "3", "--out", "again"), "--replay", "run"]
    refused = maxcode(*more, cwd=place)
    assert refused.returncode == 1
    assert "holds no answer of maxcode-fixed" in refused.stderr


@pytest.mark.slow
def test_a_budget_of_calls_ends_a_run_and_a_larger_one_goes_on(running: Serving, place: Path) -> None:
    first = answer(maxcode(*words(running.base_url, "--budget", "2-calls", "--out", "run"), cwd=place))
    assert first["candidates"] == first["spent"]["calls"] == 2
    assert first["ended"] == "2 of 2 model calls are spent"
    assert "its budget is used: 2 of 2 model calls are spent" in first["notes"]
    header = tomllib.loads((place / "run" / "run.toml").read_text())
    assert (header.get("budget"), header["caps"], header["shape"]) == (None, {"calls": 2}, 24)
    more = answer(maxcode(*words(running.base_url, "--budget", "3-calls", "--out", "run"), cwd=place))
    assert more["candidates"] == more["spent"]["calls"] == 3


def test_a_cap_ends_a_run_and_a_larger_one_goes_on(running: Serving, place: Path) -> None:
    first = answer(maxcode(*words(running.base_url, "--budget", "4", "--out", "run", "--max-calls", "1"), cwd=place))
    assert first["candidates"] == first["spent"]["calls"] == 1
    assert any("1 of 1 model calls are spent" in note for note in first["notes"])
    more = answer(maxcode(*words(running.base_url, "--budget", "4", "--out", "run", "--max-calls", "3"), cwd=place))
    assert more["candidates"] == more["spent"]["calls"] == 3


def test_a_dry_run_shows_the_first_prompt_and_asks_nothing(running: Serving, place: Path) -> None:
    asked = running.tally.requests
    found = answer(maxcode(*words(running.base_url, "--dry-run", "--out", "run"), cwd=place))
    assert [message["role"] for message in found["messages"]] == ["system", "user"]
    assert "# Program" in found["messages"][1]["text"] and "sum += i" in found["messages"][1]["text"]
    assert found["calls"] == 24 and found["tokens"] > 24 * found["prompt_tokens"] > 0
    assert running.tally.requests == asked and not (place / "run").exists()


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
        (["--replay", "nowhere"], "give --replay the folder of a run"),
        (["--provider", "anthropic", "--base-url", "https://api.anthropic.com"], "set ANTHROPIC_API_KEY"),
    ],
)
def test_bad_input_is_one_sentence_with_its_cure(more: list[str], cure: str, place: Path) -> None:
    (place / "wrong.toml").write_text("[model]\natempts = 3\n")
    done = maxcode(*words("http://127.0.0.1:9/v1"), *more, cwd=place, ANTHROPIC_API_KEY="")
    assert done.returncode == 2, done.stderr
    assert cure in done.stderr and "Traceback" not in done.stderr
    assert not (place / "runs").exists()


def test_another_price_table_makes_money_countable(running: Serving, place: Path) -> None:
    (place / "prices.toml").write_text('"maxcode-fixed" = { input = 1000, output = 1000 }\n')
    more = ["--budget", "3", "--prices", "prices.toml", "--max-dollars", "0.9", "--out", "run"]
    found = answer(maxcode(*words(running.base_url, *more), cwd=place))
    spent = found["spent"]
    assert spent["dollars"] == pytest.approx((spent["prompt_tokens"] + spent["completion_tokens"]) / 1000)
    assert found["candidates"] == spent["calls"] < 3


def test_the_calls_hold_no_key(running: Serving, place: Path) -> None:
    answer(maxcode(*words(running.base_url, "--budget", "1", "--out", "run"), cwd=place, OPENAI_API_KEY="sk-secret"))
    for path in (place / "run").rglob("*"):
        assert path.is_dir() or b"sk-secret" not in path.read_bytes(), path
    calls = [json.loads(line) for line in (place / "run" / CALLS).read_bytes().splitlines()]
    assert calls[0]["request"]["messages"][0]["role"] == "system"
    shutil.rmtree(place / "run")
