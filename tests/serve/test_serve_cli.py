"""``maxcode serve`` as a user starts it: a process that says where it is and stops when told."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import openai
import pytest
from click.testing import CliRunner

from maxcode.cli.serve import serve
from maxcode.errors import InputError
from tests.support.serve_help import READS

pytestmark = pytest.mark.heavy


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "maxcode", "serve", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_stops_cleanly(how: signal.Signals, tmp_path: Path) -> None:
    program = tmp_path / "fixed.cpp"
    program.write_text(READS)
    with started("--json", "--fixed", str(program)) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert told["models"] == ["maxcode-rewriter", "maxcode-kernels", "maxcode-fixed"]
        with openai.OpenAI(base_url=told["base_url"], api_key="none", max_retries=0) as made:
            said = made.chat.completions.create(model="maxcode-fixed", messages=[{"role": "user", "content": "x"}])
        assert said.choices[0].message.content == f"```cpp\n{READS}```"
        process.send_signal(how)
        rest, progress = process.communicate(timeout=20)
    assert process.returncode == 0 and rest == ""
    assert progress == "stopped after 1 requests: {'answered': 1}\n"


def test_the_base_url_stands_alone_on_stdout() -> None:
    with started("--delay", "1", "--faults", "429=1") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as made, pytest.raises(openai.RateLimitError):
            made.chat.completions.create(model="maxcode-kernels", messages=[{"role": "user", "content": "x"}])
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[0] == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org"])
def test_other_hosts_are_refused_with_the_reason(host: str) -> None:
    with pytest.raises(InputError, match=r"no keys and no users.*127\.0\.0\.1 alone"):
        CliRunner().invoke(serve, ["--host", host], catch_exceptions=False, standalone_mode=False)


def test_models_are_shown_without_serving() -> None:
    told = CliRunner().invoke(serve, ["--models", "--json"])
    assert set(json.loads(told.stdout)) == {"maxcode-rewriter", "maxcode-kernels"}
    assert "maxcode-kernels" in CliRunner().invoke(serve, ["--models"]).stdout


def test_a_fixed_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the program .*none\.cpp"):
        CliRunner().invoke(
            serve, ["--fixed", str(tmp_path / "none.cpp")], catch_exceptions=False, standalone_mode=False
        )
