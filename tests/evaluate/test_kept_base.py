"""The first runs of a repository's base: a run that goes on finds them again if nothing has changed, and only then."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from maxcode.core.phases import BUILD, RUN, recording
from maxcode.core.types import HotFunction, Outcome, Problem
from maxcode.errors import InputError
from maxcode.evaluate.ladder.kept_builds import VARIABLE
from maxcode.evaluate.repo import commands, kept_base
from maxcode.evaluate.repo.admission import Base
from maxcode.evaluate.repo.candidates import ready
from maxcode.evaluate.repo.commands import Place
from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.evaluate.repo.kept_base import FOLDER, FirstRuns, KeptBases
from maxcode.sandbox.jobs import Blob
from maxcode.sandbox.sandbox import Sandbox
from tests.support import repositories as repos
from tests.support.harmed_stores import HARMS, altered
from tests.support.rules import SHORT

SYSTEM = "a compiler or another file of the system"
FIRST = FirstRuns(b"tar", 1.0, 2.0, {"passed": 1}, (b"sum 3\n",), (0.5,), (HotFunction("a.c", "f", 1, 0.9),), 7)
AGAIN = "base was built, tested and run again: "


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small tree in place of the system's, which a test may change."""
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/gcc").write_text("a compiler")
    monkeypatch.setattr(kept_base, "_SYSTEM", (str(tmp_path / "usr"),))
    return tmp_path / "usr"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def made(tmp_path: Path) -> Problem:
    return repos.problem_of(repos.made(tmp_path / "sums", repos.C_FILES, repos.C_TOML))


def admitted(sandbox: Sandbox, problem: Problem, cache: Path, goes_on: bool = True) -> tuple[Base, int]:
    """Base as another process admits it, and how many jobs that took in the sandbox."""
    evaluator = RepoEvaluator(sandbox, SHORT, kept=KeptBases.below(cache, keeps=True, goes_on=goes_on))
    with recording() as recorder:
        base = anyio.run(evaluator.base, problem)
    return base, sum(one.count for one in recorder.profile().phases if one.activity in (BUILD, RUN))


def test_a_run_that_goes_on_runs_nothing_of_base_again(
    sandbox: Sandbox, tmp_path: Path, system: Path, cache: Path
) -> None:
    problem = made(tmp_path)
    first, runs = admitted(sandbox, problem, cache, goes_on=False)
    assert runs > 8 and first.admitted.saved_s == 0
    again, runs = admitted(sandbox, problem, cache)
    assert runs == 0 and again.admitted.saved_s > 0
    (note,) = again.admitted.notes
    assert note.startswith("base was not built, tested and run again: nothing has changed since 20")
    assert again.side.base.sha256 == first.side.base.sha256 and again.side.base.sha256 not in ("", problem.id)
    for name in ("contents", "made", "counts", "expected", "files", "texts", "second", "canary", "modes", "trust"):
        assert getattr(again, name) == getattr(first, name), name
    assert again.admitted.timed[0].seconds == first.admitted.timed[0].seconds
    assert again.admitted.facts == first.admitted.facts
    anew, runs = admitted(sandbox, problem, cache, goes_on=False)
    assert runs > 8 and anew.admitted.notes == (), "a new run"


def test_a_candidate_is_judged_on_a_kept_base_as_on_a_new_one(
    sandbox: Sandbox, tmp_path: Path, system: Path, cache: Path
) -> None:
    problem = made(tmp_path)
    admitted(sandbox, problem, cache, goes_on=False)
    base, runs = admitted(sandbox, problem, cache)
    assert runs == 0
    for text, outcome in (
        (repos.C_FAST, Outcome.CORRECT),
        (repos.C_FAST.replace("sum * sum", "sum"), Outcome.WRONG),
        (repos.C_FAST.replace("return", "retrun"), Outcome.UNBUILT),
    ):
        found = anyio.run(ready, base, repos.patched(problem, {"src/sums.c": text}))[1]
        assert found.outcome is outcome, found.feedback


def _gone(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("harm", [*HARMS, _gone])
def test_a_store_that_may_be_somebody_elses_or_is_not_whole_is_not_used(
    tmp_path: Path, cache: Path, harm: Callable[[Path], None]
) -> None:
    problem, kept = made(tmp_path), KeptBases.below(cache, keeps=True, goes_on=True)
    kept.keep(problem, {"it": "1"}, FIRST)
    assert kept.find(problem, {"it": "1"})[0] == FIRST
    (path,) = (cache / FOLDER).iterdir()
    harm(path)
    assert kept.find(problem, {"it": "1"}) == (None, (f"{AGAIN}its admission is not kept here",))


def test_another_compiler_and_a_tampered_store_mean_a_new_admission(
    sandbox: Sandbox, tmp_path: Path, system: Path, cache: Path
) -> None:
    problem, compiler = made(tmp_path), system / "bin/gcc"
    admitted(sandbox, problem, cache, goes_on=False)
    about = compiler.stat()
    compiler.write_text("A COMPILER")
    os.utime(compiler, ns=(about.st_atime_ns, about.st_mtime_ns))  # the kernel's time of change cannot be set back
    base, runs = admitted(sandbox, problem, cache)
    assert runs > 8 and base.admitted.notes[0].startswith(f"{AGAIN}{SYSTEM} has changed since 20")
    assert admitted(sandbox, problem, cache)[1] == 0, "the new one is kept"
    altered(next((cache / FOLDER).iterdir()))
    base, runs = admitted(sandbox, problem, cache)
    assert runs > 8 and base.admitted.notes == (f"{AGAIN}its admission is not kept here",)


def test_what_first_runs_rest_on_is_told_apart(
    sandbox: Sandbox, tmp_path: Path, system: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_OWN", ())  # the folders of tests are below /tmp
    (tmp_path / "shown").mkdir()
    toml = repos.made(tmp_path / "sums", repos.C_FILES, f'{repos.C_TOML}show = ["{tmp_path / "shown"}"]\n')
    place, kept = Place(sandbox, repos.problem_of(toml)), KeptBases.below(cache, keeps=True, goes_on=True)

    def changed(tree: bytes = b"tree") -> list[str]:
        now = kept.rests_on(place, Blob.of(tree))
        return [name for name, one in now.items() if one != before[name]]

    before = kept.rests_on(place, Blob.of(b"tree"))
    assert changed() == []
    assert changed(b"another") == ["the files after its set-up"]
    (tmp_path / "shown/tool").write_text("new")
    assert changed() == ["a file in a folder of `show`"]
    (system / "lib").mkdir()
    assert changed() == [SYSTEM, "a file in a folder of `show`"]
    monkeypatch.setattr("platform.release", lambda: "another")
    monkeypatch.setattr(kept_base, "version", lambda name: "another")
    assert changed()[:2] == ["maxcode", "the machine"]
    kept.keep(place.problem, before, FIRST)
    why = kept.find(place.problem, kept.rests_on(place, Blob.of(b"tree")))[1][0]
    assert why.startswith(f"{AGAIN}maxcode, the machine, {SYSTEM}, a file in a folder of `show` has changed since 20")


def test_a_folder_that_must_not_be_shown_is_refused_before_anything_kept_is_used(
    sandbox: Sandbox, tmp_path: Path, cache: Path
) -> None:
    toml = repos.made(tmp_path / "sums", repos.C_FILES, f'{repos.C_TOML}show = ["/nowhere"]\n')
    kept = KeptBases.below(cache, keeps=True, goes_on=True)
    kept.keep(repos.problem_of(toml), {}, FIRST)
    with pytest.raises(InputError, match="no folder here"):
        admitted(sandbox, repos.problem_of(toml), cache)


def test_another_problem_or_another_base_has_no_first_runs(tmp_path: Path, cache: Path) -> None:
    problem, kept = made(tmp_path), KeptBases.below(cache, keeps=True, goes_on=True)
    kept.keep(problem, {}, FIRST)
    toml = tmp_path / "sums/problem.toml"
    toml.write_text(repos.C_TOML.replace("{seed}", "{seed} 1"))
    assert kept.find(repos.problem_of(toml), {})[0] is None
    toml.write_text(repos.C_TOML)
    assert kept.find(repos.problem_of(toml), {})[0] == FIRST
    repos.write(tmp_path / "sums", {"README": "not a file to edit\n"})
    repos.git(tmp_path / "sums", "add", "README")
    repos.git(tmp_path / "sums", "commit", "-qm", "another base")
    assert kept.find(repos.problem_of(toml), {})[0] is None


def test_nothing_is_kept_where_the_user_asks_for_that(
    sandbox: Sandbox, tmp_path: Path, system: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    problem = made(tmp_path)
    admitted(sandbox, problem, cache)
    base, runs = admitted(sandbox, problem, cache)
    assert runs > 8 and base.admitted.notes == () and not (cache / FOLDER).exists()


def test_a_folder_that_cannot_be_entered_or_leads_elsewhere_is_stamped_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop/back").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    found = list(kept_base._stamps((str(tmp_path), str(tmp_path / "none"))))
    assert [line.split()[0].removeprefix(str(tmp_path)) for line in found] == [
        "/none",
        "",
        "/gone",
        "/loop",
        "/loop/back",
    ]
    assert found[0].endswith(" -")
