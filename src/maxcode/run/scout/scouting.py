"""Scouts a repository: its commands by convention, a profile of its benchmark, and its ``problem.toml``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import final

from maxcode.errors import InputError
from maxcode.evaluate.repo.allowed import is_matched
from maxcode.evaluate.repo.git import commit_of, contents, top_of, tracked
from maxcode.evaluate.repo.profile import RepoProfile, profiled
from maxcode.run.scout.benchmark_tried import of_imports, why_no_profile, with_working_benchmark
from maxcode.run.scout.conventions import (
    LOOKED_FOR,
    NAMES,
    Conventions,
    Texts,
    conventions,
    lines_of,
    timed_by_itself,
)
from maxcode.run.scout.ground import Ground
from maxcode.run.scout.tests_tried import noted, with_working_tests
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Sandbox

_TEXT_AT_MOST = 400_000
_UNTOLD = ("notes", "by_unittest", "looked_at", "others", "second")  # of what was found, in the JSON
_NAMED = 5  # files that look like a benchmark, in a message


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
    """``top``: the folder of the repository.  ``found``: its commands.  ``profile``: where its time goes.
    ``seconds``: CPU time of one run of the benchmark; None if it failed.  ``editable``: the files that may be changed;
    None if they are not known."""

    top: Path
    found: Conventions
    profile: RepoProfile
    seconds: float | None = None
    editable: frozenset[str] | None = None

    def toml(self, repo: str = ".") -> str:
        """The text of ``problem.toml``; ``repo``: the repository, from the folder of that file."""
        return "\n".join(lines_of(self.found, repo)) + "\n"

    def as_json(self) -> str:
        """All of it for programs."""
        places = [
            {**asdict(one), "bound": one.bound, "editable": self._may_change(one.file)}
            for one in self.profile.functions
        ]
        found = {key: value for key, value in asdict(self.found).items() if key not in _UNTOLD}
        told = {"repository": str(self.top), **found, "notes": self.found.notes, "seconds": self.seconds,
                "profiler": self.profile.how, "elsewhere": self.profile.elsewhere, "outside": self.profile.outside,
                "no_profile": self.profile.why_not, "places": places,
                "problem_toml": self.toml()}  # fmt: skip
        return json.dumps(told)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        found = self.found
        yield f"repository  {self.top} ({found.ecosystem}, {found.language})"
        for key in ("setup", "build", "tests", "benchmark"):
            yield f"{key:<10}  {getattr(found, key) or 'none found'}"
        if self.seconds is not None:
            yield f"takes       {self.seconds:.3g} s of CPU time"
        yield f"edit        {', '.join(found.edit)}"
        if found.show:
            yield f"show        {', '.join(found.show)}"
        yield from (f"note        {note}" for note in found.notes)
        if self.profile.why_not:
            yield f"profile     none: {self.profile.why_not}"
            return
        yield f"profile     {self.profile.how}; {self.profile.counted}"
        if (outside := self.profile.outside) is not None:
            most = f": at most {1 / outside:.2f}x in all" if outside else ""
            yield f"outside     {outside:.1%} is neither in the files of edit nor in what they call{most}"
        for one in self.profile.functions:
            callers = f"  (called by {', '.join(one.callers)})" if one.callers else ""
            may_change = self._may_change(one.file)
            mark = "" if may_change else "  (not editable)"
            bound = f"at most {one.bound:5.2f}x  " if one.bound is not None and may_change else ""
            yield f"  {one.share:6.1%}  {bound}{one.file}:{one.line} {one.name}{callers}{mark}"

    def _may_change(self, path: str) -> bool:
        """Tests and the benchmark itself match ``edit`` and are not editable all the same."""
        return is_matched(path, self.found.edit) if self.editable is None else path in self.editable


async def scout(request: ScoutRequest, say: Callable[[str], None]) -> Scouted:
    """Scouts a repository.  InputError with the cure if it has no known build, no benchmark, or nothing to edit."""
    top = top_of(request.folder)
    commit = commit_of(top, "HEAD")
    found = _completed(_found(top, commit), request)
    if found.setup and not request.runs_setup:
        why = f"setup {found.setup!r} was not run; --run-setup runs it now, as you and with the network"
        return Scouted(top, _with_others(found), RepoProfile(why_not=why))
    ground = Ground(await Sandbox.open(), top, say)
    tried = await _tried(ground, _with_others(found), request.runs_setup)
    if tried.seconds is not None or found.second is None:
        return tried
    build, benchmark = found.second
    why = f"{tried.profile.why_not}; so the benchmark is {benchmark!r}"
    other = replace(noted(found, why), build=build, benchmark=benchmark)
    again = await _tried(ground, other, request.runs_setup)
    return tried if again.seconds is None else again


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
    stale = tuple(timed_by_itself(found.benchmark))
    given = {key: getattr(request, key) for key in ("build", "tests", "benchmark", "setup")}
    found = replace(found, **{key: value for key, value in given.items() if value is not None})
    if request.tests is not None:
        found = replace(found, by_unittest="")
    if request.edit:
        found = replace(found, edit=request.edit)
    if not found.benchmark:
        raise InputError(
            f"no benchmark was found by the conventions of {found.ecosystem} ({LOOKED_FOR[found.ecosystem]}); "
            f"{_looked_at(found)}give one with --benchmark CMD: a command that takes 0.1 to 10 s and prints its result"
        )
    if not found.edit:
        raise InputError(f"no source of {found.ecosystem} was found outside tests; give --edit PATTERN")
    notes = [] if found.tests else ["no tests were found: a patch is then judged by the benchmark's output alone"]
    if request.benchmark is not None:
        notes.extend(timed_by_itself(request.benchmark))
        found = replace(found, others=(), notes=tuple(one for one in found.notes if one not in stale))
    if request.benchmark is not None or request.build is not None:
        found = replace(found, second=None)
    return replace(found, notes=(*found.notes, *notes))


def _with_others(found: Conventions) -> Conventions:
    named = f"there are other benchmarks, to choose with --benchmark: {_listed(found.others)}"
    return noted(found, named) if found.others else found


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _looked_at(found: Conventions) -> str:
    """The files that may be benchmarks, in words; empty if there are none."""
    if not found.looked_at:
        return ""
    first = found.looked_at[0]
    compiled = f" (--build 'cc -O2 -g {first} ... -o bench' --benchmark ./bench)" if first.endswith(".c") else ""
    return f"{_listed(found.looked_at)} may be one, but nothing says how to start it{compiled}: "


async def _tried(ground: Ground, found: Conventions, runs_setup: bool) -> Scouted:
    """What was found, with tests and a benchmark that work in the sandbox, and the profile of the benchmark."""
    try:
        side = await ground.side(found)
    except InputError as error:
        return Scouted(ground.top, found, RepoProfile(why_not=str(error)))
    base, tried = side, found
    if found.tests:
        tried, side = await with_working_tests(ground, found, side, runs_setup)
    setup = found.setup if side is base else tried.setup  # one may be proposed only
    tried, ran = await with_working_benchmark(ground, tried, side)
    if (without := why_no_profile(tried, ran)) is not None:
        return Scouted(ground.top, tried, without)
    place = ground.place(replace(tried, setup=setup))
    ground.say("profiling the benchmark")
    async with build_lane():
        files = tracked(ground.top, place.problem.spec.repo_spec.commit)
        profile = await profiled(place, side, place.problem.program, files)
    editable = frozenset(place.problem.program.files)
    return Scouted(ground.top, of_imports(tried, profile, editable), profile, ran.cpu_s, editable)
