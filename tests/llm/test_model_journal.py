"""The journal of calls: nothing answered is paid twice, whatever is killed and whoever asks."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxcode.core.types import Usage
from maxcode.errors import ProviderError, RecordError
from maxcode.llm.clients import Completion, Message, ModelRequest
from maxcode.llm.clients.connect import ModelSettings, recorded
from maxcode.llm.journal import CALLS, Journal, Journalled, key_of
from tests.support.provider import Provider

ASKED = ModelRequest((Message("user", "Faster, please. \u2028 \N{GRINNING FACE}"),), draw=2**64 - 1)
DRIVER = Path(__file__).parents[1] / "support" / "journal_driver.py"


class Counting:
    """A model that answers with what it was asked, counts, and can fail."""

    def __init__(self, failing: int = 0, delay_s: float = 0.0) -> None:
        self.asked: list[int] = []
        self._failing = failing
        self._delay_s = delay_s

    async def complete(self, request: ModelRequest) -> Completion:
        self.asked.append(request.draw)
        await anyio.sleep(self._delay_s)
        if len(self.asked) <= self._failing:
            raise ProviderError("the provider is gone")
        return Completion(f"answer to {request.draw}\n\u2028\x00", Usage(1, 10, 5, 0.5, 0.01), "length")


def ask(journal: Journal, model: Counting, *draws: int, name: str = "m") -> list[Completion]:
    async def in_turn() -> list[Completion]:
        return [await Journalled(model, name, journal).complete(replace(ASKED, draw=draw)) for draw in draws]

    return anyio.run(in_turn)


def test_the_same_call_is_answered_from_the_journal_in_this_process_and_in_the_next(tmp_path: Path) -> None:
    model = Counting()
    with Journal(tmp_path) as journal:
        first = ask(journal, model, 1, 2, 1)
        assert first[0] == first[2]
        assert journal.spent == Usage(2, 20, 10, 1.0, 0.02)
    with Journal(tmp_path) as journal:
        assert ask(journal, model, 2, 1) == [first[1], first[0]]
        assert journal.spent == Usage(2, 20, 10, 1.0, 0.02)
    assert model.asked == [1, 2]


def test_without_a_folder_answers_are_kept_in_memory() -> None:
    model = Counting()
    with Journal() as journal:
        assert len({answer.text for answer in ask(journal, model, 1, 2, 1, 2)}) == 2
    assert model.asked == [1, 2]


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, draw=1),
        replace(ASKED, temperature=0.1),
        replace(ASKED, max_tokens=7),
        replace(ASKED, thinking_tokens=7),
        replace(ASKED, effort="high"),
        replace(ASKED, extra_body={"top_k": 1}),
        replace(ASKED, messages=(Message("system", ASKED.messages[0].text),)),
        replace(ASKED, messages=(*ASKED.messages, Message("user", ""))),
    ],
)
def test_another_content_is_another_call(other: ModelRequest) -> None:
    assert key_of("m", other) != key_of("m", ASKED)
    assert key_of("n", ASKED) != key_of("m", ASKED)
    assert key_of("m", replace(ASKED)) == key_of("m", ASKED)


def test_a_call_keeps_the_key_that_older_journals_gave_it() -> None:
    asked = ModelRequest((Message("system", "a"), Message("user", "b")), 5, 0.6, 100, 7)
    assert key_of("m", asked) == "eb674ef4638903d5b8aba4244325aa07"


def test_two_of_the_same_calls_under_way_at_once_are_asked_once() -> None:
    model = Counting(delay_s=0.05)
    journal = Journal()

    async def together() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(Journalled(model, "m", journal).complete, ASKED)

    anyio.run(together)
    assert len(model.asked) == 1
    journal.close()


def test_a_failure_is_recorded_reaches_all_who_wait_and_answers_nothing(tmp_path: Path) -> None:
    model = Counting(failing=1, delay_s=0.05)
    heard: list[str] = []

    async def one(journal: Journal) -> None:
        try:
            await Journalled(model, "m", journal).complete(ASKED)
        except ProviderError as error:
            heard.append(str(error))

    async def together(journal: Journal) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(one, journal)

    with Journal(tmp_path) as journal:
        anyio.run(together, journal)
        assert heard == ["the provider is gone"] * 3
        assert (journal.failures, journal.spent) == (1, Usage())
    lines = [json.loads(line) for line in (tmp_path / CALLS).read_text().split("\n")[:-1]]
    assert [(line["call"], line["error"]) for line in lines] == [("failed", "the provider is gone")]
    with Journal(tmp_path) as journal:
        assert journal.failures == 1
        assert ask(journal, model, ASKED.draw)[0].ended == "length"


def test_when_the_asker_is_cancelled_one_who_waits_asks_itself() -> None:
    model = Counting(delay_s=1.0)
    journal = Journal()

    async def impatient() -> None:
        with anyio.move_on_after(0.02):
            await Journalled(model, "m", journal).complete(ASKED)

    async def together() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(impatient)
            await anyio.sleep(0.01)
            group.start_soon(Journalled(model, "m", journal).complete, ASKED)

    anyio.run(together)
    assert len(model.asked) == 2
    assert journal.spent.calls == 1
    journal.close()


@pytest.mark.heavy
def test_a_journal_killed_at_any_byte_of_its_last_line_resumes(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("whole")
    with Journal(folder) as journal:
        ask(journal, Counting(), 1, 2, 3)
    whole = (folder / CALLS).read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in range(last, len(whole)):
        (folder / CALLS).write_bytes(whole[:cut])
        model = Counting()
        with Journal(folder) as journal:
            assert [answer.text for answer in ask(journal, model, 1, 2, 3)] == [
                f"answer to {draw}\n\u2028\x00" for draw in (1, 2, 3)
            ]
        assert model.asked == [3]
        assert len((folder / CALLS).read_bytes().split(b"\n")) == 4


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"])),
    draw=st.integers(0, 2**64 - 1),
    dollars=st.none() | st.floats(0, 9),
)
def test_whatever_was_said_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, text: str, draw: int, dollars: float | None
) -> None:
    folder = tmp_path_factory.mktemp("said")
    answer = Completion(text, Usage(1, 2, 3, 0.1, dollars), "other")
    request = ModelRequest((Message("user", text),), draw)

    class Fixed:
        async def complete(self, request: ModelRequest) -> Completion:
            return answer

    with Journal(folder) as journal:
        anyio.run(Journalled(Fixed(), "m", journal).complete, request)
    with Journal(folder) as journal:
        assert journal.find(key_of("m", request)) == answer
        assert journal.spent == answer.usage


def test_a_line_damaged_in_the_middle_is_named(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        ask(journal, Counting(), 1, 2)
    lines = (tmp_path / CALLS).read_bytes().split(b"\n")
    (tmp_path / CALLS).write_bytes(b"\n".join([lines[0], b'{"call": "answ', lines[1], b""]))
    with pytest.raises(RecordError, match="line 2 is damaged"):
        Journal(tmp_path)


@pytest.mark.parametrize("wrong", [(b'"key":"', b'"key":"zz'), (b'"model":"m', b'"model":"\xff')])
def test_a_line_whose_key_or_letters_are_damaged_is_named(tmp_path: Path, wrong: tuple[bytes, bytes]) -> None:
    with Journal(tmp_path) as journal:
        ask(journal, Counting(), 1)
    (tmp_path / CALLS).write_bytes((tmp_path / CALLS).read_bytes().replace(*wrong))
    with pytest.raises(RecordError, match="line 1 is damaged"):
        Journal(tmp_path)


def test_an_answer_that_is_damaged_is_found_out_when_it_is_wanted(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        ask(journal, Counting(), 1, 2)
    (tmp_path / CALLS).write_bytes((tmp_path / CALLS).read_bytes().replace(b'"text":"answer to 1', b'"text":"\xff\xff'))
    with Journal(tmp_path) as journal:
        assert ask(journal, Counting(), 2)[0].text.startswith("answer to 2")
        with pytest.raises(RecordError, match="damaged at byte 0"):
            ask(journal, Counting(), 1)


def test_nothing_of_a_long_torn_line_is_left_after_a_short_one(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        ask(journal, Counting(), 1)
    with open(tmp_path / CALLS, "ab") as file:
        file.write(b'{"call": "answered", "key": "' + b"0" * 10_000)
    with Journal(tmp_path) as journal:
        ask(journal, Counting(), 2)
    assert sorted(draws(tmp_path)) == [1, 2]
    assert (tmp_path / CALLS).read_bytes().endswith(b"}\n")


def test_a_folder_has_one_journal_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(RecordError, match="in use by another maxcode"):
        Journal(tmp_path)


@pytest.mark.heavy
def test_a_full_disk_stops_the_run_and_leaves_whole_lines(tmp_path: Path) -> None:
    # RLIMIT_FSIZE stands in for the full disk: the kernel cuts the write off in the middle of the line.
    code = (
        "import resource, signal, sys, anyio\n"
        "from pathlib import Path\n"
        "from maxcode.errors import MachineError\n"
        "from maxcode.llm.clients import *\n"
        "from maxcode.llm.journal import Journal, Journalled\n"
        "from maxcode.core.types import Usage\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "class Long:\n"
        "    async def complete(self, request): return Completion('x' * 1000, Usage(1))\n"
        "async def ask(journal):\n"
        "    for draw in range(9):\n"
        "        await Journalled(Long(), 'm', journal).complete(ModelRequest((), draw))\n"
        "try:\n"
        "    anyio.run(ask, Journal(Path(sys.argv[1])))\n"
        "except MachineError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "cannot write to calls.jsonl" in ran.stdout
    with Journal(tmp_path) as journal:
        assert journal.spent.calls == 2


def test_a_replay_answers_from_the_other_run_and_refuses_what_it_lacks(tmp_path: Path) -> None:
    with Journal(tmp_path / "run") as journal:
        answers = ask(journal, Counting(), 1, 2, name="gpt-x")
    before = (tmp_path / "run" / CALLS).read_bytes()
    with Journal(tmp_path / "again", replay=tmp_path / "run") as journal:
        model = recorded("gpt-x", ModelSettings(base_url="https://nowhere.invalid"), journal)
        assert anyio.run(model.complete, replace(ASKED, draw=2)) == answers[1]
        with pytest.raises(ProviderError, match=r"no answer of gpt-x to draw 3 .*'Faster, please.*holds 2 of gpt-x"):
            anyio.run(model.complete, replace(ASKED, draw=3))
        assert (journal.spent, journal.failures) == (Usage(), 0)
    assert (tmp_path / "run" / CALLS).read_bytes() == before


def test_a_replay_takes_other_numbers_and_instructions_but_no_other_role_or_parameters(tmp_path: Path) -> None:
    told = (Message("system", "Make C faster."), Message("user", "It takes 1.25 ms."))
    asked = ModelRequest(told, draw=4, temperature=0.3)
    with Journal(tmp_path / "run") as journal:
        answer = anyio.run(Journalled(Counting(), "m", journal).complete, asked)
    with Journal(replay=tmp_path / "run") as journal:
        model = Journalled(Counting(), "m", journal)
        assert anyio.run(model.complete, replace(asked, messages=(told[0], Message("user", "1.31 ms.")))) == answer
        worded = Message("system", "Make C faster. Or not.")
        assert anyio.run(model.complete, replace(asked, messages=(worded, told[1]))) == answer
        assert journal.loosely == 2
        for other in (replace(asked, temperature=0.9), replace(asked, messages=(Message("system", "C++."), told[1]))):
            with pytest.raises(ProviderError, match="no answer of m to draw 4"):
                anyio.run(model.complete, other)


def test_a_replay_answers_what_was_asked_after_an_answer_with_what_was_said_then(tmp_path: Path) -> None:
    def asked(figure: str, *more: str) -> ModelRequest:
        return ModelRequest(tuple(Message("user", text) for text in (figure, *more)), draw=4)

    class Says:
        async def complete(self, request: ModelRequest) -> Completion:
            return Completion("SHOW a.c" if len(request.messages) == 1 else "the program", Usage(1))

    with Journal(tmp_path / "run") as journal:
        model = Journalled(Says(), "m", journal)
        answers = [anyio.run(model.complete, one) for one in (asked("1.25 ms"), asked("1.25 ms", "SHOW a.c", "int a;"))]
    with Journal(replay=tmp_path / "run") as journal:
        model = Journalled(Says(), "m", journal)
        again = (asked("1.31 ms"), asked("1.31 ms", "SHOW a.c", "int a;"))
        assert [anyio.run(model.complete, one) for one in again] == answers


def test_a_replay_on_another_path_takes_the_next_answer_that_is_not_used_and_ends_with_the_last(tmp_path: Path) -> None:
    with Journal(tmp_path / "run") as journal:
        answers = ask(journal, Counting(), 1, 2, 3, name="m")
    with Journal(replay=tmp_path / "run") as journal:
        model = Journalled(Counting(), "m", journal)
        journal.has_used([answers[0].text])
        assert journal.drawn([8, 3, 2]) == 3
        assert anyio.run(model.complete, replace(ASKED, draw=3)) == answers[2]
        assert anyio.run(model.complete, replace(ASKED, draw=journal.drawn([8, 9]))) == answers[1]
        assert journal.elsewhere == 2
        with pytest.raises(ProviderError, match="no answer of m to draw 7"):
            anyio.run(model.complete, replace(ASKED, draw=journal.drawn([7])))


def test_a_replay_of_a_run_without_calls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="give --replay the folder of a run"):
        Journal(None, replay=tmp_path)


@pytest.mark.slow
@pytest.mark.heavy
def test_processes_killed_in_the_middle_of_calls_never_pay_an_answer_twice(provider: Provider, tmp_path: Path) -> None:
    calls, concurrency = 120, 6
    provider.delay_s = 0.03
    command = [sys.executable, str(DRIVER), provider.url, str(tmp_path), str(calls), str(concurrency)]
    paid: set[int] = set()
    for goal in (10, 40, 75, calls):
        already = len(provider.bodies)
        with subprocess.Popen(command) as process:
            while lines(tmp_path) < goal and process.poll() is None:
                time.sleep(0.002)
            if goal < calls:
                process.send_signal(signal.SIGKILL)
        assert process.returncode == (-signal.SIGKILL if goal < calls else 0)
        assert {body["seed"] for body in provider.bodies[already:]}.isdisjoint(paid)
        paid = set(draws(tmp_path))
    assert sorted(draws(tmp_path)) == list(range(calls))  # each is recorded once
    assert len(provider.bodies) <= calls + 3 * concurrency  # only what was under way at a kill is asked again


def lines(folder: Path) -> int:
    path = folder / CALLS
    return path.read_bytes().count(b"\n") if path.exists() else 0


def draws(folder: Path) -> list[int]:
    whole = (folder / CALLS).read_bytes().split(b"\n")[:-1]
    return [json.loads(line)["request"]["draw"] for line in whole]


def test_answers_stay_on_disk_and_only_their_places_in_memory(tmp_path: Path) -> None:
    class Long:
        async def complete(self, request: ModelRequest) -> Completion:
            return Completion("x" * 20_000, Usage(1))

    async def many(journal: Journal) -> None:
        for draw in range(1000):
            await Journalled(Long(), "m", journal).complete(replace(ASKED, draw=draw))

    with Journal(tmp_path) as journal:
        tracemalloc.start()
        try:
            anyio.run(many, journal)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert journal.spent.calls == 1000
    assert (tmp_path / CALLS).stat().st_size > 20_000_000
    assert kept < 2_000_000


def test_calls_under_way_are_counted() -> None:
    journal = Journal()
    seen: list[int] = []

    class Looking:
        async def complete(self, request: ModelRequest) -> Completion:
            seen.append(journal.under_way)
            return Completion("", Usage(1))

    anyio.run(Journalled(Looking(), "m", journal).complete, ASKED)
    assert (seen, journal.under_way) == ([1], 0)
    journal.close()
