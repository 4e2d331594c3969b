"""Staged Quality-Diversity: stages as data, promotion per problem, and an archive that knows how it was."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.code.techniques import cell, used
from maxcode.core.method import Method
from maxcode.core.stats import draw
from maxcode.core.types import Action, Observation, Problem, Program, ProgramSpec
from maxcode.errors import InputError
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.search import Elites
from maxcode.search.archive import Archive, Kept, open_to
from maxcode.search.elites import standing
from maxcode.search.stages import USUAL, Promotion, Stage, Stages, Standing, Visit, read_stages, stages_of
from maxcode.testing import Echo, Table

KERNEL = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2.0; }\n"
RESTRICT = KERNEL.replace("double *a", "double *restrict a")
SIMD = KERNEL.replace("{ for", "{\n#pragma omp simd\nfor")
TWO = Stages(
    (Stage("plain", frozenset()), Stage("hints", frozenset({"restrict", "simd"}))),
    Promotion(validity=0.6, patience=2, least=3),
)


def visits(*groups: tuple[float, ...], answers: int = 4, stage: int = 0) -> list[Visit]:
    return [Visit(stage, group, answers) for group in groups]


def test_a_problem_is_promoted_when_it_is_valid_and_its_best_has_not_moved() -> None:
    flat = visits((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    assert TWO.standing(flat[:2]).stage == 0, "fewer visits than the rule wants"
    assert TWO.standing(flat) == Standing(stage=1)


def test_a_best_that_still_rises_keeps_a_problem_where_it_is() -> None:
    rising = visits(*(((1.1**number),) * 3 for number in range(12)))
    found = TWO.standing(rising)
    assert (found.stage, found.idle) == (0, 0)


def test_invalid_answers_keep_a_problem_where_it_is() -> None:
    assert TWO.standing(visits(*[(1.0,)] * 20)).stage == 0


def test_nobody_is_promoted_beyond_the_last_stage() -> None:
    standing = Standing()
    for _ in range(50):
        standing = TWO.after(standing, Visit(standing.stage, (1.0,) * 4, 4))
    assert standing.stage == 1


def test_a_visit_to_a_stage_that_was_left_behind_changes_nothing() -> None:
    before = Standing(stage=1, visits=2, validity=0.9, best=3.0, idle=1)
    assert TWO.after(before, Visit(0, (9.0,) * 4, 4)) == before


@given(st.lists(st.lists(st.floats(0.1, 50.0), max_size=4), max_size=30))
def test_a_stage_never_goes_back_and_is_a_function_of_the_visits_alone(groups: list[list[float]]) -> None:
    stages, standing = [], Standing()
    for group in groups:
        standing = TWO.after(standing, Visit(standing.stage, tuple(group), 4))
        stages.append(standing.stage)
    assert stages == sorted(stages)
    assert 0.0 <= standing.validity <= 1.0


def test_stages_are_read_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "stages.toml"
    path.write_text(
        'rehearsal = 0.5\n[[stage]]\nname = "plain"\npermitted = []\n[[stage]]\nname = "all"\n'
        "[promotion]\nvalidity = 0.7\n"
    )
    found = read_stages(path)
    assert found.stages == (Stage("plain", frozenset()), Stage("all", None))
    assert (found.rehearsal, found.promotion) == (0.5, Promotion(validity=0.7))


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ({"stage": []}, "list of stages is empty"),
        ({"stage": [{"name": "x", "permitted": ["simt"]}]}, "did you mean 'simd'"),
        ({"stage": [{"name": "x", "permited": []}]}, "did you mean 'permitted'"),
        ({"stage": [{"name": 3}]}, "`stage.0..name`: expected a text"),
        ({"stage": [{"name": "x"}], "promotion": {"patient": 3}}, "did you mean 'patience'"),
    ],
)
def test_stages_that_cannot_be_used_are_refused_with_the_cure(table: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        stages_of(table, "stages.toml")


# ------------------------------------------------------------------------------------------------------------ archive


def kept(text: str, quality: float, made: int, *cell: str) -> Kept:
    return Kept(cell, Program({"k.c": text}), quality, made)


def test_an_archive_keeps_the_best_of_every_cell_and_knows_how_it_was() -> None:
    archive = Archive()
    assert archive.offer(kept("a", 2.0, 1, "simd"))
    assert not archive.offer(kept("b", 1.5, 2, "simd"))
    assert archive.offer(kept("c", 1.0, 3))
    assert archive.offer(kept("d", 4.0, 4, "simd"))
    assert {key: one.quality for key, one in archive.elites().items()} == {("simd",): 4.0, (): 1.0}
    assert {key: one.quality for key, one in archive.elites(before=4).items()} == {("simd",): 2.0, (): 1.0}
    assert archive.elites(before=1) == {}
    assert archive.best == kept("d", 4.0, 4, "simd")
    assert len(archive) == 4, "every kernel is kept, not the elites alone"
    again = Archive(list(archive))
    assert all(again.elites(before=time) == archive.elites(before=time) for time in range(6))


def test_a_leader_that_does_not_hold_when_measured_again_gives_its_cell_back() -> None:
    archive = Archive([kept("steady", 5.0, 1), kept("lucky", 9.0, 2)])
    assert not archive.offer(kept("lucky", 4.0, 3))
    assert archive.elites()[()].program.text == "steady"
    assert archive.elites(before=3)[()].program.text == "lucky", "that is what was known then"
    assert len(archive) == 2


def test_only_cells_within_what_is_permitted_are_drawn_from() -> None:
    problem = Problem("k", "program", "c", Program({"k.c": RESTRICT}), ProgramSpec(), permitted=frozenset({"simd"}))
    cells = {(): 1, ("simd", "vector~8"): 2, ("restrict",): 3, ("packing",): 4}
    assert open_to(problem, cells) == [1, 2, 3], "what the original uses is always permitted"


def test_draws_over_the_cells_are_even() -> None:
    counted = Counter(draw("seed", number) % 4 for number in range(4000))
    assert all(850 < count < 1150 for count in counted.values())


# ------------------------------------------------------------------------------------------------- stages in a search


class Permitted:
    """Proposes a hint exactly where it is permitted, else another constant; asserts what the prompt's problem says."""

    async def propose(self, observation: Observation) -> Action:
        problem = observation.state.problem
        assert problem.permitted is not None
        text = RESTRICT if "restrict" in problem.permitted else KERNEL.replace("2.0", f"{observation.draw % 50}.0")
        return Action(problem.program.with_text(text))


@pytest.mark.parametrize("critiques", ["all", "expanded"])
def test_a_search_in_stages_widens_what_is_permitted_and_draws_parents_within_it(
    critiques: Literal["all", "expanded"],
) -> None:
    problem = Problem("k", "program", "c", Program({"k.c": KERNEL}), ProgramSpec())
    search = Elites(width=4, stages=TWO)
    method = Method(Permitted(), search, compose(), Echo(), critiques=critiques)
    result = optimize(problem, method, Table(rule=lambda text: 3.0 if "restrict" in text else 2.0), Run(budget=32))
    by_batch = {state.id[0]: state.problem.permitted for state in result.reached if state.step is not None}
    assert any(state.step is not None and state.step.critique for state in result.reached)
    # three visits that do not rise end the first stage: batches 1 to 3, then all hints
    assert by_batch == {**dict.fromkeys(range(1, 4), frozenset()), **dict.fromkeys(range(4, 9), TWO[1].permitted)}
    assert standing(TWO, result.reached).stage == 1
    assert {used("c", state.program.text) for state in result.reached} == {frozenset(), frozenset({"restrict"})}
    assert search.select(result.reached) == search.select(result.reached)


def test_the_usual_stages_permit_no_threads_and_end_with_everything_on_one_core() -> None:
    assert all("threads" not in (stage.permitted or ()) for stage in USUAL.stages)
    assert cell("c", SIMD) == ("simd",)
    assert all(
        (stage.permitted or frozenset()) <= (USUAL[len(USUAL) - 1].permitted or frozenset()) for stage in USUAL.stages
    )


def test_a_stage_permits_nothing_that_the_problem_forbids() -> None:
    problem = Problem("p", "function", "c", Program({"k.c": KERNEL}), ProgramSpec(), permitted=frozenset({"restrict"}))
    assert Stage("hints", frozenset({"restrict", "simd"})).of(problem).permitted == frozenset({"restrict"})
    assert Stage("all").of(problem).permitted == frozenset({"restrict"})
    assert Stage("all").of(replace(problem, permitted=None)).permitted is None
