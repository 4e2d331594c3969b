"""The command line and its JSON: run as a process of its own, or read in this one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from maxcode.cli import main
from maxcode.cli.common import chosen
from maxcode.cli.optimize import optimize
from maxcode.run.request import Request

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

Done = subprocess.CompletedProcess[str]


def maxcode(*arguments: object, cwd: Path | None = None, timeout: float = 300, **environment: str) -> Done:
    """The command in a process of its own, as a user starts it."""
    command = [sys.executable, "-m", "maxcode", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, cwd=cwd, env={**os.environ, **environment}
    )


def maxcode_here(*arguments: object, cwd: Path | None = None, **environment: str) -> Done:
    """The same entry point in this process, for what is answered before a program is run: a process of its own spends
    a second on imports."""
    command = ["maxcode", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, contextlib.chdir(cwd or Path()):
        patched.setattr(sys, "argv", command)
        for name, value in {**os.environ, **environment}.items():
            patched.setenv(name, value)  # what the command itself sets is gone with the block
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
    status = ended.value.code
    assert isinstance(status, int)
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


def request_of(*words: object) -> Request:
    """What ``maxcode optimize`` with these words asks for."""
    with optimize.make_context("optimize", [str(word) for word in words]) as context:
        of_the_verb = ("json_", "dry_run", "fail_on", "profile_self")
        rest = {key: value for key, value in context.params.items() if key not in of_the_verb}
    return chosen(rest.pop("source"), rest.pop("tests"), rest)


def answer(done: Done) -> dict[str, Any]:
    """The JSON that a command printed; fails where the command did."""
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def doubts_of(told: dict[str, Any]) -> list[str]:
    """All doubts but that of the control, whose 99 % interval misses 1 once in a hundred certificates."""
    return [one for one in told["doubts"] if not one.startswith("the control failed")]
