"""The judge as tools of an agent: by the official client, within a folder, and without losing anything."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click
import pytest
from mcp import Client, StdioServerParameters
from mcp.server.mcpserver.exceptions import ToolError

from maxcode.cli.mcp import _VERBS, JOBS, REFUSED, Permits, Tools
from tests.support import repositories as repos
from tests.support.cli import doubts_of
from tests.support.counting import QUARTER, SLOW

SIZES = (160_000_003, 162_620_007, 165_000_041, 166_000_009)
WRONG = QUARTER.replace("+= 4 * i + 6", "+= 4 * i + 7")
FENCE = "Four at a time.\n\n```c\n{}\n```\n"
OWN = frozenset({"json_", "policy"})  # options that a tool itself gives
# Options that are no path and choose nothing about the sandbox, the payer or the user's own code.  A new option is
# refused, named here, or a path that is checked: whoever adds it decides.
HARMLESS = frozenset({
    "allow_equal", "answer", "anyway", "args", "base", "budget", "build", "calls", "certificate", "checker",
    "constants", "device", "dollars", "draw", "dry_run", "env", "fail_on", "failures", "files", "finish", "flags",
    "gamma", "goal", "head",
    "margin", "method", "metric_line", "name", "no_cache", "pairs", "profile_self", "read", "reference", "run_limit",
    "same_output", "same_sides", "seconds", "seed", "setup", "shapes", "shared_cores", "sides", "tie_break", "tokens",
    "tolerance", "total_seconds", "trajectory_tokens", "unranked", "width_for", "with_rules", "without",
    "without_rules",
})  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    for name, text in (("slow.c", SLOW), ("quarter.c", QUARTER), ("wrong.c", WRONG)):
        (root / name).write_text(text)
    (tmp_path / "secret.c").write_text(SLOW)
    for number, n in enumerate(SIZES):
        (root / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (root / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return root


def test_every_option_was_looked_at() -> None:
    for verb in _VERBS.values():
        for one in verb.params:
            is_path = isinstance(one.type, click.Path)
            assert is_path or one.name in REFUSED | OWN | HARMLESS, f"{verb.name}: {one.name}"


def refused(place: Path, name: str, **given: Any) -> str:
    with pytest.raises(ToolError) as told:
        anyio.run(partial(getattr(Tools(place, 3), name), **given))
    assert not (place / JOBS).exists(), "nothing was started"
    return str(told.value)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("admit", {"source": "slow.c", "options": ["--unsafe-no-sandbox"]}, "may not choose `unsafe_no_sandbox`"),
        ("admit", {"source": "slow.c", "options": ["--sandbox", "2"]}, "may not choose `sandbox`"),
        ("admit", {"source": "slow.c", "options": ["--policy", "command:id"]}, "may not choose `policy`"),
        ("admit", {"source": "slow.c", "options": ["--polic", "command:id"]}, "No such option"),
        ("admit", {"source": "slow.c", "options": ["--critic=llm:big"]}, "may not choose `critic`"),
        ("admit", {"source": "slow.c", "options": ["--cluster", "tcp://far:1"]}, "may not choose `cluster`"),
        ("admit", {"source": "slow.c", "options": ["--help"]}, "No such option"),
        ("admit", {"source": "slow.c", "options": ["--file", "a=../secret.c"]}, r"^\.\./secret.c is outside"),
        ("admit", {"source": "slow.c", "options": ["--include", "/etc"]}, "^/etc is outside the folder"),
        ("admit", {"source": "../secret.c"}, r"^\.\./secret.c is outside the folder"),
        ("admit", {"source": "--unsafe-no-sandbox"}, "Missing argument|may not choose"),
        ("admit", {"source": "slow.c", "run": "../run"}, r"^\.\./run is outside"),
        ("observe", {"run": "/etc"}, "^/etc is outside"),
        ("observe", {"run": "nowhere"}, "is no run that asks"),
        ("submit", {"id": "x", "answer": "y", "run": "../run"}, r"^\.\./run is outside"),
        ("submit", {"id": "x", "answer": "y" * (1 << 20) + "z"}, "at most 1048576 are read"),
        ("race", {"base": "a", "head": "b", "options": ["--trust-both"]}, "may not choose `trusts_both`"),
        ("race", {"base": "/etc", "head": "b"}, "^/etc is outside"),
        ("race", {"base": "a", "head": "b", "options": ["--show", "/etc"]}, "^/etc is outside"),
        ("race", {"base": "a", "head": "b", "options": ["--read", "go:/etc/rows"]}, "^/etc/rows is outside"),
        ("race", {"base": "a", "head": "b", "options": ["--read", "go:/tmp/../etc/rows"]}, "rows is outside"),
        ("certify", {"candidate": "../secret.c", "against": "slow.c"}, r"^\.\./secret.c is outside"),
        ("certify", {"candidate": "slow.c", "against": "slow.c", "options": ["--nonsense"]}, "No such option"),
        ("status", {"job": "0007-race"}, "there is no job '0007-race'; the newest are: none was begun"),
    ],
)  # fmt: skip
def test_what_a_client_may_not_choose_is_refused_at_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, given: dict[str, Any], words: str
) -> None:
    monkeypatch.chdir(place)
    before = dict(os.environ)
    found = refused(place, name, **given)
    assert dict(os.environ) == before, "a refused option must not change how later jobs are contained"
    assert re.search(words, found), found


def test_a_link_does_not_lead_out_of_the_folder(place: Path) -> None:
    (place / "link.c").symlink_to(place.parent / "secret.c")
    assert "link.c is outside" in refused(place, "certify", candidate="link.c", against="slow.c")


def job_of(place: Path, name: str, permits: Permits | None = None, **given: Any) -> str:
    """The words with which a job of a call ends."""
    tools = Tools(place, 3, permits=permits or Permits())
    try:
        return str(anyio.run(partial(getattr(tools, name), **given)))
    except ToolError as told:
        return str(told)


def written(place: Path, **keys: str) -> Path:
    """A repository that a client wrote below the root, and what its `setup` leaves beside the root."""
    lines = [line for line in repos.PYTHON_TOML.splitlines() if line.partition(" = ")[0] not in keys]
    lines += [f"{key} = {value}" for key, value in keys.items()]
    repos.made(place / "words", repos.PYTHON_FILES, "\n".join(lines))
    return place.parent / "pwned"


@pytest.mark.sandbox
def test_a_client_that_writes_a_problem_runs_nothing_as_the_user(place: Path) -> None:
    pwned = written(place, setup=f'"id > {place.parent}/pwned"', edit='["src/none"]')
    found = job_of(place, "admit", source="words")
    assert "matches no file of base" in found, "what is wrong is told before"
    (place / "words/problem.toml").write_text((place / "words/problem.toml").read_text().replace("src/none", "src/**"))
    found = job_of(place, "admit", source="words")
    assert "was not run" in found and "maxcode mcp" in found
    assert not pwned.exists()


@pytest.mark.sandbox
def test_a_user_may_let_clients_run_a_set_up(place: Path) -> None:
    pwned = written(place, setup=f'"id > {place.parent}/pwned"', tests='"false"')
    found = job_of(place, "admit", Permits(runs_setup=True), source="words")
    assert "tests 'false' fail on base" in found and pwned.exists()


def outside(place: Path) -> None:
    """Problems of a client that name what lies outside the root."""
    repos.made(place.parent / "other", repos.PYTHON_FILES, repos.PYTHON_TOML)
    function = '[function]\nname = "f"\nheader = "{}"\narguments = ["int n"]\ntimed = [{{n = 9}}]\nflop = "n"\n'
    python = '[python]\nfunction = "f"\ninputs = "inputs.py"\nvenv = "venv"\n'
    texts = {
        "repo": repos.PYTHON_TOML + f'repo = "{place.parent}/other"\n',
        "header": 'kind = "function"\nsource = "f.c"\n' + function.format(place.parent / "secret.c"),
        "tests": 'source = "f.c"\n[tests]\nfolder = "../../tests"\n',
        "link": 'source = "f.c"\n[tests]\nfolder = "t"\n',
        "source": 'source = "g.c"\n',
        "venv": 'kind = "function"\nsource = "f.py"\n' + python,
    }
    for name, text in texts.items():
        folder = place / name
        (folder / "t").mkdir(parents=True)
        (folder / "problem.toml").write_text(text)
        (folder / "f.c").write_text(SLOW)
        (folder / "g.c").symlink_to(place.parent / "secret.c")
        (folder / "t/1.in").symlink_to(place.parent / "secret.c")
        (folder / "f.py").write_text("def f(x):\n    return x\n")
        (folder / "inputs.py").write_text("def inputs(seed, size):\n    return (seed,)\n")
        (folder / "venv/lib/python3.1/site-packages").mkdir(parents=True)
        (folder / "venv/pyvenv.cfg").write_text("home = /usr/bin\n")
        (folder / "venv/bin").mkdir()
        (folder / "venv/bin/python3").symlink_to("/usr/bin/python3")
        (folder / "venv/lib/python3.1/site-packages/a.pth").write_text(f"{place.parent}\n")
    (place.parent / "tests").mkdir()
    (place.parent / "tests/1.in").write_text("1\n")


@pytest.mark.sandbox
@pytest.mark.parametrize("name", ["repo", "header", "tests", "link", "source", "venv"])
def test_what_a_problem_names_must_lie_in_the_folder(place: Path, name: str) -> None:
    outside(place)
    found = job_of(place, "admit", source=name)
    assert "is outside the folder of this server" in found, found


def test_a_user_may_name_a_further_folder_for_problems(place: Path) -> None:
    outside(place)
    found = job_of(place, "admit", Permits(show=(place.parent,)), source="source")
    assert "the tests folder" in found and "does not exist" in found


@pytest.mark.sandbox
def test_a_repository_shows_no_other_folder(place: Path) -> None:
    written(place, show='["/etc"]')
    assert "/etc is outside the folder of this server" in job_of(place, "admit", source="words")


def test_the_objects_of_another_repository_are_not_read(place: Path) -> None:
    repos.made(place.parent / "other", repos.PYTHON_FILES, repos.PYTHON_TOML)
    (place / "mine").mkdir()
    (place / "mine/.git").write_text(f"gitdir: {place.parent}/other/.git\n")
    (place / "mine/problem.toml").write_text(repos.PYTHON_TOML)
    assert "is outside the folder of this server" in job_of(place, "admit", source="mine")
    repos.git(place, "clone", "-q", "--shared", str(place.parent / "other"), "shared")
    (place / "shared/problem.toml").write_text(repos.PYTHON_TOML)
    assert "is outside the folder of this server" in job_of(place, "admit", source="shared")


def test_a_prompt_that_is_a_link_is_not_read(place: Path) -> None:
    asked = place / "runs/old/asked"
    asked.mkdir(parents=True)
    (asked / "request.json").write_text("{}")
    (asked / "a.prompt").symlink_to(place.parent / "secret.c")
    assert "is outside the folder of this server" in job_of(place, "observe", run="runs/old")


def test_a_job_that_is_a_link_is_not_read(place: Path) -> None:
    job = place / JOBS / "0001-race"
    job.mkdir(parents=True)
    for name, text in (("lock", ""), ("status", "1"), ("out", "")):
        (job / name).write_text(text)
    (job / "err").symlink_to(place.parent / "secret.c")
    assert "is outside the folder of this server" in job_of(place, "status", job="0001-race")


def test_a_race_is_told_without_the_values_of_each_pair(place: Path) -> None:
    job = place / JOBS / "0001-race"
    job.mkdir(parents=True)
    printed = '{"verdict": "faster", "samples": [{"base": {"row": 1.0}}]}'
    for name, text in (("lock", ""), ("status", "0"), ("out", printed), ("err", "")):
        (job / name).write_text(text)
    assert json.loads(job_of(place, "status", job="0001-race"))["result"] == {"verdict": "faster"}


def test_a_run_folder_that_a_client_wrote_chooses_no_policy(place: Path) -> None:
    text = f"import os\nopen({str(place.parent / 'pwned')!r}, 'w').write('x')\n"
    (place / "words.py").write_text(text)
    asked = place / "runs/old/asked"
    asked.mkdir(parents=True)
    for request in ({"policy": "words.py:policy"}, {"policy": "ask", "critic": "llm:dear"}):
        whole = {"source": "slow.c", "tests": "tests", "budget": 1, **request}
        kept = {"started_in": str(place), "request": whole, "wanted": None}
        (asked / "request.json").write_text(json.dumps(kept))
        assert "a run that asks" in job_of(place, "submit", run="runs/old", finish=True)
    assert not (place.parent / "pwned").exists()


def call(tools: Tools, name: str, **given: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(anyio.run(partial(getattr(tools, name), **given)))
    return found


def until_done(ask: Callable[[], dict[str, Any]], seconds: float = 600) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while (found := ask())["state"] == "running":
        assert time.monotonic() < end
    return found


@pytest.mark.sandbox
def test_a_long_call_becomes_a_job_and_the_same_call_finds_it(place: Path) -> None:
    tools = Tools(place, 2, wait_s=0.3)
    given = {"candidate": "quarter.c", "against": "slow.c", "tests": "tests"}
    first, second = call(tools, "certify", **given), call(tools, "certify", **given)
    assert first["state"] == second["state"] == "running"
    assert first["job"] == second["job"] == "0001-evaluate"
    done = until_done(lambda: call(Tools(place, 2), "status", job=first["job"]))
    assert done["result"]["outcome"] == "correct" and done["exit"] == 0
    assert call(tools, "status")["measurements_left"] == 1
    wrong = until_done(partial(call, Tools(place, 2), "certify", **{**given, "candidate": "wrong.c"}))
    assert wrong["result"]["outcome"] == "wrong"
    with pytest.raises(ToolError, match="2 measurements were made here"):
        call(tools, "certify", **given)
    assert [row["state"] for row in call(tools, "status")["jobs"]] == ["ended", "ended"]


@pytest.mark.sandbox
def test_a_race_reads_what_its_benchmark_leaves_in_the_tmp_of_the_sandbox(place: Path) -> None:
    for side, amount in (("old", 200), ("new", 100)):
        (place / side).mkdir()
        (place / side / "ns").write_text(f"{amount}\n")
    bench = ["sh", "-c", 'echo BenchmarkX 10 "$(cat ns)" ns/op > /tmp/rows']
    given = {"base": "old", "head": "new", "command": bench, "options": ["--read", "go:/tmp/rows"]}
    done = until_done(partial(call, Tools(place, 3), "race", **given))
    assert [(row["name"], row["verdict"]) for row in done["result"]["rows"]] == [("BenchmarkX", "faster")]


async def served(place: Path, work: Callable[[Client], Any]) -> Any:
    """What comes of the work of the official client, with a server of its own whose number is in the file ``pid``."""
    start = f"echo $$ > ../pid; exec {sys.executable} -m maxcode mcp"
    async with Client(StdioServerParameters(command="sh", args=["-c", start], cwd=place, env=dict(os.environ))) as one:
        return await work(one)


async def asked(client: Client, name: str, **given: Any) -> dict[str, Any]:
    found = await client.call_tool(name, given)
    text = "".join(getattr(one, "text", "") for one in found.content)
    assert not found.is_error, text
    known: dict[str, Any] = json.loads(text)
    while known.get("state") == "running":
        known = await asked(client, "status", job=known["job"])
    return known


def test_six_tools_that_are_soon_read(place: Path) -> None:
    found = anyio.run(served, place, lambda client: client.list_tools())
    assert [one.name for one in found.tools] == ["admit", "observe", "submit", "status", "race", "certify"]
    shown = json.dumps([one.model_dump(exclude_none=True, by_alias=True, mode="json") for one in found.tools])
    assert len(shown) / 4 < 2000, "tokens are about four letters"


@pytest.mark.sandbox
def test_an_agent_makes_a_program_faster_by_the_official_client(place: Path) -> None:
    async def work(client: Client) -> Any:
        begun = await asked(client, "admit", source="slow.c", tests="tests", budget="2",
                            options=["--method", "best-of-n"])  # fmt: skip
        assert begun["result"]["waiting"].startswith("2 of 2 prompts")
        prompts = [await asked(client, "observe") for _ in range(3)]
        assert prompts[2] == {"id": None, "state": "asking", "given_out": [one["id"] for one in prompts[:2]]}
        assert await asked(client, "observe", id=prompts[0]["id"]) == prompts[0]
        assert SLOW.strip() in prompts[0]["prompt"]
        wrong = await asked(client, "submit", id=prompts[0]["id"], answer=FENCE.format(WRONG))
        assert "wrong" in wrong["result"]["feedback"][0] and wrong["result"]["open"] == 1
        last = await asked(client, "submit", id=prompts[1]["id"], answer=FENCE.format(QUARTER))
        return last, await asked(client, "certify", candidate="runs/agent/certificate.json")

    last, verified = anyio.run(served, place, work)
    result = last["result"]["result"]
    assert doubts_of(result) == [] and result["confirmed"] and result["speedup"]["low"] > 1
    assert verified["exit"] == 0


@pytest.mark.sandbox
def test_a_killed_server_loses_no_work(place: Path) -> None:
    async def killed(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(partial(client.call_tool, "certify", dict(candidate="quarter.c", **GIVEN)))
            while not list((place / JOBS).glob("*-evaluate/lock")):
                await anyio.sleep(0.05)
            os.kill(int((place.parent / "pid").read_text()), signal.SIGKILL)

    with pytest.raises(BaseException):  # noqa: B017  the client's transport, in words of its own
        anyio.run(served, place, killed)
    found = anyio.run(served, place, lambda client: asked(client, "status", job="0001-evaluate"))
    assert found["result"]["outcome"] == "correct"


GIVEN = {"against": "slow.c", "tests": "tests"}
