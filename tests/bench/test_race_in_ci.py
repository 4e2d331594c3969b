"""The action and the script for other CI: the steps of action.yml, run by a shell as a runner does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from maxcode.cli import cli
from tests.support.cli import ROOT
from tests.support.sandboxed import let_others_in

yaml: Any = import_module("yaml")  # it has no types
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
SCRIPT = (ROOT / "ci" / "race.sh").read_text()


def test_every_input_reaches_the_script_and_every_option_of_the_script_exists() -> None:
    step = ACTION["runs"]["steps"][-1]
    named = {name: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text) for name, text in step["env"].items()}
    used = {match[1]: name for name, match in named.items() if match}
    assert set(used) == set(ACTION["inputs"])
    assert all(f"${{{name}" in SCRIPT for name in used.values())
    shown = CliRunner().invoke(cli, ["race", "--help"]).output
    assert all(f"{option} " in shown for option in re.findall(r"set -- (--[\w-]+)", SCRIPT))


def test_no_input_is_pasted_into_a_shell_script() -> None:
    assert all("${{" not in step["run"] for step in ACTION["runs"]["steps"])


@pytest.mark.heavy
def test_the_race_step_writes_the_summary_the_verdict_and_the_exit_status(tmp_path: Path) -> None:
    step = ACTION["runs"]["steps"][-1]
    bin_ = tmp_path / "maxcode" / "bin"
    bin_.mkdir(parents=True)
    (bin_ / "maxcode").write_text(f'#!/bin/sh\nexec {sys.executable} -m maxcode "$@"\n')
    (bin_ / "maxcode").chmod(0o755)
    for side, text in (("base", "1"), ("head", "2")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "value").write_text(text)
    given = {
        "base": "base", "head": "head", "command": "cat value", "same-output": "true", "trust-both": "true",
        "fail-on": "wrong",
    }  # fmt: skip
    inputs = {name: given.get(name, str(one.get("default", ""))) for name, one in ACTION["inputs"].items()}
    env = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)
        for name, text in step["env"].items()
    }
    env |= {"ACTION": str(ROOT), "RUNNER_TEMP": str(tmp_path)}
    env |= {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(
        ["sh", "-e", "-c", step["run"]], cwd=tmp_path, env={**os.environ, **env}, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    assert "wrong: head prints another output than base" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    told = dict(line.split("=", 1) for line in (tmp_path / "GITHUB_OUTPUT").read_text().splitlines())
    assert told["verdict"] == json.loads(Path(told["json"]).read_text())["verdict"] == "wrong"


@pytest.mark.sandbox
def test_in_a_container_without_privileges_what_a_build_made_can_be_started(tmp_path: Path) -> None:
    """No capability, no further namespace: tier 2, as the user who owns the files, where a linker cannot set modes."""
    for side, rounds in (("base", 40_000_000), ("head", 4_000_000)):
        (tmp_path / side).mkdir()
        text = f"int main(void) {{ volatile long n = 0; while (n < {rounds}) n++; return 0; }}\n"
        (tmp_path / side / "main.c").write_text(text)
    container = ("bwrap", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--dev-bind", "/", "/")
    environment = {
        **os.environ, "MAXCODE": f"{sys.executable} -m maxcode", "MAXCODE_SANDBOX": "",
        "MAXCODE_CACHE": str(tmp_path / "cache"), "MAXCODE_BASE": "base", "MAXCODE_HEAD": "head",
        "MAXCODE_BUILD": "gcc -O1 main.c -o main", "MAXCODE_COMMAND": "./main", "MAXCODE_FAIL_ON": "slower:2%",
        "MAXCODE_SECONDS": "60", "MAXCODE_JSON": "race.json", "MAXCODE_MARKDOWN": "summary.md",
    }  # fmt: skip
    (tmp_path / "cache").mkdir()
    let_others_in(tmp_path / "cache")
    done = subprocess.run(
        [*container, "sh", "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "race.json").read_text())
    assert found["verdict"] == "faster" and "tier 2" in found["protection"]
    assert "faster" in (tmp_path / "summary.md").read_text()
