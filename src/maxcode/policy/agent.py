"""The policy that lets a coding agent work: a folder with the program, an observation, and what it edited.

    observation -> folder (program, TASK.md, shown tests) -> agent, confined -> the program's files -> program

The agent sees neither hidden tests nor the judge (``sandbox/workshop.py``).  Its answer is recorded like that of a
model, so a resumed run asks for nothing twice.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.code.source import fenced
from maxcode.core.types import Action, Observation, Problem, Program, Usage
from maxcode.errors import InputError, ProviderError
from maxcode.llm.clients import Completion, Model, ModelRequest
from maxcode.llm.clients.command import AGENT, words_of
from maxcode.llm.clients.faults import DETAIL_LENGTH, TransientFault, without_key
from maxcode.llm.prompts import filled
from maxcode.policy.llm import NO_GAIN_ANSWER, messages, says_no_gain
from maxcode.sandbox.workshop import FAULTS, REPORT, SAID, SYSTEM, Permits, WorkDone, work

TASK = "TASK.md"
_TESTS_MOST = 256 << 10  # bytes of all tests that are shown
_FILE_MOST = 4 << 20
_SAID_MOST = 16 << 10


@final
@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What an agent gets.

    ``hosts``      where it may connect to by HTTPS, e.g. api.anthropic.com; none: it has no network
    ``env``        names of variables that it gets, e.g. ANTHROPIC_API_KEY
    ``show``       files and folders that it may read, e.g. those where it is installed
    ``turns``      the most turns of claude; a command of your own has its own bounds
    ``seconds``    the time limit of one answer
    ``memory_mb``, ``processes``  of all that it starts together
    """

    hosts: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    show: tuple[Path, ...] = ()
    turns: int = 60
    seconds: float = 1800.0
    memory_mb: int = 4096
    processes: int = 512

    def __post_init__(self) -> None:
        for name, least in (("turns", 1), ("seconds", 1), ("memory_mb", 256), ("processes", 16)):
            if not getattr(self, name) >= least:
                raise InputError(f"agent.{name} = {getattr(self, name)}; give at least {least}")

    @property
    def shown(self) -> tuple[Path, ...]:
        """The shown paths, with ``~`` for the home folder."""
        return tuple(path.expanduser().absolute() for path in self.show)


class _Reported(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = None


class _Answer(msgspec.Struct):
    """The completion of an agent, as JSON: what it said, and the files that it changed."""

    said: str
    files: dict[str, str]


@final
@dataclass(frozen=True, slots=True)
class AgentModel:
    """An agent as a model: ``ModelRequest.files`` in its folder, the last message as TASK.md; JSON of ``_Answer``.

    TransientFault if it ends with an exit status other than 0 and has changed nothing.
    """

    words: tuple[str, ...]
    settings: AgentSettings
    reads_claude: bool = False

    async def complete(self, request: ModelRequest) -> Completion:
        started = time.monotonic()
        task = "\n\n".join(message.text.strip() for message in request.messages) + "\n"
        given = {name: text.encode() for name, text in request.files.items()}
        variables = {name: os.environ[name] for name in self.settings.env if name in os.environ}
        shown = (*self.settings.shown, *_installed(self.words[0]))
        found = self.settings
        permits = Permits(shown, found.hosts, variables, found.memory_mb, found.processes)
        programs = [name for name in given if not name.startswith("tests/")]
        made = await work(self.words, {**given, TASK: task.encode()}, programs, permits)
        changed = {name: made.files[name] for name in programs if made.files.get(name, given[name]) != given[name]}
        said, reported = self._said(made)
        if made.status != 0 and not changed:
            why = without_key(made.files.get(FAULTS, b"").decode(errors="replace") or said, "")[-DETAIL_LENGTH:]
            raise TransientFault(f"exit status {made.status}: {why or 'nothing on standard error'}")
        long = [name for name, content in changed.items() if len(content) > _FILE_MOST]
        if long:
            raise TransientFault(f"{long[0]} became longer than {_FILE_MOST >> 20} MiB")
        files = {name: content.decode(errors="replace") for name, content in changed.items()}
        text = msgspec.json.encode(_Answer(said[:_SAID_MOST], files)).decode()
        seconds = time.monotonic() - started
        usage = Usage(1, reported.prompt_tokens, reported.completion_tokens, seconds, reported.dollars)
        return Completion(text, usage)

    def _said(self, made: WorkDone) -> tuple[str, _Reported]:
        """What it said, and what it reports to have cost: unknown if it reports nothing that can be read."""
        said = made.files.get(SAID, b"").decode(errors="replace")
        try:
            if self.reads_claude:
                told = msgspec.json.decode(said, type=dict[str, Any])
                used = told.get("usage") or {}
                inputs = sum(int(used.get(name) or 0) for name in _CLAUDE_INPUT)
                cost = _Reported(inputs, int(used.get("output_tokens") or 0), told.get("total_cost_usd"))
                return str(told.get("result") or ""), cost
            return said, msgspec.json.decode(made.files.get(REPORT, b"{}"), type=_Reported)
        except (msgspec.MsgspecError, ValueError, TypeError):
            return said, _Reported()


_CLAUDE_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_DO_IT = f"Do the task in {TASK}."


def agent_model(name: str, settings: AgentSettings) -> AgentModel:
    """The agent of ``agent:claude``, ``agent:codex`` or ``agent:COMMAND``, which gets the task on its standard input
    too.  InputError if it is not there."""
    words = words_of(name, AGENT)
    if not words:
        raise InputError(f"'{name}' names no agent; write agent:claude, agent:codex or agent:'./mine.sh --fast'")
    known = words if len(words) > 1 else _KNOWN.get(words[0], words)
    path = shutil.which(known[0])
    if path is None:
        raise InputError(f"there is no program '{known[0]}' (from '{name}'); install it, or correct its name")
    turns = ("--max-turns", str(settings.turns)) if known is _KNOWN["claude"] else ()
    return AgentModel((str(Path(path).absolute()), *known[1:], *turns), settings, known is _KNOWN["claude"])


_KNOWN = {
    "claude": ("claude", "--print", _DO_IT, "--output-format", "json", "--dangerously-skip-permissions"),
    "codex": ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", _DO_IT),
}  # their own sandboxes are off: they run in ours


def _installed(program: str) -> Iterator[Path]:
    """The program and what its link points to, if the system's folders do not hold them."""
    for path in (Path(program), Path(program).resolve()):
        if not any(path.is_relative_to(folder) for folder in SYSTEM):
            yield path


@final
@dataclass(frozen=True, slots=True)
class Agent:
    """Proposes what an agent edited.  InputError if it would be shown a hidden test; ProviderError as ``Model``."""

    model: Model
    settings: AgentSettings = AgentSettings()

    async def propose(self, observation: Observation) -> Action:
        """The program as the agent left it, or that it sees nothing to gain."""
        state = observation.state
        program = state.program
        completion = await self.model.complete(self.request(observation))
        try:
            answer = msgspec.json.decode(completion.text, type=_Answer)
        except msgspec.MsgspecError as error:
            raise ProviderError(f"the recorded answer is not that of an agent ({error})") from error
        text = "\n\n".join([answer.said.strip(), *(f"{name}\n{fenced(one)}" for name, one in answer.files.items())])
        files = {name: one for name, one in answer.files.items() if name in program.files}
        if files:
            return Action(Program({**program.files, **files}), text, completion.usage)
        if says_no_gain(answer.said):
            return Action(None, text, completion.usage, no_gain=True)
        return Action(None, text, completion.usage, "the agent changed no file of the program")

    def request(self, observation: Observation) -> ModelRequest:
        """The request for an observation: the prompt of a language model, but for how to answer, and the files."""
        problem, program = observation.state.problem, observation.state.program
        self._refuse_hidden(problem)
        tests = _shown_tests(problem)
        told = f"tests/ holds {len(tests)} files of tests that you may see." if tests else "No test is shown."
        form = filled("answer_in_place", paths=", ".join(program.files), tests=told, words=NO_GAIN_ANSWER)
        return ModelRequest(messages(observation, form=form), observation.draw, files={**program.files, **tests})

    def _refuse_hidden(self, problem: Problem) -> None:
        hidden = [Path(path) for case in problem.spec.held_out for path in (case.stdin, case.expected) if path]
        for folder in (*self.settings.shown, *map(Path, SYSTEM)):
            for path in hidden:
                if path.resolve().is_relative_to(folder.resolve()):
                    raise InputError(
                        f"the agent is shown {folder}, which holds the held-out test {path.name}; take it out of "
                        "agent.show, or move the tests"
                    )


def _shown_tests(problem: Problem) -> dict[str, str]:
    """The tests that a policy may see, the short ones first, as files below tests/."""
    found: dict[str, str] = {}
    sized = sorted(problem.spec.seen, key=lambda case: Path(case.stdin).stat().st_size)
    room = _TESTS_MOST
    for case in sized:
        pair = {f"tests/{case.name}.in": case.stdin} | (
            {f"tests/{case.name}.out": case.expected} if case.expected else {}
        )
        size = sum(Path(path).stat().st_size for path in pair.values())
        if size <= room:
            room -= size
            found |= {name: Path(path).read_text(errors="replace") for name, path in pair.items()}
    return found
