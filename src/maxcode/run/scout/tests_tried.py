"""Tries the tests that were found, because the sandbox does not see what is installed outside /usr.

Where a Python module is missing, the first of these that works is proposed: the same tests by unittest; an interpreter
of the user that has the module, with ``show``; else a ``setup`` that installs it.
"""

from __future__ import annotations

import json
import os
import re
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
PYTHON = re.compile(r"^python3?\b")
_SYSTEM = Path("/usr")
_ASK = (
    "import importlib.util, json, sys; "
    "print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, all(map(importlib.util.find_spec, sys.argv[1:]))]))"
)
_ASK_S = 20.0
OF_SYSTEM = "/usr/bin/python3"  # the interpreter that the sandbox sees


async def with_working_tests(ground: Ground, found: Conventions, side: Layers, runs_setup: bool) -> Conventions:
    """What was found, with tests that the sandbox can run if there are such; else with a note that says why not.

    ``runs_setup``: the user allows a set-up, so that one that is proposed is tried.
    """
    ran = await ground.tests(found, side)
    if ran.ok:
        return found
    module = missing(ran)
    if not module or not PYTHON.match(found.tests):
        return noted(found, f"tests {found.tests!r} fail in the sandbox: {said(ran)}; give others with --tests CMD")
    if is_own(ground.top, module):
        why = (
            f"cannot import {module}, which is the repository's own: build it with --build, or set PYTHONPATH in `env`"
        )
        return noted(found, f"tests {found.tests!r} {why}")
    for other, how in _other_ways(found, module, ground.top):
        with suppress(InputError):  # a folder that cannot be shown
            if _has_run(await ground.tests(other, side)):
                return noted(other, f"python3 in the sandbox has no {module}: {how}")
    return await _by_setup(ground, found, module, runs_setup)


async def _by_setup(ground: Ground, found: Conventions, module: str, runs_setup: bool) -> Conventions:
    """The proposal with a set-up that installs what is missing; tried only if the user allows it."""
    packages = " ".join(dict.fromkeys([*(["pytest"] if "pytest" in found.tests else []), module]))
    install = f"{OF_SYSTEM} -m venv .venv && .venv/bin/pip install -q {packages}"
    setup = f"{found.setup} && {install}" if found.setup else install
    other = replace(found, setup=setup, tests=PYTHON.sub(".venv/bin/python", found.tests))
    what = f"python3 in the sandbox has no {module}: the set-up installs {packages} in a virtual environment"
    if not runs_setup:
        return noted(other, f"{what}; it was not tried: --run-setup runs it now, as you and with the network")
    try:
        ran = await ground.tests(other, await ground.side(other))
    except InputError as error:
        return noted(other, f"{what}; {error}")
    return noted(other, what if ran.ok else f"{what}, and {other.tests!r} still fails: {said(ran)}; correct `setup`")


def _other_ways(found: Conventions, module: str, top: Path) -> Iterator[tuple[Conventions, str]]:
    """Proposals without a set-up, each with its words for the user."""
    if found.by_unittest and found.by_unittest != found.tests:
        yield replace(found, tests=found.by_unittest), "the tests run by unittest"
    needed = ["pytest", module] if "pytest" in found.tests else [module]
    for executable, folders in interpreters(needed, top):
        tests = PYTHON.sub(executable, found.tests)
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
