"""From a command that calls a function to a problem with its recorded calls.

The command is the user's own, and runs as it does without maxcode.  Then the function is replayed on the recorded
arguments, in the sandbox: calls that give another result there depend on more than their arguments, and are left out.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

from maxcode.core.files import FileKind, read_text, write_whole
from maxcode.core.types import DataFile, Problem, Program, ProgramSpec, PythonSpec
from maxcode.errors import InputError
from maxcode.evaluate.python.comparing import Comparison
from maxcode.evaluate.python.nodes import Reader, Unreadable, parts_of
from maxcode.evaluate.python.runtime import find_python
from maxcode.evaluate.python.sides import INSIDE, OUT, SideStarter
from maxcode.evaluate.rounds.round import last_words
from maxcode.problems.description import DESCRIPTION
from maxcode.problems.python_table import LEAST_CALLS
from maxcode.sandbox.selftest import open_safe

RECORDER = Path(__file__).with_name("recorder.py")
CALLS = "calls.bin"
MOST_FILES, MOST_TEXT = 400, 8 << 20  # of a package that is not installed
_TARGET = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)")
_TESTS = re.compile(r"(?i)__pycache__|tests?|(test_.*|tests?|conftest)\.py")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_NO_SHELL = "it runs without a shell; for `cd`, `&&` and `|` write sh -c '...'"
_NOT_STARTED = (
    "started no Python that records: PYTHONPATH and MAXCODE_CAPTURE must reach it, which `python -I`, `python -E`, "
    "tox and sudo prevent; start pytest by itself"
)
_NO_VENV = "is in no virtual environment, so the sandbox has the system's Python, without your packages"
_VENV = "start the command with the Python of a virtual environment (`python3 -m venv .venv`)"

Call = tuple[bytes, bytes]


@final
@dataclass(frozen=True, slots=True)
class Captured:
    """What came of it.  ``made``: calls that were made; ``kept``: those in the problem; ``refused``: calls that could
    not be recorded, by reason; ``changed``: calls that give another result when they are made again; ``unmade``: those
    that cannot be made again, by reason; ``foreign``: the command's Python, where the sandbox has another one."""

    folder: Path
    made: int
    kept: int
    changed: int
    refused: dict[str, int] = field(default_factory=dict)
    unmade: dict[str, int] = field(default_factory=dict)
    status: int = 0
    foreign: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        found = [f"{count} calls could not be recorded: {why}" for why, count in self.refused.items()]
        found += [f"{count} calls cannot be made in the sandbox: {why}" for why, count in self.unmade.items()]
        if self.changed:
            found.append(f"{self.changed} calls were left out: made again they give another result")
        if self.status:
            found.append(f"the command ended with status {self.status}")
        if self.foreign:
            found.append(f"{self.foreign} {_NO_VENV}")
        return tuple(found)


@final
@dataclass(frozen=True, slots=True)
class _Recorded:
    """The recorder's files: distinct calls, notes, where the module is, and whether any Python has recorded."""

    calls: tuple[Call, ...]
    notes: Counter[str]
    module: dict[str, Any] | None
    has_started: bool

    @property
    def foreign(self) -> str:
        """The command's Python, where it belongs to no virtual environment and is not the system's."""
        if self.module is None or self.module["prefix"]:
            return ""
        python = Path(self.module["python"])
        return "" if python.resolve().is_relative_to("/usr/bin") else str(python)


async def capture(command: str, target: str, folder: Path, most: int = 1000) -> Captured:
    """Run a command, record the calls of ``package.module:function`` in it, and write a problem to ``folder``.

    A method, ``package.module:Class.method``, is recorded where it is called on an object of this very class.

    InputError if nothing could be recorded, or the folder is there already.
    """
    match = _TARGET.fullmatch(target)
    if match is None:
        raise InputError(f"--function is '{target}'; write package.module:name, e.g. textkit.wrap:wrapped")
    _refuse_existing(folder)
    recorded, status = _run(command, match[1], match[2], most)
    spec, program = _spec(target, _module(command, target, recorded, status))
    if spec.venv:
        find_python(spec.venv).refuse_shown(folder, "the problem (--out) in")
    kept, unmade = await _reproduced(spec, program, recorded) if recorded.calls else ([], Counter[str]())
    refused = {why.removeprefix("refused "): n for why, n in recorded.notes.items() if why.startswith("refused ")}
    changed = len(recorded.calls) - len(kept) - unmade.total()
    made = recorded.notes["call"]
    found = Captured(folder, made, len(kept), changed, refused, dict(unmade), status, recorded.foreign)
    if len(kept) < LEAST_CALLS:
        why = "; ".join(found.notes) or "it is called too seldom"
        raise InputError(
            f"{len(kept)} usable calls of {target} were recorded, at least {LEAST_CALLS} are needed: {why}"
        )
    _write(folder, spec, program, kept)
    return found


def _module(command: str, target: str, recorded: _Recorded, status: int) -> dict[str, Any]:
    """Where the function's module is; InputError if it was not found there."""
    module, _, name = target.partition(":")
    if elsewhere := [why.removeprefix("elsewhere ") for why in recorded.notes if why.startswith("elsewhere ")]:
        raise InputError(f"{target} is defined in {elsewhere[0]}; write --function {elsewhere[0]}:{name}")
    if not recorded.has_started:
        raise InputError(f"`{command}` {_NOT_STARTED} (it ended with status {status})")
    if recorded.module is None and f"absent {name}" in recorded.notes:
        raise InputError(f"{module} has no function or method {name} (a class is none); correct --function")
    if recorded.module is None:
        raise InputError(
            f"`{command}` never imported {module} with a function {name} (it ended with status {status}); "
            "correct --function, or the command"
        )
    return recorded.module


def _refuse_existing(folder: Path) -> None:
    if os.path.lexists(folder):
        raise InputError(f"{folder} exists already; name another folder with --out, or remove it")


def _run(command: str, module: str, function: str, most: int) -> tuple[_Recorded, int]:
    """Run the command with the recorder; its output goes where ours goes."""
    with tempfile.TemporaryDirectory(prefix="maxcode-capture-") as place:
        code, found = Path(place, "code"), Path(place, "found")
        code.mkdir()
        found.mkdir()
        (code / "sitecustomize.py").write_text(RECORDER.read_text())
        for name in ("codec.py", "codec_memory.py"):
            (code / name).write_text(INSIDE[name])
        asked = {"module": module, "function": function, "folder": str(found), "most": most}
        try:
            words = shlex.split(command)
            named = [match for match in itertools.takewhile(bool, map(_VARIABLE.fullmatch, words)) if match]
            environment = {**os.environ, "MAXCODE_CAPTURE": json.dumps(asked)} | {one[1]: one[2] for one in named}
            paths = filter(None, (str(code), environment.get("PYTHONPATH")))
            environment["PYTHONPATH"] = os.pathsep.join(paths)
            done = subprocess.run(words[len(named) :], env=environment, check=False)
        except (OSError, ValueError, IndexError) as error:
            raise InputError(f"`{command}` cannot be started: {error}; correct it ({_NO_SHELL})") from error
        return _read(found, most), done.returncode


def _read(folder: Path, most: int) -> _Recorded:
    notes: Counter[str] = Counter()
    calls: dict[Call, None] = {}
    for path in sorted(folder.glob("calls-*")):
        calls.update(dict.fromkeys(calls_in(path.read_bytes())))
    for path in folder.glob("notes-*"):
        notes.update(path.read_text().splitlines())
    modules = [line for path in folder.glob("module-*") for line in path.read_text().splitlines()]
    module = json.loads(modules[0]) if modules else None
    return _Recorded(tuple(itertools.islice(calls, most)), notes, module, any(folder.glob("started-*")))


def calls_in(data: bytes) -> Iterator[Call]:
    """Recorded calls, each of two messages with their sizes in front."""
    messages = _messages(data)
    return zip(messages, messages, strict=False)


def _spec(target: str, module: dict[str, Any]) -> tuple[PythonSpec, Program]:
    path = Path(module["file"])
    text = read_text(path, FileKind("the source of the function"))
    name = target.partition(":")[0]
    return PythonSpec(target, venv=module["prefix"], beside=_package(name, path, module)), Program({path.name: text})


def _package(name: str, path: Path, module: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The files of the function's package where it is not installed in the environment; without its tests, which hold
    the arguments of calls that are held out."""
    depth = name.count(".") - (path.name != "__init__.py")
    if depth < 0:
        return ()
    top = path.parents[depth]
    runtime = find_python(module["prefix"]) if module["prefix"] else None
    if runtime is not None and any(top.parent == one.resolve() for one, _ in runtime.binds):
        return ()
    found = [one for one in sorted(top.rglob("*.py")) if not any(map(_TESTS.fullmatch, one.relative_to(top).parts))]
    texts = [(str(one.relative_to(top.parent)), one.read_text(errors="replace")) for one in found[:MOST_FILES]]
    if len(found) > MOST_FILES or sum(len(text) for _, text in texts) > MOST_TEXT:
        raise InputError(
            f"the package {top} is not installed in an environment, and too large to take along; install it with "
            f"`pip install -e {top.parent}` in a virtual environment, and use that one's Python in the command"
        )
    return tuple(texts)


async def _reproduced(spec: PythonSpec, program: Program, recorded: _Recorded) -> tuple[list[Call], Counter[str]]:
    """The calls that give the same when they are made again, in the sandbox; why others cannot be made there."""
    content = packed(list(recorded.calls))
    problem = Problem(
        "capture", "python", "python", program, ProgramSpec(python=replace(spec, calls=DataFile(CALLS, "", content)))
    )
    stage = SideStarter(await open_safe(), find_python(spec.venv), problem, 1)
    ran = await stage.once("replay", program)
    if not ran.ok or OUT not in ran.files:
        raise InputError(f"the function does not run in the sandbox: {last_words(ran)}{_cure(spec, recorded)}")
    again = list(zip(recorded.calls, calls_in(ran.files[OUT]), strict=False))
    unmade = Counter(why.decode(errors="replace") for _, (_, why) in again if why)
    return [call for call, (found, why) in again if not why and _is_same(call[1], found)], unmade


def _cure(spec: PythonSpec, recorded: _Recorded) -> str:
    """What may help a function that does not run in the sandbox."""
    if recorded.foreign:
        return f"; {recorded.foreign} {_NO_VENV}: {_VENV}"
    if not spec.beside:
        return ""
    take = "pip install -e . in it" if spec.venv else f"install the package there, and {_VENV}"
    return f"; only the *.py files of its package were taken along: {take}"


def _messages(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        yield data[at + 8 : at + 8 + size]
        at += 8 + size


def _is_same(recorded: bytes, found: bytes) -> bool:
    comparison = Comparison(Reader().open(parts_of(memoryview(recorded))), Reader().open(parts_of(memoryview(found))))
    try:
        pairs = [(comparison.wanted.node(), comparison.given.node()) for _ in range(2)]
    except Unreadable:
        return False
    return not any(comparison.difference(want, got, "it") for want, got in pairs)


def packed(calls: list[Call]) -> bytes:
    """The file of recorded calls: their number, then each message with its size in front."""
    sized = (len(one).to_bytes(8, "little") + one for call in calls for one in call)
    return len(calls).to_bytes(8, "little") + b"".join(sized)


def _write(folder: Path, spec: PythonSpec, program: Program, calls: list[Call]) -> None:
    folder.mkdir(parents=True)
    beside = [(name, text) for name, text in spec.beside if name != program.name]
    for name, text in (*program.files.items(), *beside):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode())
    write_whole(folder / CALLS, packed(calls))
    lines = ['kind = "function"', f"source = {json.dumps(program.name)}", "", "[python]"]
    lines += [f"function = {json.dumps(spec.function)}", f"calls = {json.dumps(CALLS)}"]
    lines += [f"venv = {json.dumps(spec.venv)}"] if spec.venv else []
    lines += [f"beside = {json.dumps([name for name, _ in beside], indent=4)}"] if beside else []
    write_whole(folder / DESCRIPTION, ("\n".join(lines) + "\n").encode())
