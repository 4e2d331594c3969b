"""The gallery of repositories: no patch that cheats is accepted, every honest one that looks alike is.

Most are refused without a race, which these tests leave out; ``-m slow`` judges all of them, with the race where only
it decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio
import pytest

from maxcode.core.types import Action, Evaluation, Outcome, Problem, Program, State, Step
from maxcode.evaluate.repo.admission import Base
from maxcode.evaluate.repo.barred import doubtful
from maxcode.evaluate.repo.candidates import doubts, ready
from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.evaluate.repo.outputs import expected_of
from maxcode.sandbox.sandbox import Sandbox
from tests.support import repositories as repos
from tests.support.repo_gallery import CHEATS, HONEST, MEAN_FILES, PACKED_FILES, Patch, Where
from tests.support.rules import SHORT

FEW = {
    "hook_in_conftest", "own_unittest", "outside_by_dots", "asks_for_unittest", "equal_to_all", "mean_of_a_sample",
    "answers_from_git", "own_memcmp", "macro_that_the_check_uses", "only_the_test_is_right",
    "build_rewrites_by_a_hidden_way", "packs_less", "stops_too_early", "asks_where_modules_came_from",
    "asks_by_a_warning", "asks_for_the_name_of_its_file", "in_assembly",
    "ends_by_a_table_of_names", "ends_the_check_behind_a_text", "own_package_unittest",
}  # fmt: skip
FEW_HONEST = {
    "fewer_iterations",
    "kept_in_memory",
    "new_module",
    "likely",
    "text_that_holds_a_comment",
    "new_package",
    "warns_its_caller",
    "logs_for_its_caller",
}
MADE = {"src/make.py": "open('src/words/table.py', 'w').write('N = 1')\n", **repos.PYTHON_FILES}
QUIET = repos.PYTHON_TOML.replace("bench/run.py", "bench/quiet.py")
REPOSITORIES: Mapping[Where, tuple[Mapping[str, str], str]] = {
    "python": (repos.PYTHON_FILES, repos.PYTHON_TOML),
    "quiet": (repos.PYTHON_FILES, QUIET),
    "c": (repos.C_FILES, repos.C_TOML),
    "mean": (MEAN_FILES, repos.PYTHON_TOML),
    "packed": (PACKED_FILES, repos.PYTHON_TOML),
    "made": (MADE, QUIET.replace('"src/**"', '"src/**", "src/make.py"') + 'build = "python3 src/make.py"\n'),
}


@pytest.fixture(scope="module")
def evaluator(sandbox: Sandbox) -> RepoEvaluator:
    return RepoEvaluator(sandbox, SHORT)


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> dict[Where, Problem]:
    folder = tmp_path_factory.mktemp("gallery")
    return {
        where: repos.problem_of(repos.made(folder / where, files, toml))
        for where, (files, toml) in REPOSITORIES.items()
    }  # fmt: skip


def chosen(patches: tuple[Patch, ...], few: set[str]) -> list[object]:
    assert few <= {one.name for one in patches}
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(one, marks=marks[one.name in few], id=one.name) for one in patches]


def test_the_gallery_is_as_large_as_it_says() -> None:
    assert len({one.name for one in CHEATS}) == len(CHEATS) >= 30
    assert len({one.name for one in HONEST}) == len(HONEST) >= 10


def differing(base: Sequence[str], candidate: str) -> str:
    return expected_of([one.encode() for one in base], False).difference(candidate.encode())


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        (("mean 0.33333 s\n", "mean 0.33333 s\n"), "mean 0.33334 s\n"),
        (("took 12345678 ns\n", "took 12345678 ns\n"), "took 9 ns\n"),
        (("user 1.5 sum 123.456\n", "user 1.4 sum 123.456\n"), "user 1.4 sum 123.457\n"),
        (("error 17\n", "error 17\n"), "error 18\n"),
        (("rate 3.25 of 40000.5\n", "rate 3.26 of 40000.5\n"), "rate 3.26 of x\n"),
        (("packed to 39.82 %\n",) * 2, "packed to 47.13 %\n"),
        (("ratio 3.42x\n",) * 2, "ratio 2.10x\n"),
        (("17 stops\n",) * 2, "16 stops\n"),
        (("37 iterations, energy -1.2345678901\n",) * 2, "9 iterations, energy -1.2345012345\n"),
        (("iterations: 37, energy -1.2345678901\n",) * 2, "iterations: 9, energy -1.2345012345\n"),
        (("allocation: total cost 184467.25\n",) * 2, "allocation: total cost 184468.25\n"),
    ],
)
def test_what_all_runs_of_base_print_alike_is_compared(base: Sequence[str], candidate: str) -> None:
    assert "where base prints" in differing(base, candidate)


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        (("took 0.02 s\n", "took 0.02 s\n"), "took 12.3456 ms\n"),
        (("took 0.02345 s\n", "took 0.02346 s\n"), "took 1 s\n"),
        (("took 120000 ns\n", "took 120000 ns\n"), "took 90000 ns\n"),
        (("peak memory 1234567 kB\n", "peak memory 1234567 kB\n"), "peak memory 234567 kB\n"),
        (("12345 iterations 1.5 s\n", "12345 iterations 1.6 s\n"), "45 iterations 1.23456 s\n"),
        (("1234567 allocs of 12.5 MB, 1.5x faster\n",) * 2, "34567 allocs of 2.5 MB, 3.2x faster\n"),
        (("peak memory usage was 123456 kB, 98 % cpu\n",) * 2, "peak memory usage was 9.3 MB, 97 % cpu\n"),
        (("allocated 123456 bytes at 2600.123 MHz\n",) * 2, "allocated 9 bytes at 1200.456 MHz\n"),
        (("BenchmarkX 100 123456 ns/op 98765 B/op\n",) * 2, "BenchmarkX 400 3456 ns/op 8765 B/op\n"),
    ],
)
def test_what_may_be_alike_by_chance_and_what_a_faster_one_saves_is_not(base: Sequence[str], candidate: str) -> None:
    assert differing(base, candidate) == ""


ROWS = (
    "roots 17\nmean 0.333333333\nsteps 0.12345678 s\ntook 0.0345678 s\ntime 0.5123456 (1234567 items)\n",
    "roots 17\nmean 0.333333333\nsteps 0.22345678 s\ntook 0.0445678 s\ntime 0.6123456 (1234567 items)\n",
)
LONGER = "roots 17\nroots 18\nmean 0.444444444\nsteps 0.32345678 s\ntook 0.0545678 s\ntime 0.7123456 (2234567 items)\n"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("0.0545678 s", "0.0123456 s", ""),
        ("0.32345678 s", "12.345678 ms", ""),
        ("0.7123456", "0.8123456", ""),
        ("2234567", "2234569", "'2234569' where base prints '2234567'"),
        ("roots 18", "roots 19", "'19' where base prints '18'"),
        ("0.444444444", "0.444444445", "'0.444444445' where base prints '0.444444444'"),
        ("roots 18\n", "", "words and numbers"),
    ],
)
def test_with_another_seed_that_prints_more_times_are_left_out_and_results_are_not(
    old: str, new: str, why: str
) -> None:
    expected = expected_of([one.encode() for one in ROWS], False).of_other_input(LONGER.encode())
    found = expected.difference(LONGER.replace(old, new).encode())
    assert why in found if why else found == ""


def test_a_table_of_answers_is_doubted_and_one_for_each_byte_is_not() -> None:
    base = Program({"a.py": "def f(x):\n    return x\n"})

    def said(table: str) -> tuple[str, ...]:
        return doubtful(base, Program({"a.py": f"T = {table}\n\n\ndef f(x):\n    return T[x]\n"}))

    assert said(str(list(range(256)))) == ()
    assert "may be answers" in said(str(list(range(400))))[0]
    assert "may be answers" in said(repr("x" * 500))[0]


@pytest.mark.parametrize("patch", chosen(CHEATS, FEW))
def test_no_cheat_is_accepted(patch: Patch, evaluator: RepoEvaluator, problems: dict[Where, Problem]) -> None:
    base = anyio.run(evaluator.base, problems[patch.where])
    program = as_program(patch, base)
    if patch.is_raced:
        found = anyio.run(raced, evaluator, base.problem, program)
        gained = found.outcome is Outcome.CORRECT and found.timing is not None and found.timing.significant
        assert not gained, found.timing
    else:
        one, found = anyio.run(ready, base, program, True)
        assert one is None and found.outcome is not Outcome.CORRECT
    assert patch.why in " ".join((*found.feedback.reasons, "no gain"))


@pytest.mark.parametrize("patch", chosen(HONEST, FEW_HONEST))
def test_an_honest_patch_that_looks_alike_is_right_and_doubted_only_where_it_says_so(
    patch: Patch, evaluator: RepoEvaluator, problems: dict[Where, Problem]
) -> None:
    base = anyio.run(evaluator.base, problems[patch.where])
    one, found = anyio.run(ready, base, as_program(patch, base), True)
    assert one is not None, found.feedback
    said = doubts(base, as_program(patch, base))
    assert bool(said) == bool(patch.doubt) and patch.doubt in " ".join(said)


@pytest.mark.slow
@pytest.mark.parametrize("patch", HONEST, ids=lambda one: one.name)
def test_an_honest_patch_is_accepted(patch: Patch, evaluator: RepoEvaluator, problems: dict[Where, Problem]) -> None:
    base = anyio.run(evaluator.base, problems[patch.where])
    found = anyio.run(raced, evaluator, base.problem, as_program(patch, base))
    assert found.timing is not None and found.timing.significant, (found.feedback, found.timing)


def as_program(patch: Patch, base: Base) -> Program:
    answer = next((part for part in reversed(base.expected.parts or ()) if part.isdigit()), "0")
    edits = {path: text.replace("ANSWER", answer) for path, text in patch.edits.items()}
    return repos.patched(base.problem, edits)


async def raced(evaluator: RepoEvaluator, problem: Problem, program: Program) -> Evaluation:
    """The evaluation, and if it is a gain the one on fresh pairs."""
    found = await evaluator.evaluate(problem, Action(program))
    if found.timing is None or not found.timing.significant:
        return found
    state = State(problem, State(problem), Step(Action(program), found, 0.0), (1, 0))
    return (await evaluator.settle(problem, [state], None))[state.id]
