"""Scouts a repository: its commands by convention, a profile of its benchmark, and its ``problem.toml``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import final

import anyio.to_thread

from maxcode.errors import InputError
from maxcode.evaluate.repo.admission import SEED
from maxcode.evaluate.repo.allowed import is_matched
from maxcode.evaluate.repo.base_tree import base_tree
from maxcode.evaluate.repo.commands import COMMAND_S, Place, said
from maxcode.evaluate.repo.git import commit_of, contents, top_of, tracked
from maxcode.evaluate.repo.layers import Layers
from maxcode.evaluate.repo.profile import RepoProfile, profiled
from maxcode.problems.repository import repository
from maxcode.run.scout.conventions import NAMES, Conventions, Texts, conventions, lines_of
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Sandbox

_TEXT_AT_MOST = 400_000


@final
@dataclass(frozen=True, slots=True)
class ScoutRequest:
    """What to scout.  Commands that are given replace the found ones.  ``runs_setup``: the user allows the set-up,
    which runs as the user and with the network."""

    folder: Path
    build: str | None = None
    tests: str | None = None
    benchmark: str | None = None
    setup: str | None = None
    edit: tuple[str, ...] = ()
    runs_setup: bool = False


@final
@dataclass(frozen=True, slots=True)
class Scouted:
    """``top``: the folder of the repository.  ``found``: its commands.  ``profile``: where its time goes."""

    top: Path
    found: Conventions
    profile: RepoProfile

    def toml(self, repo: str = ".") -> str:
        """The text of ``problem.toml``; ``repo``: the repository, from the folder of that file."""
        return "\n".join(lines_of(self.found, repo)) + "\n"

    def as_json(self) -> str:
        """All of it for programs."""
        places = [{**asdict(one), "bound": round(one.bound, 3)} for one in self.profile.functions]
        found = {key: value for key, value in asdict(self.found).items() if key != "notes"}
        told = {"repository": str(self.top), **found, "notes": self.found.notes, "profiler": self.profile.how,
                "elsewhere": self.profile.elsewhere, "no_profile": self.profile.why_not, "places": places,
                "problem_toml": self.toml()}  # fmt: skip
        return json.dumps(told)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        found = self.found
        yield f"repository  {self.top} ({found.ecosystem}, {found.language})"
        for key in ("setup", "build", "tests", "benchmark"):
            yield f"{key:<10}  {getattr(found, key) or 'none found'}"
        yield f"edit        {', '.join(found.edit)}"
        yield from (f"note        {note}" for note in found.notes)
        if self.profile.why_not:
            yield f"profile     none: {self.profile.why_not}"
            return
        yield f"profile     {self.profile.how}; {self.profile.elsewhere:.0%} outside the repository's own code"
        for one in self.profile.functions:
            callers = f"  (called by {', '.join(one.callers)})" if one.callers else ""
            mark = "" if is_matched(one.file, found.edit) else "  (not editable)"
            yield f"  {one.share:6.1%}  at most {one.bound:5.2f}x  {one.file}:{one.line} {one.name}{callers}{mark}"


async def scout(request: ScoutRequest, say: Callable[[str], None]) -> Scouted:
    """Scouts a repository.  InputError with the cure if it has no known build, no benchmark, or nothing to edit."""
    top = top_of(request.folder)
    commit = commit_of(top, "HEAD")
    found = _completed(_found(top, commit), request)
    if found.setup and not request.runs_setup:
        why = f"setup {found.setup!r} was not run; --run-setup runs it now, as you and with the network"
        return Scouted(top, found, RepoProfile(why_not=why))
    return Scouted(top, found, await _profile(top, found, say))


def _found(top: Path, commit: str) -> Conventions:
    files = {path: one for path, one in tracked(top, commit).items() if one.is_file}

    @cache
    def read(path: str) -> str:
        data = contents(top, [files[path].blob])[0] if path in files else b""
        return data[:_TEXT_AT_MOST].decode(errors="replace")

    found = conventions(Texts(tuple(files), read))
    if found is None:
        raise InputError(
            f"{top} has none of {', '.join(NAMES)} in its top folder; give --build, --tests and --benchmark in a "
            "problem.toml of your own (docs/reference/problem.md)"
        )
    return found


def _completed(found: Conventions, request: ScoutRequest) -> Conventions:
    given = {key: getattr(request, key) for key in ("build", "tests", "benchmark", "setup")}
    found = replace(found, **{key: value for key, value in given.items() if value is not None})
    if request.benchmark is not None:
        found = replace(found, read="")
    if request.edit:
        found = replace(found, edit=request.edit)
    if not found.benchmark:
        raise InputError(
            f"no benchmark was found by the conventions of {found.ecosystem}; give one with --benchmark CMD: a command "
            "that takes 0.1 to 10 s and prints its result"
        )
    if not found.edit:
        raise InputError(f"no source of {found.ecosystem} was found outside tests; give --edit PATTERN")
    notes = [] if found.tests else ["no tests were found: a patch is then judged by the benchmark's output alone"]
    return replace(found, notes=(*found.notes, *notes))


async def _profile(top: Path, found: Conventions, say: Callable[[str], None]) -> RepoProfile:
    table = {"kind": "repo", "edit": list(found.edit), "benchmark": found.benchmark, "build": found.build,
             "setup": found.setup, "env": dict(found.env), "language": found.language}  # fmt: skip
    problem = repository(table, top, "what was found").problem
    place = Place(await Sandbox.open(), problem)
    say("exporting the revision" + (" and running the set-up" if found.setup else ""))
    side = Layers(await anyio.to_thread.run_sync(base_tree, problem))
    async with build_lane():
        if found.build:
            say("building")
            ran, packed = await place.built(side, COMMAND_S)
            if not ran.ok:
                return RepoProfile(why_not=f"build {found.build!r} fails in the sandbox: {said(ran)}")
            side = Layers(Blob.of(packed))
        say("profiling the benchmark")
        return await profiled(
            place, side, found.benchmark.replace(SEED, "1"), tracked(top, problem.spec.repo_spec.commit)
        )
