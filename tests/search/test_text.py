"""The prompt of the generative model: whole where there is room, else a fair part of every section."""

from __future__ import annotations

import anyio
import pytest

from maxcode.core.types import Action, Observation, Program, State, Step
from maxcode.search.value import Situation, drawn, situation
from maxcode.search.value.text import GAP, cut, prompt, sections, shared
from maxcode.testing import Scripted, Table, toy_problem

NAMES = ("Original", "Program", "Change", "Feedback", "Critique")


def executed(before: str, after: str, critique: str = "slow in the loop") -> Situation:
    root = State(toy_problem(before))
    action = anyio.run(Scripted([after]).propose, Observation((), root, 0))
    evaluation = anyio.run(Table(rule=lambda text: 1.5).evaluate, root.problem, action)
    return situation(State(root.problem, root, Step(action, evaluation, 1.5, critique), (1, 0)))


def test_a_prompt_has_every_section_in_order_and_ends_where_the_label_begins() -> None:
    text = prompt(executed("a = 1\n", "a = 2\n"), 5)
    assert text.startswith(
        "Language: python. Depth: 1. Best speed-up so far: 1.50.\nOriginal:\na = 1\nProgram:\na = 2\n"
    )
    assert [text.index(f"\n{name}:\n") for name in NAMES] == sorted(text.index(f"\n{name}:\n") for name in NAMES)
    assert "\nChange:\n-a = 1\n+a = 2\nFeedback:\n=> correct" in text
    assert text.endswith("slow in the loop\nClass of the best speed-up to come, 0 to 4:")


def test_a_candidate_that_was_not_executed_says_so_and_a_text_that_is_no_text_is_readable() -> None:
    root = State(toy_problem("a = 1\n"))
    text = prompt(drawn(root, Action(Program({"toy.py": "a = '\udcff'\n"}))), 5)
    assert "\nFeedback:\nnot executed yet\nCritique:\n\nClass" in text
    assert "\nProgram:\na = '?'\n" in text


@pytest.mark.parametrize(
    ("needs", "weights", "room", "given"),
    [
        ([10, 10], [1, 1], 30, [10, 10]),
        ([100, 100], [1, 3], 40, [10, 30]),
        ([100, 5, 100], [1, 1, 1], 45, [20, 5, 20]),  # what a short one leaves goes to the others
        ([100, 12, 5], [1, 1, 1], 30, [13, 12, 5]),  # and again, when that fills the next
        ([3, 0], [1, 1], 0, [0, 0]),
        ([], [], 9, []),
    ],
)
def test_room_is_shared_by_weight_and_none_of_it_is_left_to_those_that_do_not_need_it(
    needs: list[int], weights: list[int], room: int, given: list[int]
) -> None:
    assert shared(needs, weights, room) == given


def test_what_is_cut_keeps_its_beginning_a_piece_of_its_middle_and_its_end() -> None:
    assert cut(range(5), 5, [-1]) == [0, 1, 2, 3, 4]
    assert cut(range(100), 11, [-1]) == [0, 1, 2, -1, 48, 49, 50, -1, 97, 98, 99]
    assert cut(range(100), 3, [-1]) == [0, 1, 2]
    assert cut(range(100), 0, [-1]) == []
    assert all(len(cut(range(100), most, [-1, -1])) <= most for most in range(100))


@pytest.mark.parametrize("context", [768, 4096])  # here in characters
def test_no_section_crowds_out_another_and_the_program_has_as_much_as_any(context: int) -> None:
    long = "\n".join(f"line_{n} = {n}" for n in range(5000))
    parts = sections(executed(long, long.replace("1", "7"), long), 5)
    leads = sum(len(part.lead) for part in parts)
    given = shared([len(part.text) for part in parts], [part.weight for part in parts], context - leads)
    kept = dict(zip(NAMES, given[1:-1], strict=True))
    assert leads + sum(given) <= context
    assert sum(given) >= context - leads - len(parts)
    assert kept["Program"] == max(kept.values()) > 0.25 * sum(given)
    assert kept["Original"] > 0.1 * sum(given)
    assert kept["Feedback"] == len(parts[4].text), "what is short is whole"
    assert kept["Critique"] > len(GAP)
