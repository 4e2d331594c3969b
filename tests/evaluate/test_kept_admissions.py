"""What an admission found out: a later command finds it again if nothing has changed, and only then."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.code.languages import language
from maxcode.core.confined import only_from
from maxcode.core.phases import BUILD, RUN, VERIFICATION, recording
from maxcode.core.types import Action, Case, HotFunction, Outcome, Problem, Program, ProgramSpec
from maxcode.errors import InputError
from maxcode.evaluate.harness import make_harness
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.ladder import kept_admissions
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.kept_admissions import NOT_KEPT, SYSTEM, KeptAdmissions, stamps
from maxcode.evaluate.ladder.kept_builds import VARIABLE
from maxcode.evaluate.ladder.original_runs import OriginalRuns, counted_in
from maxcode.evaluate.ladder.prepare import Admitted, Input, identity
from maxcode.evaluate.program import learned
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.evaluate.program.learned import MOST_S
from maxcode.evaluate.repo import commands, first_runs
from maxcode.evaluate.repo.admission import Base
from maxcode.evaluate.repo.candidates import ready
from maxcode.evaluate.repo.commands import Place
from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.evaluate.repo.first_runs import FirstRuns, parts
from maxcode.sandbox.jobs import Blob
from maxcode.sandbox.sandbox import Sandbox
from maxcode.sandbox.tiers import UNSAFE
from tests.support import repositories as repos
from tests.support.counting import FAST, SLOW
from tests.support.harmed_stores import HARMS, altered
from tests.support.rules import SHORT
from tests.support.small_gemm import GEMM, IKJ, small

FIRST = FirstRuns(b"tar", 1.0, 2.0, 3.0, {"passed": 1}, (b"sum 3\n",), (0.5,), (HotFunction("a.c", "f", 1, 0.9),), 7)
JOBS = (RUN, VERIFICATION, "generator", "filled memory")
KINDS = ("program", "function")
AGAIN = "base was built, tested and run again: "


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small tree in place of the system's, which a test may change."""
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/gcc").write_text("a compiler")
    monkeypatch.setattr(first_runs, "_SYSTEM", (str(tmp_path / "usr"),))
    return tmp_path / "usr"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def made(tmp_path: Path) -> Problem:
    return repos.problem_of(repos.made(tmp_path / "sums", repos.C_FILES, repos.C_TOML))


def admitted(sandbox: Sandbox, problem: Problem, folder: Path, reads: bool = True) -> tuple[Base, int]:
    """Base as another process admits it, and how many jobs that took in the sandbox."""
    evaluator = RepoEvaluator(sandbox, SHORT, kept=KeptAdmissions(folder, reads))
    with recording() as recorder:
        base = anyio.run(evaluator.base, problem)
    return base, sum(one.count for one in recorder.profile().phases if one.activity in (BUILD, RUN))


def test_a_run_that_goes_on_runs_nothing_of_base_again(
    sandbox: Sandbox, tmp_path: Path, system: Path, folder: Path
) -> None:
    problem = made(tmp_path)
    first, runs = admitted(sandbox, problem, folder, reads=False)
    assert runs > 8 and first.admitted.saved_s == 0
    again, runs = admitted(sandbox, problem, folder)
    assert runs == 0 and again.admitted.saved_s > 0
    (note,) = again.admitted.notes
    assert note.startswith("base was not built, tested and run again: nothing has changed since 20")
    assert again.side.base.sha256 == first.side.base.sha256 and again.side.base.sha256 not in ("", problem.id)
    for name in ("contents", "made", "counts", "expected", "files", "texts", "second", "canary", "modes", "trust"):
        assert getattr(again, name) == getattr(first, name), name
    assert again.admitted.timed[0].seconds == first.admitted.timed[0].seconds
    assert again.admitted.facts == first.admitted.facts
    anew, runs = admitted(sandbox, problem, folder, reads=False)
    assert runs > 8 and anew.admitted.notes == (), "a new run"


def test_a_candidate_is_judged_on_a_kept_base_as_on_a_new_one(
    sandbox: Sandbox, tmp_path: Path, system: Path, folder: Path
) -> None:
    problem = made(tmp_path)
    admitted(sandbox, problem, folder, reads=False)
    base, runs = admitted(sandbox, problem, folder)
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
    tmp_path: Path, folder: Path, harm: Callable[[Path], None]
) -> None:
    kept = KeptAdmissions(folder, reads=True)
    kept.keep("name", {"it": "1"}, FIRST)
    assert kept.find("name", {"it": "1"}, FirstRuns)[0] == FIRST
    (path,) = folder.iterdir()
    harm(path)
    assert kept.find("name", {"it": "1"}, FirstRuns) == (None, NOT_KEPT)


def test_another_compiler_and_a_tampered_store_mean_a_new_admission(
    sandbox: Sandbox, tmp_path: Path, system: Path, folder: Path
) -> None:
    problem, compiler = made(tmp_path), system / "bin/gcc"
    admitted(sandbox, problem, folder, reads=False)
    about = compiler.stat()
    compiler.write_text("A COMPILER")
    os.utime(compiler, ns=(about.st_atime_ns, about.st_mtime_ns))  # the kernel's time of change cannot be set back
    base, runs = admitted(sandbox, problem, folder)
    assert runs > 8 and base.admitted.notes[0].startswith(f"{AGAIN}{SYSTEM} has changed since 20")
    assert admitted(sandbox, problem, folder)[1] == 0, "the new one is kept"
    altered(next(folder.iterdir()))
    base, runs = admitted(sandbox, problem, folder)
    assert runs > 8 and base.admitted.notes == (f"{AGAIN}its admission is not kept here",)


def test_what_first_runs_rest_on_is_told_apart(
    sandbox: Sandbox, tmp_path: Path, system: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "is_covered", lambda folder: False)  # the folders of tests are below /tmp
    (tmp_path / "shown").mkdir()
    toml = repos.made(tmp_path / "sums", repos.C_FILES, f'{repos.C_TOML}show = ["{tmp_path / "shown"}"]\n')
    place, kept = Place(sandbox, repos.problem_of(toml)), KeptAdmissions(folder, reads=True)

    def changed(tree: bytes = b"tree") -> list[str]:
        now = kept.rests_on(sandbox, parts(place, Blob.of(tree)))
        return [name for name, one in now.items() if one != before[name]]

    before = kept.rests_on(sandbox, parts(place, Blob.of(b"tree")))
    assert changed() == []
    assert changed(b"another") == ["a file of base"]
    (tmp_path / "shown/tool").write_text("new")
    assert changed() == ["a file in a folder of `show`"]
    (system / "lib").mkdir()
    assert changed() == [SYSTEM, "a file in a folder of `show`"]
    monkeypatch.setattr("platform.release", lambda: "another")
    monkeypatch.setattr(kept_admissions, "version", lambda name: "another")
    assert changed()[:2] == ["maxcode", "the machine"]
    kept.keep("name", before, FIRST)
    why = kept.find("name", kept.rests_on(sandbox, parts(place, Blob.of(b"tree"))), FirstRuns)[1]
    assert why.startswith(f"maxcode, the machine, {SYSTEM}, a file in a folder of `show` have changed since 20")


def test_a_folder_that_must_not_be_shown_is_refused_before_anything_kept_is_used(
    sandbox: Sandbox, tmp_path: Path, folder: Path
) -> None:
    toml = repos.made(tmp_path / "sums", repos.C_FILES, f'{repos.C_TOML}show = ["/nowhere"]\n')
    kept = KeptAdmissions(folder, reads=True)
    kept.keep(identity(repos.problem_of(toml)), {}, FIRST)
    with pytest.raises(InputError, match="no folder here"):
        admitted(sandbox, repos.problem_of(toml), folder)


def test_another_problem_or_another_base_has_no_first_runs(tmp_path: Path, folder: Path) -> None:
    problem, kept = made(tmp_path), KeptAdmissions(folder, reads=True)
    kept.keep(identity(problem), {}, FIRST)
    toml = tmp_path / "sums/problem.toml"
    toml.write_text(repos.C_TOML.replace("{seed}", "{seed} 1"))
    assert kept.find(identity(repos.problem_of(toml)), {}, FirstRuns)[0] is None
    toml.write_text(repos.C_TOML)
    assert kept.find(identity(repos.problem_of(toml)), {}, FirstRuns)[0] == FIRST
    repos.write(tmp_path / "sums", {"README": "not a file to edit\n"})
    repos.git(tmp_path / "sums", "add", "README")
    repos.git(tmp_path / "sums", "commit", "-qm", "another base")
    assert kept.find(identity(repos.problem_of(toml)), {}, FirstRuns)[0] is None


@pytest.mark.parametrize("terms", [HarnessTerms(single=True), HarnessTerms(goes_on=True)])
def test_nothing_is_kept_where_the_user_asks_for_that_or_for_a_certificate(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terms: HarnessTerms
) -> None:
    own, problem = replace(sandbox, cache=tmp_path), counting(tmp_path)

    def notes(terms: HarnessTerms) -> tuple[str, ...]:
        harness = make_harness(problem, own, Builder(own, own.cache), terms)
        return anyio.run(harness.admit, problem).notes

    assert notes(replace(terms, keeps=False)) == () and not (tmp_path / "admissions").exists()
    monkeypatch.setenv(VARIABLE, "1")
    assert notes(terms) == () and not (tmp_path / "admissions").exists()
    monkeypatch.delenv(VARIABLE)
    assert notes(terms) == ()
    assert notes(terms)[0].startswith("the original was not run again for its admission: nothing has changed since 20")
    assert notes(HarnessTerms()) == notes(replace(terms, keeps=False)) == (), "a new run, and a certificate"
    monkeypatch.setenv(VARIABLE, "1")
    assert notes(terms) == ()


def test_without_a_sandbox_nothing_is_kept(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KeptAdmissions.below(sandbox, "admissions", reads=True).folder == sandbox.cache / "admissions"
    monkeypatch.setenv("MAXCODE_SANDBOX", UNSAFE)
    assert KeptAdmissions.below(anyio.run(Sandbox.open), "admissions", reads=True).folder is None


def test_a_folder_that_cannot_be_entered_or_leads_elsewhere_is_stamped_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop/back").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    found = list(stamps((str(tmp_path), str(tmp_path / "none"))))
    assert [line.split()[0].removeprefix(str(tmp_path)) for line in found] == [
        "/none",
        "",
        "/gone",
        "/loop",
        "/loop/back",
    ]
    assert found[0].endswith(" -")


# ------------------------------------------------------------------------------------------- programs and functions


def counting(folder: Path, text: str = SLOW, generator: str = "print(7)") -> Problem:
    """A program with a test with an expected output, one without, and a generated one."""
    (folder / "gen.py").write_text(generator)
    for name, n in (("1", 10), ("2", 160_000_000)):
        (folder / f"{name}.in").write_text(f"{n}\n")
    (folder / "1.out").write_text("45\n")
    cases = Case("1", str(folder / "1.in"), str(folder / "1.out")), Case("2", str(folder / "2.in"), None)
    spec = ProgramSpec(
        flags=language("c").default_flags, seen=cases[:1], held_out=cases[1:],
        generator=("python3", "gen.py", "{seed}"), generated=1, folder=str(folder),
    )  # fmt: skip
    return Problem("count", "program", "c", Program({"count.c": text}), spec)


def admits(
    sandbox: Sandbox, problem: Problem, kept: KeptAdmissions, single: bool = True
) -> tuple[Admitted, ProgramEvaluator, int]:
    """As another process admits it, and how many jobs that took in the sandbox.  ``single``: without prompts."""
    builder = Builder(sandbox, kept.folder or sandbox.cache)
    evaluator = ProgramEvaluator(sandbox, builder, SHORT, HarnessTerms(single=single), kept)
    runs = OriginalRuns()
    with recording() as recorder, counted_in(runs):
        found = anyio.run(evaluator.admit, problem)
    jobs = sum(one.count for one in recorder.profile().phases if one.activity in JOBS)
    assert bool(runs.planned) == (jobs > 0)
    return found, evaluator, jobs


def described(given: Input) -> tuple[object, ...]:
    looks = given.second_look is not None
    return given.name, given.stdin.sha256, given.expected, given.origin, given.seconds, given.workload, looks


@pytest.mark.parametrize("problem_in", [counting, lambda folder: small(GEMM)], ids=KINDS)
def test_a_kept_admission_of_a_program_runs_no_original_and_is_the_same(
    sandbox: Sandbox, tmp_path: Path, folder: Path, problem_in: Callable[[Path], Problem]
) -> None:
    problem, kept = problem_in(tmp_path), KeptAdmissions(folder, reads=True)
    first, _, jobs = admits(sandbox, problem, kept)
    assert jobs >= 3 and first.notes == () and first.saved_s == 0
    again, _, jobs = admits(sandbox, problem, kept)
    assert jobs == 0 and again.saved_s > 0
    (note,) = again.notes
    assert note.startswith("the original was not run again for its admission: nothing has changed since 20")
    for name in ("inputs", "timed"):
        assert list(map(described, getattr(again, name))) == list(map(described, getattr(first, name))), name
    for name in ("problem", "baseline", "dropped", "peak_gflops", "memory", "facts", "reads_unwritten"):
        assert getattr(again, name) == getattr(first, name), name
    anew, _, jobs = admits(sandbox, problem, replace(kept, reads=False))
    assert jobs >= 3 and anew.notes == (), "a new run"


@pytest.mark.parametrize(
    ("problem_in", "right", "wrong"),
    [
        (counting, FAST, FAST.replace("n - 1", "n - 2")),
        (lambda folder: small(GEMM), IKJ, IKJ.replace("p < k", "p < k - (m == 120)")),
    ],
)
def test_verdicts_on_a_kept_admission_are_those_on_a_new_one(
    sandbox: Sandbox, tmp_path: Path, folder: Path, problem_in: Callable[[Path], Problem], right: str, wrong: str
) -> None:
    problem, kept = problem_in(tmp_path), KeptAdmissions(folder, reads=True)
    for is_kept in (False, True):
        _, evaluator, jobs = admits(sandbox, problem, kept)
        assert (jobs == 0) == is_kept
        good, bad = (
            anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(text))) for text in (right, wrong)
        )
        assert good.outcome is Outcome.CORRECT and good.timing is not None and good.timing.verdict == "faster"
        assert bad.outcome is Outcome.WRONG


def test_a_single_candidate_takes_the_admission_of_a_search_and_a_search_none_of_a_single_one(
    sandbox: Sandbox, tmp_path: Path, folder: Path
) -> None:
    problem, kept = counting(tmp_path), KeptAdmissions(folder, reads=True)
    assert admits(sandbox, problem, kept)[2] >= 3
    (tmp_path / "2.in").write_text("160000001\n")
    searched, _, jobs = admits(sandbox, problem, kept, single=False)
    assert jobs >= 3 and searched.notes == () and searched.facts.timed and searched.baseline.profile
    again, evaluator, jobs = admits(sandbox, problem, kept)
    assert jobs == 0 and again.notes[0].startswith("the original was not run again")
    assert list(map(described, again.timed)) == list(map(described, searched.timed)), "not those of the first"
    found = anyio.run(evaluator.evaluate, problem, Action(problem.program.with_text(FAST)))
    assert found.timing is not None and found.timing.verdict == "faster"
    (folder / identity(problem)).unlink()
    anew, _, jobs = admits(sandbox, problem, kept)
    assert jobs >= 3 and "a test has changed since 20" in anew.notes[0]


def test_the_values_of_timed_passes_are_drawn_anew_on_a_kept_admission(
    sandbox: Sandbox, tmp_path: Path, folder: Path
) -> None:
    problem, kept = small(GEMM), KeptAdmissions(folder, reads=True)
    admits(sandbox, problem, kept)
    seen: list[str] = []
    for _ in range(2):
        admitted, _, jobs = admits(sandbox, problem, kept)
        assert jobs == 0
        with ExitStack() as own:
            given = anyio.run(admitted.source.for_pass, admitted.timed[0], own)
            assert given.expected is None
            seen += [admitted.timed[0].stdin.sha256, given.stdin.sha256]
    assert seen[0] == seen[2] and len({*seen}) == 3


@pytest.mark.parametrize("harm", [*HARMS, _gone])
def test_a_harmed_file_of_a_program_means_a_new_admission(
    sandbox: Sandbox, tmp_path: Path, folder: Path, harm: Callable[[Path], None]
) -> None:
    problem, kept = counting(tmp_path), KeptAdmissions(folder, reads=True)
    admits(sandbox, problem, kept)
    harm(next(path for path in folder.iterdir() if path.name.endswith("-single")))
    again, _, jobs = admits(sandbox, problem, kept)
    assert jobs >= 3 and again.notes == ()


def test_what_an_admission_of_a_program_rests_on_is_told_apart(
    sandbox: Sandbox, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptAdmissions(folder, reads=True)

    def changed(problem: Problem, why: str) -> None:
        again, _, jobs = admits(sandbox, problem, kept)
        assert jobs >= 3, "anew"
        (note,) = again.notes
        assert note.startswith(f"the original was run again for its admission: {why} has changed since 20")
        assert admits(sandbox, problem, kept)[2] == 0, "the new one is kept"

    admits(sandbox, counting(tmp_path), kept)
    assert admits(sandbox, counting(tmp_path), kept)[2] == 0, "files written again with the same content"
    changed(counting(tmp_path, generator="print(8)"), "a file of the generator or the checker")
    problem = counting(tmp_path, generator="print(8)")
    (tmp_path / "2.in").write_text("160000001\n")
    changed(problem, "a test")
    monkeypatch.setattr(kept_admissions, "version", lambda name: "another")
    changed(problem, "maxcode")
    monkeypatch.setattr("platform.release", lambda: "another")
    changed(problem, "the machine")
    monkeypatch.setattr(learned, "libraries", lambda: ["another"])
    changed(problem, SYSTEM)
    monkeypatch.setattr(learned, "tools_and_system", lambda compiler: ["another"])
    changed(problem, SYSTEM)
    assert admits(sandbox, replace(problem, goal="wall"), kept)[2] >= 3, "another problem"
    assert admits(sandbox, counting(tmp_path, SLOW + "\n"), kept)[2] >= 3, "another original"


def test_an_admission_is_used_for_a_day(sandbox: Sandbox, tmp_path: Path, folder: Path) -> None:
    kept = KeptAdmissions(folder, True, MOST_S)
    kept.keep("name", {}, FIRST)
    assert kept.find("name", {}, FirstRuns)[0] == FIRST
    assert replace(kept, most_s=0.0).find("name", {}, FirstRuns) == (None, NOT_KEPT)
    with pytest.MonkeyPatch.context() as patched:
        later = time.time() + MOST_S + 1
        patched.setattr("time.time", lambda: later)
        assert kept.find("name", {}, FirstRuns) == (None, NOT_KEPT)
        patched.setattr("time.time", lambda: later - 2 * MOST_S)
        assert kept.find("name", {}, FirstRuns) == (None, NOT_KEPT), "a clock that was set back"


@pytest.mark.parametrize("expected", ["46\n", "45\n"])
def test_an_admission_that_dropped_a_test_or_has_nothing_to_time_is_not_kept(
    sandbox: Sandbox, tmp_path: Path, folder: Path, expected: str
) -> None:
    problem, kept = counting(tmp_path), KeptAdmissions(folder, reads=True)
    (tmp_path / "1.out").write_text(expected)
    (tmp_path / "2.in").write_text("160000000\n" if expected == "46\n" else "20\n")
    spec = replace(problem.spec, made=0, generator=(), generated=0)
    found, _, _ = admits(sandbox, replace(problem, spec=spec), kept)
    assert bool(found.dropped) == bool(found.timed) == (expected == "46\n")
    assert not list(folder.glob("*-single"))


def test_what_is_not_kept_is_not_copied_and_where_nothing_is_kept_no_system_is_looked_at(
    sandbox: Sandbox, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned._Asked, "of", lambda given: pytest.fail("an input was copied"))
    monkeypatch.setattr(kept_admissions, "FILE_AT_MOST", 10)
    found, _, _ = admits(sandbox, counting(tmp_path), KeptAdmissions(folder, reads=True))
    assert found.timed and not list(folder.glob("*-single"))
    monkeypatch.setattr(learned, "tools_and_system", lambda compiler: pytest.fail("the system was looked at"))
    assert admits(sandbox, counting(tmp_path), KeptAdmissions())[0].timed


def test_a_file_outside_the_folders_of_a_client_is_refused_before_anything_kept_is_used(
    sandbox: Sandbox, tmp_path: Path, folder: Path
) -> None:
    problem, kept = counting(tmp_path), KeptAdmissions(folder, reads=True)
    admits(sandbox, problem, kept)
    (tmp_path / "root").mkdir()
    with only_from([tmp_path / "root"]), pytest.raises(InputError, match="outside"):
        admits(sandbox, problem, kept)
