"""The action and the script for other CI: the steps of action.yml, run by a shell as a runner does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from maxcode.cli import cli
from maxcode.cli.race import race
from tests.support.cli import ROOT
from tests.support.races import commit, git
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


def test_every_option_that_a_race_of_two_sides_has_can_be_set_in_ci() -> None:
    of_others = {"--base", "--head", "--same-sides", "--sandbox", "--unsafe-no-sandbox"}  # CI names sides, and a policy
    given = set(re.findall(r"set -- (--[\w-]+)", SCRIPT)) | {"--json"}
    assert {name for one in race.params for name in one.opts if name.startswith("--")} - of_others == given


def script(**variables: str) -> list[str]:
    """The words that the script gives to maxcode."""
    given = {"MAXCODE": "printf %s\\n", "MAXCODE_BASE": "a", "MAXCODE_COMMAND": "./b c", **variables}
    done = subprocess.run(
        ["sh", "-c", SCRIPT], env={"PATH": os.environ["PATH"], **given}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_the_script_shows_one_folder_a_line_whatever_its_name_is() -> None:
    assert script() == ["race", "--allow-equal", "a", "HEAD", "--", "sh", "-c", "./b c"]
    words = script(MAXCODE_SHOW="/opt/a b\n\n/opt/$(c)\n", MAXCODE_PAIRS="9", MAXCODE_STDIN="x", MAXCODE_OUT="y")
    assert words[1:5] == ["--show", "/opt/$(c)", "--show", "/opt/a b"]
    assert {("--pairs", "9"), ("--stdin", "x"), ("--out", "y")} <= set(pairwise(words))


def step(folder: Path, scratch: Path, given: dict[str, str], **event: str) -> tuple[int, dict[str, str], str]:
    """The race step as a runner does it: exit status, outputs, and the summary page."""
    (scratch / "maxcode/bin").mkdir(parents=True)
    program = scratch / "maxcode/bin/maxcode"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m maxcode "$@"\n')
    program.chmod(0o755)
    inputs = {name: given.get(name, str(one.get("default", ""))) for name, one in ACTION["inputs"].items()}
    last = ACTION["runs"]["steps"][-1]
    known = {f"inputs.{name}": value for name, value in inputs.items()}
    known |= {f"github.event.{name.replace('__', '.')}": value for name, value in event.items()}
    env = {
        name: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: known.get(found[1], ""), text)
        for name, text in last["env"].items()
    }
    env |= {"ACTION": str(ROOT), "RUNNER_TEMP": str(scratch)}
    env |= {name: str(scratch / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(
        ["sh", "-e", "-c", last["run"]], cwd=folder, env={**os.environ, **env}, capture_output=True, text=True
    )
    told = dict(line.split("=", 1) for line in (scratch / "GITHUB_OUTPUT").read_text().splitlines())
    assert "verdict" in told, done.stderr
    return done.returncode, told, (scratch / "GITHUB_STEP_SUMMARY").read_text()


@pytest.mark.heavy
def test_the_race_step_writes_the_summary_the_verdict_and_the_exit_status(tmp_path: Path) -> None:
    for side, text in (("base", "1"), ("head", "2")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "value").write_text(text)
    given = {
        "base": "base", "head": "head", "command": "cat value", "same-output": "true", "trust-both": "true",
        "fail-on": "wrong",
    }  # fmt: skip
    status, told, page = step(tmp_path, tmp_path, given)
    assert status == 1
    assert "wrong: head prints another output than base" in page
    assert told["verdict"] == json.loads(Path(told["json"]).read_text())["verdict"] == "wrong"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """main has moved since the branch ``change`` left it; a pull request is checked out as ``merge``."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, "value", "1", "start")
    git(folder, "checkout", "-q", "-b", "change")
    commit(folder, "other", "1", "changed")
    git(folder, "checkout", "-q", "main")
    commit(folder, "value", "2", "moved")
    git(folder, "merge", "-q", "--no-ff", "-m", "merge", "change")
    git(folder, "tag", "merge")
    return folder


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("checkout", "head", "main", "base"),
    [("merge", "HEAD", "start", "moved"), ("change", "HEAD", "moved", "start"), ("merge", "change", "moved", "start")],
)
def test_a_pull_request_is_compared_with_what_it_starts_from(
    repository: Path, tmp_path: Path, checkout: str, head: str, main: str, base: str
) -> None:
    """The event names ``main`` as it was, or as it is by now."""
    git(repository, "checkout", "-q", checkout)
    given = {"command": "cat other value || true", "trust-both": "true", "head": head, "pairs": "9"}
    event = {name: git(repository, "rev-parse", name).strip() for name in ("start", "moved", "changed")}
    shas = {"pull_request__base__sha": event[main], "pull_request__head__sha": event["changed"]}
    status, told, _ = step(repository, tmp_path, given, **shas)
    assert status == 0
    found = json.loads(Path(told["json"]).read_text())
    assert found["base"].endswith(f"({event[base][:12]})")
    assert found["exercise"]["head"] == ["other"] and found["exercise"]["changed"] == 1


@pytest.mark.heavy
def test_a_commit_without_a_change_passes_with_a_summary(repository: Path, tmp_path: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "empty")
    before = git(repository, "rev-parse", "HEAD^").strip()
    status, told, page = step(repository, tmp_path, {"command": "cat value", "trust-both": "true"}, before=before)
    assert (status, told["verdict"]) == (0, "nothing differs")
    assert "nothing differs" in page


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
