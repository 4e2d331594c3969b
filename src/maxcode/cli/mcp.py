"""``maxcode mcp``: the judge as tools of a coding agent, by the Model Context Protocol.

A tool checks the words of a verb, runs it as a background command (``background.py``), and waits for it a little.  A
tool takes the options of its verb and gives its JSON.  If the server ends, its commands go on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import anyio
import anyio.to_thread
import click
from click.core import ParameterSource

import maxcode
from maxcode import __version__
from maxcode.cli.ask import asked_table, tell
from maxcode.cli.background import Background, Job
from maxcode.cli.evaluate import evaluate
from maxcode.cli.optimize import optimize
from maxcode.cli.race import race
from maxcode.cli.verify import verify
from maxcode.core.confined import as_variables, only_from
from maxcode.errors import InputError, MaxcodeError
from maxcode.run import asking
from maxcode.sandbox.session_layout import is_below
from maxcode.sandbox.toolchain import cache_root

JOBS = Path("runs", "mcp")
WAIT_S = 40.0  # clients end a call after 45 to 60 seconds
_TURN_S = 0.1
_AT_ONCE = 8
_ANSWER_BYTES = 1 << 20
_PROGRESS_LINES, _ERROR_LINES = 3, 8
_MEASURING = frozenset({"tell", "race", "evaluate", "verify"})  # the verbs whose number is bounded
_VERBS = {verb.name: verb for verb in (optimize, tell, evaluate, verify, race)}
# What a client may not choose: whether programs are contained, what runs as the user, who is paid, and other machines.
REFUSED = frozenset({
    "base_url", "branch", "changes", "cluster", "config", "critic", "prices", "provider", "replay", "run_setup",
    "sandbox", "trusts_both", "unsafe_no_sandbox",
})  # fmt: skip
_GOES_ON = frozenset({"tell", "verify"})  # the verbs that ask before they run a set-up
INSTRUCTIONS = """maxcode judges whether a program became faster: it builds, verifies and times in a sandbox.
Loop: admit a program; observe a prompt; submit your answer; until no prompt is open. Report no speed-up that is not
`trusted`. A call that takes long returns a job: call status with it. Paths are relative to the server's folder."""


@click.command()
@click.option("--root", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path(),
              show_default="this folder", help="Folder of the programs; paths outside it are refused.")  # fmt: skip
@click.option("--most", default=500, show_default=True, type=click.IntRange(1), help="Most candidates and races that "
              "clients may have measured in this folder.")  # fmt: skip
@click.option("--show", multiple=True, type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
              help="A folder outside --root that problems may name too, such as one with an interpreter; may be "
              "repeated.")  # fmt: skip
@click.option("--run-setup", "runs_setup", is_flag=True, help="Let clients run the `setup` of repositories, which they "
              "may write: as you, with the network and without a sandbox.")  # fmt: skip
def mcp(root: Path, most: int, show: tuple[Path, ...], runs_setup: bool) -> None:
    """Serve the judge to a coding agent by MCP, on standard input and output.

    Tools: admit, observe, submit, status, race, certify.  See docs/how-to/coding-agents.md.
    """
    try:
        from mcp.server import MCPServer
    except ImportError as error:
        raise InputError("maxcode mcp needs the MCP SDK: pip install 'maxcode[mcp]'") from error
    server = MCPServer("maxcode", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    shown = [one.absolute() for one in show]
    os.chdir(root)
    tools = Tools(Path.cwd(), most, permits=Permits(tuple(shown), runs_setup))
    for tool in (tools.admit, tools.observe, tools.submit, tools.status, tools.race, tools.certify):
        server.tool(structured_output=False)(tool)
    server.run("stdio")


@final
@dataclass(frozen=True, slots=True)
class Permits:
    """What clients may do with what they name: read from these further folders, and run a set-up."""

    show: tuple[Path, ...] = ()
    runs_setup: bool = False

    def folders(self, root: Path) -> list[Path]:
        """All from which a command may read: the project, the system's programs, maxcode and its table of shapes, and
        what variables of the user name, such as suites."""
        named = {name: Path(value) for name, value in os.environ.items() if name.startswith("MAXCODE_") and value}
        own = [path for name, path in named.items() if name != "MAXCODE_CACHE" and path.exists()]
        return [root, *self.show, Path("/usr"), Path(maxcode.__file__).parent, cache_root() / "shapes", *own]


@final
class Tools:
    """The tools below one folder, for at most so many measurements; an agent reads their docstrings.

    Each returns a JSON object; ToolError with one sentence for what cannot be done.
    """

    def __init__(self, root: Path, most: int, wait_s: float = WAIT_S, permits: Permits = Permits()) -> None:
        self.root, self.most, self.wait_s, self.permits = root, most, wait_s, permits
        self._folders = permits.folders(root)
        self._jobs = Background(root / JOBS, root, as_variables(self._folders, permits.runs_setup))

    async def admit(
        self, source: str, tests: str = "", budget: str = "8", run: str = "runs/agent", options: Sequence[str] = ()
    ) -> str:
        """Begin to make a program faster; then call observe.

        source: C, C++ or Python file, PyTorch module, or folder with problem.toml. tests: folder of NN.in with NN.out;
        a program that reads stdin needs it. budget: candidates. run: folder of the record; the same call resumes it.
        options: more options of `maxcode optimize`, e.g. ["--goal", "wall"].
        """
        words = ["optimize", source, *_given("--tests", tests), "--budget", budget, "--out", run, "--policy", "ask"]
        return await self._done([*words, "--json", *options])

    async def observe(self, run: str = "runs/agent", id: str = "") -> str:
        """Get an open prompt of a run and its id: the program, feedback so far, and the form of the answer.

        id: that prompt again, if it was lost. If the result's id is null, `state` says why: asking (others have the
        prompts `given_out`), evaluating (ask again later), ended, interrupted (make the last submit again).
        """
        with _told(), only_from(self._folders):
            path = self._inside(run)
            found = await anyio.to_thread.run_sync(partial(asking.ask, path, name=id))
            return _text(asked_table(path, found))

    async def submit(self, id: str = "", answer: str = "", run: str = "runs/agent", finish: bool = False) -> str:
        """Answer the prompt `id`: notes, then the whole new program in a code fence, as the prompt asks.

        finish: without id and answer, end the run and certify its winner. Returns feedback, how many prompts are open,
        and after the last one the result, with the certificate's path. `stays_open`: the answer asked to see more;
        submit another one to the same prompt.
        """
        if finish:
            return await self._done(["tell", run, "--finish", "--json"])
        if len(answer.encode()) > _ANSWER_BYTES:
            raise _refusal(f"the answer has {len(answer.encode())} bytes; at most {_ANSWER_BYTES} are read")
        return await self._done(["tell", run, id, "-", "--json"], answer)

    async def status(self, job: str = "") -> str:
        """Wait for a job and get its result or its progress; without `job`, list the jobs of this folder."""
        with _told():
            if job:
                return await self._waited(self._jobs.job(job))
            known = self._jobs.jobs()
            rows = [{"job": one.name, "state": one.state, "exit": one.status} for one in known[-20:]]
            left = self.most - self._measured(known)
            return _text({"jobs": rows, "measurements_left": left})

    async def race(
        self, base: str, head: str, command: Sequence[str] = (), build: str = "", options: Sequence[str] = ()
    ) -> str:
        """Tell whether head is faster than base: git revisions, folders or files of the project.

        command: words that run one side, e.g. ["./bench", "--size", "1000"]; for files {} stands for the file.
        build: shell command that builds a side. options: more options of `maxcode race`, e.g. ["--goal", "wall"].
        """
        words = ["race", *_given("--build", build), *options, "--json", base, head]
        return await self._done([*words, "--", *command] if command else words)

    async def certify(self, candidate: str, against: str = "", tests: str = "", options: Sequence[str] = ()) -> str:
        """Judge a finished program `candidate` against the original `against`: right? faster, with which interval?

        With a certificate.json alone as `candidate`: build, verify and time its winner again. options: more options of
        `maxcode evaluate`, e.g. ["--out", "runs/mine"], which also writes a certificate.
        """
        verb = ["evaluate", candidate, "--against", against] if against else ["verify", candidate]
        return await self._done([*verb, *_given("--tests", tests), "--json", *options])

    def _measured(self, jobs: Sequence[Job]) -> int:
        return sum(job.name.partition("-")[2] in _MEASURING for job in jobs)

    async def _done(self, words: list[str], text: str = "") -> str:
        """Runs a verb, or waits for the same one if it already runs."""
        with _told():
            self._check(words)
            known = self._jobs.jobs()
            if words[0] in _MEASURING and self._measured(known) >= self.most:
                raise InputError(f"{self.most} measurements were made here; the user may restart with a larger --most")
            if sum(job.state == "running" for job in known) >= _AT_ONCE:
                raise InputError(f"{_AT_ONCE} jobs are running; wait for one of them with status")
            allowed = ["--run-setup"] if self.permits.runs_setup and words[0] in _GOES_ON else []
            words = [words[0], *allowed, *words[1:]]
            job = await anyio.to_thread.run_sync(partial(self._jobs.begin, words, text))
        return await self._waited(job)

    async def _waited(self, job: Job) -> str:
        with _told(), only_from(self._folders):
            return await self._ended(job)

    async def _ended(self, job: Job) -> str:
        with anyio.move_on_after(self.wait_s):
            while job.state == "running":
                await anyio.sleep(_TURN_S)
        known: dict[str, Any] = {"job": job.name, "state": job.state}
        if job.state == "running":
            return _text({**known, "progress": job.said(_PROGRESS_LINES), "next": "call status with this job"})
        if job.state == "lost":
            raise _refusal(f"{job.name} was killed before its end; nothing recorded is lost: make the same call again")
        printed = job.printed().strip()
        if not printed.startswith("{"):
            raise _refusal("\n".join(job.said(_ERROR_LINES)) or f"{job.name} ended with status {job.status}")
        result: dict[str, Any] = json.loads(printed)
        result.pop("samples", None)  # of a race: too long for whoever reads the ratios that are made of them
        return _text({**known, "exit": job.status, "result": result})

    def _check(self, words: Sequence[str]) -> None:
        """Reads the words as the verb will; InputError if it does not know them, for what no client may choose, and for
        paths outside the folder."""
        verb = _VERBS[words[0]]
        before = dict(os.environ)
        try:
            with verb.make_context(verb.name, list(words[1:]), help_option_names=[]) as context:
                given = [one for one in verb.params if one.name
                         and context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE]  # fmt: skip
                refused = sorted(one.name for one in given if one.name in REFUSED)
                if context.params.get("policy", "ask") != "ask":
                    refused.append("policy")
                if refused:
                    raise InputError(f"a client may not choose `{refused[0]}`; the user can, with the command line")
                for one in given:
                    self._check_paths(one, context.params.get(str(one.name)))
        except click.exceptions.Exit as error:
            raise InputError("these options print something else and end; leave them out") from error
        except click.ClickException as error:
            raise InputError(error.format_message()) from error
        finally:
            if os.environ != before:  # an option's callback may set a variable, and a later one refuse the words
                os.environ.clear()
                os.environ.update(before)

    def _check_paths(self, parameter: click.Parameter, value: Any) -> None:
        paths: Sequence[object] = ()
        if isinstance(parameter.type, click.Path):
            paths = value if isinstance(value, tuple) else (value,)
        elif parameter.name == "files":
            paths = [word.partition("=")[2] or word for word in value]
        elif parameter.name == "sides":
            paths = value[:2]
        elif parameter.name == "shapes":
            paths = (value,)
        elif parameter.name == "read" and not is_below(value.partition(":")[2], "/tmp"):  # the sandbox's
            paths = (value.partition(":")[2],)
        for path in paths:
            self._inside(str(path))

    def _inside(self, word: str) -> Path:
        path = (self.root / word).resolve()
        if not path.is_relative_to(self.root):
            raise InputError(f"{word} is outside the folder of this server; give a path below it")
        return path


def _given(option: str, value: str) -> list[str]:
    return [option, value] if value else []


def _text(known: dict[str, Any]) -> str:
    return json.dumps(known, ensure_ascii=False)


def _refusal(words: str) -> Exception:
    """The error that a client sees as the result of its call."""
    from mcp.server.mcpserver.exceptions import ToolError

    return ToolError(words)


@contextmanager
def _told() -> Iterator[None]:
    """Errors of maxcode as errors of the call."""
    try:
        yield
    except MaxcodeError as error:
        raise _refusal(str(error)) from error
