"""Tries the tests that were found, because the sandbox does not see what is installed outside /usr.

Where a Python module is missing, the first of these that works is proposed: the same tests by unittest; an interpreter
of the user that has the module, with ``show``; else a ``setup`` that installs it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from maxcode.errors import InputError
from maxcode.evaluate.repo.commands import said
from maxcode.evaluate.repo.git import commit_of, tracked
from maxcode.evaluate.repo.layers import Layers
from maxcode.evaluate.repo.summaries import counted
from maxcode.run.scout.conventions import Conventions
from maxcode.run.scout.ground import Ground
from maxcode.sandbox.sandbox import Ran

_MISSING = re.compile(r"No module named '?([A-Za-z_]\w*)")
_PYTHON = re.compile(r"python[\d.]*(?=\s|$)")
_SYSTEM = Path("/usr")
_ASK = (
    "import importlib.util, json, sys; "
    "print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, all(map(importlib.util.find_spec, sys.argv[1:]))]))"
)
_ASK_S = 20.0
OF_SYSTEM = "/usr/bin/python3"  # the interpreter that the sandbox sees
OF_SETUP, _INSTALL = ".venv/bin/python", ".venv/bin/pip install -q"


async def with_working_tests(
    ground: Ground, found: Conventions, side: Layers, runs_setup: bool
) -> tuple[Conventions, Layers]:
    """What was found, with tests that the sandbox can run if there are such; else with a note that says why not.  With
    the files after the set-up that was run.

    ``runs_setup``: the user allows a set-up, so that one that is proposed is tried.
    """
    ran = await ground.tests(found, side)
    if ran.ok:
        return found, side
    module = missing(ran)
    if not module or not by_python(found.tests):
        return noted(
            found, f"tests {found.tests!r} fail in the sandbox: {said(ran)}; give others with --tests CMD"
        ), side
    if is_own(ground.top, module):
        why = (
            f"cannot import {module}, which is the repository's own: build it with --build, or set PYTHONPATH in `env`"
        )
        return noted(found, f"tests {found.tests!r} {why}"), side
    for other, how in _other_ways(found, module, ground.top):
        with suppress(InputError):  # a folder that cannot be shown
            if _has_run(await ground.tests(other, side)):
                return noted(other, f"python3 in the sandbox has no {module}: {how}"), side
    return await _by_setup(ground, found, side, module, runs_setup)


async def _by_setup(
    ground: Ground, found: Conventions, side: Layers, module: str, runs_setup: bool
) -> tuple[Conventions, Layers]:
    """The proposal with a set-up that installs what is missing; tried only if the user allows it."""
    packages = list(dict.fromkeys([*(["pytest"] if "pytest" in found.tests else []), module]))
    other = replace(found, setup=with_packages(found.setup, packages), tests=with_python(found.tests, OF_SETUP))
    installed = " ".join(packages)
    what = f"python3 in the sandbox has no {module}: the set-up installs {installed} in a virtual environment"
    if not runs_setup:
        untried = f"{what}; it was not tried: --run-setup runs it now, as you and with the network"
        return noted(other, untried), side
    try:
        side = await ground.side(other)
        ran = await ground.tests(other, side)
    except InputError as error:
        return noted(other, f"{what}; {error}"), side
    fails = f"{what}, and {other.tests!r} still fails: {said(ran)}; correct `setup`"
    return noted(other, what if ran.ok else fails), side


def with_packages(setup: str, packages: list[str]) -> str:
    """A set-up that installs packages too, in the virtual environment that it makes."""
    last = setup.rpartition(" && ")[2]
    if last.startswith(_INSTALL):
        return " ".join([setup, *(one for one in packages if one not in last.split())])
    made = f"{OF_SYSTEM} -m venv .venv && {_INSTALL} {' '.join(packages)}"
    return f"{setup} && {made}" if setup else made


def by_python(command: str) -> bool:
    """Whether a command begins with Python of the system."""
    return _PYTHON.match(command) is not None


def with_python(command: str, executable: str) -> str:
    """The same command with another interpreter."""
    return _PYTHON.sub(lambda _: shlex.quote(executable), command, count=1)


def _other_ways(found: Conventions, module: str, top: Path) -> Iterator[tuple[Conventions, str]]:
    """Proposals without a set-up, each with its words for the user."""
    if found.by_unittest and found.by_unittest != found.tests:
        yield replace(found, tests=found.by_unittest), "the tests run by unittest"
    needed = ["pytest", module] if "pytest" in found.tests else [module]
    for executable, folders in interpreters(needed, top):
        tests = with_python(found.tests, executable)
        how = f"the tests run with your {executable}, whose folders `show` names"
        yield replace(found, tests=tests, show=(*found.show, *folders)), how


def interpreters(modules: list[str], top: Path) -> Iterator[tuple[str, list[str]]]:
    """Interpreters of the user that have these modules, with the folders that they need; none of the repository's own
    files is started."""
    active = os.environ.get("VIRTUAL_ENV", "")
    asked = [
        f"{active}/bin/python" if active else None,
        shutil.which("python3"),
        shutil.which("python"),
        sys.executable,
    ]
    known: set[str] = set()
    for path in filter(None, asked):
        if top in Path(path).parents or top in Path(path).resolve().parents:
            continue
        with suppress(OSError, ValueError, subprocess.SubprocessError):
            done = subprocess.run([path, "-I", "-c", _ASK, *modules], capture_output=True, timeout=_ASK_S, check=True)
            executable, prefix, base, has_them = json.loads(done.stdout)
            folders = [one for one in dict.fromkeys((prefix, base)) if not Path(one).is_relative_to(_SYSTEM)]
            if has_them and folders and executable not in known:
                known.add(executable)
                yield executable, folders


def missing(ran: Ran) -> str:
    """The first module that a run did not find; empty if it failed for another reason."""
    found = _MISSING.search((ran.stdout + b"\n" + ran.stderr).decode(errors="replace"))
    return found[1] if found else ""


def _has_run(ran: Ran) -> bool:
    counts = counted(ran.stdout + b"\n" + ran.stderr)
    return ran.ok and any(counts.get(name, 0) for name in ("ran", "passed"))


def is_own(top: Path, module: str) -> bool:
    """Whether the repository has a package or a file of this name."""
    paths = map(Path, tracked(top, commit_of(top, "HEAD")))
    return any((path.stem == module and path.suffix == ".py") or module in path.parts[:-1] for path in paths)


def noted(found: Conventions, note: str) -> Conventions:
    return replace(found, notes=(*found.notes, note))
