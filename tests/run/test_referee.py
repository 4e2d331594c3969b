"""The referee for other loops: a function, a line of a command, and a server."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import maxcode
from maxcode.core.types import Outcome
from maxcode.errors import InputError, Interrupted
from maxcode.run.referee import Judgement, Referee
from maxcode.run.reward_server import RewardServer, _Batch
from maxcode.run.score import metric_line, score_of
from tests.support.cli import maxcode as command
from tests.support.counting import LOOP, QUARTER, SLOW
from tests.support.processes import wait_until

pytestmark = pytest.mark.sandbox

SIZES = (160_000_003, 162_620_007, 165_000_041)
WRONG = QUARTER.replace("+= 4 * i + 6", "+= 4 * i + 7")
TWICE = SLOW.replace(LOOP, f"{LOOP}\n    sum = 0;\n    {LOOP}")
TOKEN = "a token of the test"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    (folder / "slow.c").write_text(SLOW)
    (folder / "quarter.c").write_text(QUARTER)
    (folder / "tests").mkdir()
    for number, n in enumerate(SIZES):
        (folder / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (folder / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return folder


@pytest.fixture(scope="module")
def referee(place: Path) -> Iterator[Referee]:
    with Referee(place / "slow.c", place / "tests") as one:
        yield one


def test_a_faster_program_scores_what_is_proved_and_a_wrong_one_nothing(referee: Referee, place: Path) -> None:
    found = referee(place / "quarter.c")
    assert found.correct and found.interval is not None and found.result.confirmed
    assert 1 < found.score == found.interval.low <= found.interval.value
    assert found.metrics["score"] == found.score and found.metrics["trusted"] == 1
    assert "correct, speedup" in found.artefacts["feedback"] and "speed-up" in found.artefacts["verdict"]
    wrong = referee(WRONG)
    assert (wrong.score, wrong.correct, wrong.interval) == (0.0, False, None)
    assert wrong.artefacts["feedback"].startswith("=> wrong: ")
    unbuilt = referee("int main( {\n")
    assert unbuilt.score == 0 and "error" in unbuilt.artefacts["diagnostics"]


def test_a_program_keeps_its_first_judgement(referee: Referee, place: Path) -> None:
    first = referee(place / "quarter.c")
    with ThreadPoolExecutor(4) as pool:
        assert all(one is first for one in pool.map(referee, [QUARTER] * 4)), "asking again wins nothing"
    assert referee(f"// Once more.\n{QUARTER}".replace("    ", "\t")) is first, "nor does another layout"


def test_old_judgements_are_dropped_and_those_that_score_last(
    referee: Referee, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = referee(place / "quarter.c")
    first, second = (referee(f"int main( {number}\n") for number in (1, 2))
    monkeypatch.setattr("maxcode.run.referee.KEPT", 2)
    last = referee("int main( 3\n")
    assert referee("int main( 3\n") is last and referee(QUARTER) is best
    assert referee("int main( 2\n") is not second and referee("int main( 1\n") is not first
    assert referee(QUARTER) is best


def test_what_stops_behind_a_judgement_leaves_it(referee: Referee, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("maxcode.run.referee.KEPT", None)
        with pytest.raises(TypeError):
            referee("int main( 9\n")
    asked = len(referee._judged)
    assert referee("int main( 9\n").score == 0 and len(referee._judged) == asked


def test_it_is_called_inside_a_running_event_loop_too(referee: Referee) -> None:
    async def main() -> Judgement:
        return await asyncio.to_thread(referee, WRONG)

    assert asyncio.run(main()).score == 0


def test_a_slower_program_scores_less_than_one(referee: Referee) -> None:
    found = referee(TWICE)
    assert found.correct and 0.3 < found.score < 0.8, found.result


def test_what_cannot_be_read_is_an_error_and_no_judgement(referee: Referee, place: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.c"):
        referee(place / "nothing.c")
    with pytest.raises(InputError):
        Referee(place / "nothing.c", place / "tests")


def test_a_forked_process_admits_the_problem_again(referee: Referee) -> None:
    referee.admit()
    _INHERITED.append(referee)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_score_in_a_fork, (WRONG,)) == 0


_INHERITED: list[Referee] = []


def _score_in_a_fork(text: str) -> float:
    return _INHERITED[0](text).score


def test_a_doubted_gain_scores_as_much_as_none(referee: Referee, place: Path) -> None:
    result = referee(place / "quarter.c").result
    assert result.speedup is not None
    assert score_of(replace(result, doubts=("it was made without a sandbox",))) == 1
    assert score_of(replace(result, outcome=Outcome.WRONG)) == 0
    assert score_of(replace(result, speedup=replace(result.speedup, fresh_pairs=False))) == 1
    assert score_of(replace(result, speedup=None)) == 1


def test_the_metric_line_has_the_score_first(referee: Referee, place: Path) -> None:
    options = ("--against", place / "slow.c", "--tests", place / "tests", "--metric-line")
    said = command("evaluate", place / "quarter.c", *options).stdout
    line = said.splitlines()[-1]
    assert line.startswith("METRIC score="), said
    found = dict(word.split("=") for word in line.split()[1:])
    assert float(found["score"]) > 1 and found["correct"] == "1"
    result = referee(place / "quarter.c").result
    assert result.speedup is not None
    even = replace(result.speedup, value=1.0, low=0.98, high=1.02, significant=False, fresh_pairs=False)
    assert metric_line(replace(result, speedup=even)).startswith("METRIC score=1 speedup=1 ")


@pytest.fixture(scope="module")
def server(referee: Referee) -> Iterator[str]:
    with RewardServer(("127.0.0.1", 0), TOKEN, {referee.name: referee}, parallel=2) as one:
        threading.Thread(target=one.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{one.server_address[1]}"
        one.shutdown()


def called(url: str, body: Any = None, token: str = TOKEN) -> tuple[int, dict[str, Any]]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=300) as answered:
            return answered.status, json.load(answered)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_the_server_judges_a_batch_in_its_order(server: str, referee: Referee) -> None:
    status, found = called(f"{server}/judge", {"programs": [WRONG, QUARTER, "int main( {"]})
    assert status == 200
    assert [one["score"] > 1 for one in found["judgements"]] == [False, True, False]
    assert found["judgements"][0]["result"]["outcome"] == "wrong"
    status, found = called(f"{server}/problems")
    assert (status, list(found["problems"])) == (200, [referee.name])


def test_a_server_that_is_closed_judges_no_program_that_waits(referee: Referee) -> None:
    programs, before = [QUARTER.replace("+ 6", f"+ {number}") for number in range(100, 140)], set(referee._judged)
    with ThreadPoolExecutor(1) as client:
        with RewardServer(("127.0.0.1", 0), TOKEN, {referee.name: referee}, parallel=1) as one:
            threading.Thread(target=one.serve_forever, args=(0.01,), daemon=True).start()  # shutdown waits for its look
            asked = client.submit(called, f"http://127.0.0.1:{one.server_address[1]}/judge", {"programs": programs})
            assert wait_until(lambda: referee._judged.keys() > before, 60)
            one.shutdown()
        status, found = asked.result()
    assert status == 503 and "the server was stopped" in found["error"]
    one.pool.shutdown()
    assert len(referee._judged.keys() - before) < 5
    with pytest.raises(Interrupted, match="post them again"):
        one.judged(_Batch([WRONG]))


@pytest.mark.parametrize(
    ("path", "body", "token", "status", "why"),
    [
        ("/judge", {"programs": []}, "guessed", 401, "Bearer TOKEN"),
        ("/problems", None, "", 401, "Bearer TOKEN"),
        ("/judge", {"programs": "text"}, TOKEN, 400, "the body is not"),
        ("/judge", {"programs": [], "problem": "other"}, TOKEN, 400, "other"),
        ("/judge", {"programs": [""] * 2000}, TOKEN, 400, "at most 1024"),
        ("/other", {"programs": []}, TOKEN, 404, "POST /judge"),
    ],
)
def test_the_server_refuses_in_a_sentence(path: str, body: Any, token: str, status: int, why: str, server: str) -> None:
    code, found = called(server + path, body, token)
    assert code == status and why in found["error"]


def test_the_public_names_are_the_referee_s() -> None:
    assert maxcode.Referee is Referee and maxcode.Judgement is Judgement
