"""A value model in a search: what it expects is recorded, the search stays pure, the reranker keeps what it drew."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from maxcode.core.history import Reached
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.types import Action, Evaluation, Machine, Observation, Outcome, Program, State, Step
from maxcode.errors import InputError, ProviderError
from maxcode.observe import compose
from maxcode.policy.reranked import Reranked
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Proposed, Record, Settled, read_events
from maxcode.search import Beam, CudaLlm, Tree
from maxcode.search.methods import method, names, recipe
from maxcode.search.scene import Scene
from maxcode.search.value_guided import Guide, variants
from maxcode.testing import Scripted, Table, toy_problem

MACHINE = Machine("node", "CPU", 1, "Linux", {}, "none")


@dataclass(frozen=True)
class Digits:
    """Expects of a program the number that it is, modulo 10."""

    async def estimate(self, states: Sequence[State]) -> list[float]:
        return [float(int(state.program.text) % 10) for state in states]

    async def foresee(self, state: State, actions: Sequence[Action]) -> list[float]:
        return [float(int(action.program.text) % 10) if action.program else 99.0 for action in actions]


def number(text: str, draw: int) -> str:
    return str(draw % 1009)


def child(parent: State, at: tuple[int, int], reward: float, value: float | None) -> State:
    outcome = Outcome.CORRECT if reward > 0 else Outcome.WRONG
    step = Step(Action(Program({"toy.py": f"{at[0]}{at[1]}"})), Evaluation(outcome), reward, value=value)
    return State(parent.problem, parent, step, at)


@pytest.fixture
def reached() -> Reached:
    """Three candidates of the root: the fastest, one that promises more, one that is broken and promises most."""
    found = Reached(State(toy_problem()))
    found.extend([child(found.root, (1, at), r, v) for at, (r, v) in enumerate([(3.0, 1.0), (1.2, 2.0), (0.0, 3.5)])])
    return found


def test_cuda_llm_goes_on_from_the_highest_expected_class_working_or_not(reached: Reached) -> None:
    assert CudaLlm(width=3).select(reached) == [reached[1, 0]] * 3
    assert CudaLlm(width=3, by="value").select(reached) == [reached[1, 2]] * 3


def test_a_beam_by_value_keeps_the_states_of_which_most_is_expected(reached: Reached) -> None:
    assert Beam(width=2, children=3).select(reached) == [reached[1, 0]] * 3 + [reached[1, 1]] * 3
    assert Beam(width=2, children=3, by="value").select(reached) == [reached[1, 2]] * 3 + [reached[1, 1]] * 3


def test_a_tree_by_value_visits_what_is_promising(reached: Reached) -> None:
    reached.extend([child(reached.root, (2, at), 1.0, 0.5) for at in range(4)])  # enough to go below the root
    assert Tree(width=1, exploration=0.0).select(reached) == [reached[1, 0]]
    assert Tree(width=1, exploration=0.0, by="value").select(reached) == [reached[1, 2]]


@pytest.mark.parametrize("search", [CudaLlm(width=1, by="value"), Beam(1, 1, by="value"), Tree(width=1, by="value")])
def test_a_search_by_values_that_nobody_gave_says_so(search: Search) -> None:
    found = Reached(State(toy_problem()))
    found.extend([child(found.root, (1, 0), 2.0, None), child(found.root, (1, 1), 2.0, None)])
    with pytest.raises(InputError, match=r"state \(1, 0\) has no value; give a value model: --value FOLDER"):
        search.select(found)


# ---------------------------------------------------------------------------------------------------------- reranking


def observation(draw: int) -> Observation:
    return Observation((), State(toy_problem("0")), draw)


def test_a_reranker_proposes_what_most_is_foreseen_of_and_keeps_all_that_it_drew() -> None:
    policy = Reranked(Scripted(write=number), Digits(), factor=5, unranked=0.0)
    for draw in range(50):
        action = anyio.run(policy.propose, observation(draw))
        assert action == anyio.run(policy.propose, observation(draw)), "pure in the observation"
        assert len(action.drawn) == 5
        assert [one.kept for one in action.drawn].count(True) == 1
        kept = next(one for one in action.drawn if one.kept)
        assert kept.program == action.program
        assert kept.foreseen == max(one.foreseen for one in action.drawn)
        assert action.drawn[0].program == Program({"toy.py": str(draw % 1009)}), "the first draw is the policy's own"


def test_the_samples_of_a_reranker_are_drawn_at_once() -> None:
    begun, together = 0, anyio.Event()

    class Waiting:
        async def propose(self, given: Observation) -> Action:
            nonlocal begun
            begun += 1
            if begun == 4:
                together.set()
            await together.wait()
            return await Scripted(write=number).propose(given)

    async def at_once() -> Action:
        with anyio.fail_after(20):
            return await Reranked(Waiting(), Digits(), factor=4).propose(observation(3))

    assert len(anyio.run(at_once).drawn) == 4

    class Broken:
        async def propose(self, given: Observation) -> Action:
            raise ProviderError("no answer")

    with pytest.raises(ProviderError, match="no answer"):
        anyio.run(Reranked(Broken(), Digits(), factor=4).propose, observation(3))


def test_a_share_is_left_unranked_and_marked() -> None:
    policy = Reranked(Scripted(write=number), Digits(), factor=4, unranked=0.25)
    actions = [anyio.run(policy.propose, observation(draw)) for draw in range(400)]
    unranked = [action for action in actions if not action.ranked]
    assert 60 < len(unranked) < 140
    assert all(action.drawn[0].kept for action in unranked)
    plain = [anyio.run(Scripted(write=number).propose, observation(draw)).program for draw in range(400)]
    assert [a.program for a in actions if not a.ranked] == [
        p for p, a in zip(plain, actions, strict=True) if not a.ranked
    ]


def test_the_unranked_places_of_a_run_are_others_for_another_problem() -> None:
    policy = Reranked(Scripted(write=number), Digits(), factor=2, unranked=0.25)
    found = []
    for original in range(400):
        given = Observation((), State(toy_problem(str(original))), 7)
        found.append(anyio.run(policy.propose, given).ranked)
    assert 60 < found.count(False) < 140


def test_a_draw_that_cannot_be_read_is_proposed_only_when_all_are_so() -> None:
    @dataclass(frozen=True)
    class Mumbling:
        readable: bool

        async def propose(self, given: Observation) -> Action:
            readable = self.readable and given.draw == 7
            return Action(Program({"toy.py": "1"}) if readable else None, unread="mumble")

    for readable in (True, False):
        action = anyio.run(Reranked(Mumbling(readable), Digits(), 3, 0.0).propose, observation(7))
        assert (action.program is not None) is readable


@pytest.mark.parametrize(("factor", "unranked", "words"), [(1, 0.1, "--draw 2"), (4, 1.5, "--unranked")])
def test_a_reranker_that_cannot_work_is_refused(factor: int, unranked: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Reranked(Scripted(["1"]), Digits(), factor, unranked)


# ------------------------------------------------------------------------------------------------------------ methods


def test_both_readings_are_named_and_every_variant_can_be_made() -> None:
    scene = Scene(MACHINE, guide=Guide(Digits(), Digits(), draw=3))
    assert {"cuda-llm+maxcode+value", "beam+value", "tree+rerank+value", "elites+maxcode+rerank"} <= {
        *variants(names())
    }
    assert "elites+value" not in variants(names()), "it draws its parents, so there is nothing to expand by"
    for name in variants(names()):
        made = method(name, Scripted(["1"]), 9, scene)
        assert made.value == Digits()
        assert isinstance(getattr(made.policy, "policy", made.policy), Reranked) or ("+rerank" in name) == isinstance(
            made.policy, Reranked
        )
        assert recipe(name).parts == recipe(name.removesuffix("+value").removesuffix("+rerank")).parts


def test_a_guided_method_without_a_model_says_how_to_get_one() -> None:
    with pytest.raises(InputError, match=r"'beam\+value' needs a value model.*train to-go.*--value FOLDER"):
        method("beam+value", Scripted(["1"]), 9, Scene(MACHINE))
    with pytest.raises(InputError, match="unknown method 'beam\\+valeu'"):
        method("beam+valeu", Scripted(["1"]), 9, Scene(MACHINE))


def test_what_is_expected_of_every_state_and_of_every_draw_is_in_the_record(tmp_path: Path) -> None:
    policy = Reranked(Scripted(write=number), Digits(), factor=3)
    made = Method(policy, CudaLlm(width=3, depth=2, by="value"), compose(), value=Digits())
    table = Table(rule=lambda text: 1 + int(text) / 1000)
    with Record(tmp_path) as record:
        result = optimize(toy_problem(), made, table, Run(6, record=record))
    lines = list(read_events(tmp_path))
    values = [value for line in lines if isinstance(line, Settled) for value in line.values]
    assert values == [state.step.value for state in result.reached if state.step is not None]
    drawn = [one for line in lines if isinstance(line, Proposed) for one in line.action.drawn]
    assert len(drawn) == 18
    assert sum(one.kept for one in drawn) == 6
    level = [state for state in result.reached if state.id[0] == 1]
    best = max(level, key=lambda state: (state.step.value, state.reward) if state.step else (0.0, 0.0))
    assert {state.parent for state in result.reached if state.id[0] == 2} == {best}


@pytest.mark.heavy
def test_the_command_line_refuses_a_guided_method_without_a_model_and_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "1.in").write_text("")
    (tmp_path / "tests" / "1.out").write_text("")
    command = [sys.executable, "-m", "maxcode", "optimize", "slow.c", "--tests", "tests", "--method"]
    for more, words in (
        (["cuda-llm+value"], "give --value FOLDER"),
        (["cuda-llm", "--value", "tests"], "cannot read the value model"),
    ):
        done = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr
