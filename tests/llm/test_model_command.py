"""A command as a model: what it gets, what it may report, how it fails, and that nothing of it stays."""

from __future__ import annotations

import json
import time
from pathlib import Path

import anyio
import pytest

from maxcode.errors import InputError, ProviderError
from maxcode.llm.clients import Completion, Message, ModelRequest
from maxcode.llm.clients.connect import ModelSettings, connect, is_priced, price_of

ASKED = ModelRequest((Message("system", "Be brief."), Message("user", "Faster, please. \u00e9")), draw=7)


def script(folder: Path, body: str) -> str:
    path = folder / "ask.sh"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return f"command:{path} 'two words'"


def ask(name: str, settings: ModelSettings | None = None) -> Completion:
    return anyio.run(connect(name, settings or ModelSettings(attempts=1)).complete, ASKED)


def test_it_gets_the_prompt_and_the_draw_and_its_answer_and_cost_come_back(tmp_path: Path) -> None:
    told = json.dumps({"prompt_tokens": 9, "completion_tokens": 3, "dollars": 0.25})
    name = script(tmp_path, f"cat; echo \"$MAXCODE_DRAW $1\"; echo '{told}' > $MAXCODE_USAGE")
    found = ask(name)
    assert found.text == "Be brief.\n\nFaster, please. \u00e9\n7 two words\n"
    assert (found.usage.calls, found.usage.tokens, found.usage.dollars) == (1, 12, 0.25)
    assert is_priced(name, ModelSettings()) and price_of(name, ModelSettings()) is None


def test_without_a_report_the_cost_is_not_known_and_a_prompt_need_not_be_read(tmp_path: Path) -> None:
    found = ask(script(tmp_path, "exec echo done"))
    assert (found.text, found.usage.tokens, found.usage.dollars) == ("done\n", 0, None)


def ends(pid: int) -> bool:
    """Whether a process is gone within ten seconds; a zombie that nobody has waited for counts as gone."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


def test_a_failed_command_is_repeated(tmp_path: Path) -> None:
    name = script(tmp_path, f"test -e {tmp_path}/again || {{ touch {tmp_path}/again; exit 3; }}; echo done")
    assert ask(name, ModelSettings(attempts=2)).text == "done\n"
    with pytest.raises(ProviderError, match=r"the command '.*' failed after 1 attempt \(last: exit status 4: no luck"):
        ask(script(tmp_path, "echo no luck >&2; exit 4"))


def test_at_the_time_limit_it_ends_with_all_that_it_started(tmp_path: Path) -> None:
    name = script(tmp_path, f"sleep 600 & echo $! > {tmp_path}/pid; wait")
    with pytest.raises(ProviderError, match=r"no complete answer within 3 s"):
        ask(name, ModelSettings(attempts=1, timeout_s=3))
    assert ends(int((tmp_path / "pid").read_text()))


def test_what_a_command_that_answered_left_behind_ends_too(tmp_path: Path) -> None:
    ask(script(tmp_path, f"sleep 600 >/dev/null 2>&1 & echo $! > {tmp_path}/pid; echo done"))
    assert ends(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("command:", "names no command"),
        ("command:'ask", "cannot be split into words"),
        ("command:no-such-program-here", "there is no program 'no-such-program-here'"),
    ],
)
def test_a_command_that_cannot_be_started_is_refused_before_anything_runs(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        connect(name)


def test_bad_reports_and_endless_answers_are_errors_with_a_cure(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"cannot be read .*write"):
        ask(script(tmp_path, "echo '{\"tokens\": 3}' > $MAXCODE_USAGE; echo done"))
    with pytest.raises(ProviderError, match="printed more than 16 MiB"):
        ask(script(tmp_path, "head -c 20000000 /dev/zero"))
