"""Tries the benchmark that was found: whether it runs in the sandbox, how long it takes, and whether it prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from maxcode.errors import InputError
from maxcode.evaluate.repo.commands import said
from maxcode.evaluate.repo.layers import Layers
from maxcode.evaluate.repo.profile import RepoProfile
from maxcode.run.scout.conventions import Conventions
from maxcode.run.scout.ground import Ground
from maxcode.run.scout.tests_tried import (
    OF_SETUP,
    by_python,
    interpreters,
    is_own,
    missing,
    noted,
    with_packages,
    with_python,
)
from maxcode.sandbox.sandbox import Ran

_LEAST_S, _MOST_S = 0.02, 10.0
_OF_IMPORTS = 0.5  # of the time, in the bodies of modules to edit
_BETTER = "that does a fixed amount of work of 0.1 to 10 s"


async def with_working_benchmark(ground: Ground, found: Conventions, side: Layers) -> tuple[Conventions, Ran]:
    """What was found, with a benchmark that runs in the sandbox if there is one, and the run of it."""
    ran = await ground.benchmark(found, side)
    module = missing(ran)
    if ran.ok or not module or not by_python(found.benchmark):
        return _with_notes(found, ran), ran
    if is_own(ground.top, module):
        return noted(found, f"the benchmark cannot import {module}, which is the repository's own: build it"), ran
    for other, how in _other_ways(found, module, ground.top):
        with suppress(InputError):  # a folder that cannot be shown
            if (again := await ground.benchmark(other, side)).ok:
                return _with_notes(noted(other, f"python3 in the sandbox has no {module}: {how}"), again), again
    cure = shlex.quote(with_packages(found.setup, [module]))
    other_command = shlex.quote(with_python(found.benchmark, OF_SETUP))
    note = f"python3 in the sandbox has no {module}, which the benchmark needs: --setup {cure} with --run-setup and "
    return noted(found, f"{note}--benchmark {other_command}, or choose another benchmark"), ran


def _other_ways(found: Conventions, module: str, top: Path) -> Iterator[tuple[Conventions, str]]:
    """Proposals with other interpreters, each with its words for the user: first that of the set-up."""
    if OF_SETUP.partition("/")[0] in found.setup:
        how = "the benchmark runs in the virtual environment of the set-up"
        yield replace(found, benchmark=with_python(found.benchmark, OF_SETUP)), how
    for executable, folders in interpreters([module], top):
        how = f"the benchmark runs with your {executable}, whose folders `show` names"
        show = tuple(dict.fromkeys((*found.show, *folders)))
        yield replace(found, benchmark=with_python(found.benchmark, executable), show=show), how


def _with_notes(found: Conventions, ran: Ran) -> Conventions:
    for note in _notes(ran) if ran.ok else ():
        found = noted(found, note)
    return found


def _notes(ran: Ran) -> Iterator[str]:
    if ran.cpu_s < _LEAST_S:
        yield f"the benchmark takes {ran.cpu_s * 1e3:.0f} ms, too short to time: give one {_BETTER} with --benchmark"
    if ran.wall_s > _MOST_S:
        yield f"the benchmark takes {ran.wall_s:.0f} s and is run many times: give one {_BETTER} with --benchmark"
    if not ran.stdout.strip():
        yield "the benchmark prints nothing on standard output, where maxcode compares its results: let it print them"


def why_no_profile(found: Conventions, ran: Ran) -> RepoProfile | None:
    """Why there is no profile of a benchmark that failed; None if it did not fail."""
    if ran.ok:
        return None
    if ran.ending == "exit" and ran.code == 127:
        return RepoProfile(why_not=f"{found.benchmark!r} finds no program ({said(ran)}); correct build or benchmark")
    return RepoProfile(why_not=f"{found.benchmark!r} fails: {said(ran)}")


def of_imports(found: Conventions, profile: RepoProfile, editable: frozenset[str]) -> Conventions:
    """What was found, with a note if the benchmark does little but import."""
    share = sum(one.share for one in profile.functions if one.name == "<module>" and one.file in editable)
    if share < _OF_IMPORTS:
        return found
    what = f"{share:.0%} of the time is in the bodies of modules, so the benchmark does little but import them"
    return noted(found, f"{what}: give one {_BETTER} with --benchmark")
