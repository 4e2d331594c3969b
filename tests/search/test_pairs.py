"""Recorded runs become pairs: the label is what a path had banked or still came to."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.core.method import Method
from maxcode.core.reward import banked, max_return, reward_to_go
from maxcode.core.types import Action, Evaluation, LoopBody, MachineCode, Outcome, Problem, State, StateId
from maxcode.errors import InputError, RecordError
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import EVENTS, HEADER, Record, check_header
from maxcode.run.report.run_view import read_run
from maxcode.search import Refine
from maxcode.testing import Scripted, Table, exact_timing, toy_problem
from maxcode.train.to_go.pairs import Pair, pairs_of, read_pairs, run_folders
from tests.support.value_help import pairs_in, run, several


def chain(folder: Path, rewards: list[float]) -> Path:
    """A run of one path with these rewards."""
    check_header(folder, {"problem": "chain", "language": "python", "method": "refine"}, frozenset())
    (folder / "original").mkdir()
    (folder / "original" / "toy.py").write_text("0")
    table = Table(rule=lambda text: rewards[int(text) - 1] or None)
    method = Method(Scripted(write=lambda text, draw: str(int(text) + 1)), Refine(depth=len(rewards)), compose())
    with Record(folder) as record:
        optimize(toy_problem("0"), method, table, Run(len(rewards), record=record))
    return folder


def test_every_prefix_is_labelled_with_the_best_banked_or_still_to_come(tmp_path: Path) -> None:
    pairs = pairs_in(chain(tmp_path, [0.0, 1.2, 3.0, 0.5]))
    assert [pair.reward for pair in pairs] == [0.0, 1.2, 3.0, 0.5]
    assert [pair.target for pair in pairs] == [3.0, 3.0, 3.0, 3.0]
    assert [pair.situation.u for pair in pairs] == [1.0, 1.2, 3.0, 3.0]
    assert [pair.situation.u_before for pair in pairs] == [1.0, 1.0, 1.2, 3.0]
    assert [pair.below for pair in pairs] == [3, 2, 1, 0]
    assert pairs_in(chain(tmp_path / "falling", [2.0, 1.5]))[1].target == 2.0, "what is banked counts"


@given(
    rewards=st.lists(st.floats(0, 9).map(lambda one: round(one, 3)), min_size=1, max_size=5),
    gamma=st.sampled_from([1.0, 0.9, 0.5]),
)
def test_labels_are_the_arithmetic_of_the_rewards_page(
    tmp_path_factory: pytest.TempPathFactory, rewards: list[float], gamma: float
) -> None:
    pairs = pairs_in(chain(tmp_path_factory.mktemp("chain"), rewards), gamma)
    to_go = [*reward_to_go(rewards, gamma), 0.0]
    steps = [pair.situation.step for pair in pairs]
    for at, pair in enumerate(pairs):
        u = banked([step for step in steps[: at + 1] if step is not None], gamma)
        assert pair.situation.u == pytest.approx(gamma ** (at + 1) * u)
        assert pair.target == pytest.approx(gamma ** (at + 1) * max(u, to_go[at + 1]))
        assert pair.target == pytest.approx(max(1.0, max_return(rewards, gamma))), "of a single path, at every depth"


def test_a_state_on_several_paths_is_one_pair_with_the_best_of_them(tmp_path: Path) -> None:
    run(tmp_path, "a", "cuda-llm")
    view = read_run(tmp_path)
    by_id = {pair.at: pair for pair in pairs_of(view, "max", 1.0)}
    assert len(by_id) == 24
    opened = [state for state in view.reached if state.parent is not None and view.reached.children(state)]
    assert opened
    for state in opened:
        below = [by_id[child.id].target for child in view.reached.children(state)]
        assert by_id[state.id].target == max(by_id[state.id].situation.u, *below)


def test_the_mean_target_is_that_of_a_state_and_all_below_it(tmp_path: Path) -> None:
    chain(tmp_path, [0.0, 1.2, 3.0])
    found = [pair.target for pair in pairs_of(read_run(tmp_path), "mean", 1.0)]
    assert found == pytest.approx([1.4, 2.1, 3.0])


def test_before_execution_nothing_is_known_of_the_outcome(tmp_path: Path) -> None:
    for pair in pairs_in(chain(tmp_path, [0.0, 1.2, 3.0])):
        unseen = pair.situation.unseen()
        assert (unseen.reading, unseen.step, unseen.u) == ("before", None, pair.situation.u_before)
        assert unseen.program == pair.situation.program


def test_what_gains_nothing_is_worth_no_more_the_deeper_it_is(tmp_path: Path) -> None:
    assert [pair.target for pair in pairs_in(chain(tmp_path, [0.0, 0.5, 1.0]), 0.9)] == pytest.approx([1.0] * 3)


def marks(pairs: list[Pair], name: str) -> set[bool]:
    return {pair.guided if name == "guided" else pair.off_policy for pair in pairs}


def test_guided_and_off_policy_rollouts_are_marked(tmp_path: Path) -> None:
    run(tmp_path / "usual", "a", "refine")
    run(tmp_path / "usual2", "b", "refine")
    run(tmp_path / "guided", "a", "cuda-llm+value")
    run(tmp_path / "other", "a", "refine", policy="llm:some-model")
    run(tmp_path / "kernels", "k", "refine", policy="kernels", suite="polybench")
    pairs = read_pairs(run_folders([tmp_path]))
    names = ("usual", "guided", "other", "kernels")
    of = {name: [pair for pair in pairs if Path(pair.run).name == name] for name in names}
    assert (marks(of["usual"], "guided"), marks(of["usual"], "off")) == ({False}, {False})
    assert (marks(of["guided"], "guided"), marks(of["guided"], "off")) == ({True}, {False})
    assert (marks(of["other"], "guided"), marks(of["other"], "off")) == ({False}, {True})
    assert marks(of["kernels"], "off") == {False}, "another suite has another usual policy"


def test_machine_code_comes_from_the_record(tmp_path: Path) -> None:
    original, made = MachineCode(9, 1), MachineCode(40, 2, (LoopBody(1, 9, 16, 4, 2, 1, 3, 1, 0, 0, 0, 0, 8.0),))

    class Building:
        table = Table(rule=float)

        async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
            return replace(await self.table.evaluate(problem, action, incumbent), machine_code=made)

    code = msgspec.to_builtins(original)
    check_header(tmp_path, {"problem": "a", "language": "python", "machine_code": code}, frozenset())
    (tmp_path / "original").mkdir()
    (tmp_path / "original" / "toy.py").write_text("0")
    method = Method(Scripted(write=lambda text, draw: str(int(text) + 1)), Refine(depth=2), compose())
    with Record(tmp_path) as record:
        optimize(toy_problem("0"), method, Building(), Run(2, record=record))
    codes = [(one.original_code, one.parent_code, one.code) for one in (p.situation for p in pairs_in(tmp_path))]
    assert codes == [(original, original, made), (original, made, made)]
    header = (tmp_path / HEADER).read_text()
    (tmp_path / HEADER).write_text(header.replace("instructions = 9", 'instructions = "nine"'))
    with pytest.raises(RecordError, match="machine_code"):
        pairs_in(tmp_path)


def test_an_unfinished_batch_and_a_torn_line_give_no_pairs(tmp_path: Path) -> None:
    run(tmp_path, "a", "cuda-llm")
    whole = pairs_in(tmp_path)
    lines = (tmp_path / EVENTS).read_bytes().split(b"\n")
    (tmp_path / EVENTS).write_bytes(b"\n".join(lines[: len(lines) // 2]) + b'\n{"part":')
    torn = pairs_in(tmp_path)
    assert 0 < len(torn) < len(whole)
    assert [pair.at for pair in torn] == [pair.at for pair in whole][: len(torn)]


def test_a_folder_without_runs_is_refused_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run folder at or below .* --from"):
        run_folders([tmp_path])
    several(tmp_path / "deep" / "er", ["a"])
    assert len(run_folders([tmp_path, tmp_path / "deep"])) == 2, "a folder that is named twice counts once"
    shutil.copytree(tmp_path / "deep", tmp_path / "copied")
    assert len(run_folders([tmp_path])) == 2, "and so does a copy"


class Doubts:
    """A referee that confirms one challenger of the first batch, and refutes it at the end of the second."""

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        if incumbent is None:
            return {challengers[0].id: Evaluation(Outcome.CORRECT, timing=exact_timing(2.5))}
        return {incumbent.id: Evaluation(Outcome.WRONG)}


def test_a_state_is_seen_as_it_was_before_the_referee_spoke_and_labelled_as_it_is_known_in_the_end(
    tmp_path: Path,
) -> None:
    class Racing:
        async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
            assert action.program is not None
            timing = replace(exact_timing(float(action.program.text)), confirmed=False)
            return Evaluation(Outcome.CORRECT, timing=timing)

    check_header(tmp_path, {"problem": "doubts", "language": "python", "method": "refine"}, frozenset())
    (tmp_path / "original").mkdir()
    (tmp_path / "original" / "toy.py").write_text("1")
    policy = Scripted(write=lambda text, draw: str(int(text) + 2))
    with Record(tmp_path) as record:
        method = Method(policy, Refine(depth=2), compose())
        optimize(toy_problem("1"), method, Racing(), Run(2, record=record), Doubts())
    first, second = pairs_in(tmp_path)
    assert [one.reward for one in (first, second)] == [0.0, 5.0], "in the end"
    assert first.situation.step is not None and first.situation.step.reward == 3.0, "when it was asked about"
    assert second.situation.previous is not None and second.situation.previous.reward == 2.5, "when it was proposed"
    assert (second.situation.u_before, second.situation.u) == (2.5, 5.0)
