"""Any prompt is read: maxcode's own as the sections it was made of, others for the program they ask about."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxcode.code.source import fenced, fences, prose
from maxcode.core.types import Observation, Problem, Program, ProgramSpec, Section, State
from maxcode.llm.clients import Message
from maxcode.policy.llm import messages
from maxcode.policy.rules.rewriter import policy as rewriter
from maxcode.serve.answer import MODELS, NO_PROGRAM, answer
from maxcode.serve.prompt import TITLES, Asked, cut, read
from tests.support.serve_help import PRODUCT, READS, SORTS, WANTS_EDITS, WANTS_WHOLE, evolving

REWRITER, KERNELS = MODELS


def asked(*texts: str, system: str = "") -> Asked | None:
    return read((Message("system", system), *(Message("user", text) for text in texts)))


def own(program: str = READS, *sections: Section, draw: int = 11) -> Observation:
    told = (
        Section("Problem", "Count things.\nlanguage: cpp\nflags: -O3\nchecker: tokens"),
        Section("Program", fenced(program, "cpp")),
        *sections,
    )
    return Observation(told, State(Problem("p", "program", "cpp", Program({"slow.cpp": program}), ProgramSpec())), draw)


def test_an_own_prompt_is_cut_into_the_sections_it_was_made_of() -> None:
    critique = Section("Critique", "Step 1: line 8 reads slowly\n\n# not a title\n\nread `# Program` again")
    observation = own(READS, Section("Trajectory", "Step 1:\n- newline(): x\n=> correct, speedup 1.20x"), critique)
    user = messages(observation)[-1].text
    assert cut(user)[:-1] == observation.sections
    assert cut(user)[-1].title == "Task"


def test_a_title_inside_a_fence_belongs_to_the_program() -> None:
    program = "# Program\n# Task\nimport sys\nprint(sys.stdin.read())\n"
    told = f"# Problem\n\nlanguage: python\n\n# Program\n\n{fenced(program, 'python')}\n\n# Task\n\nGo."
    assert [section.title for section in cut(told)] == ["Problem", "Program", "Task"]
    found = asked(told)
    assert found is not None and found.text == program and found.language == "python"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(TITLES), st.text("ab `~#\n", max_size=40)),
        min_size=1,
        unique_by=lambda one: one[0],
    )
)
def test_sections_without_open_fences_survive_the_prompt(told: list[tuple[str, str]]) -> None:
    sections = tuple(Section(title, fenced(text, "x")) for title, text in told)
    assert cut("\n\n".join(f"# {one.title}\n\n{one.text}" for one in sections)) == sections


def test_the_served_rewriter_says_what_the_policy_says() -> None:
    for draw in range(12):
        observation = own(READS, Section("Critique", "Original program: line 8: input dominates"), draw=draw)
        action = rewriter.propose(observation)
        assert action.program is not None
        told = answer(REWRITER, messages(observation), draw, observation.temperature)
        assert fences(told)[-1].body == action.program.text
        assert prose(told) == prose(action.completion)


def test_own_prompts_that_ask_for_edits_get_edits() -> None:
    observation = own()
    told = answer(REWRITER, messages(observation, "edits"), 3, 0.6)
    assert "<<<<<<< SEARCH" in told and not fences(told)
    assert "<<<<<<< SEARCH" not in answer(REWRITER, messages(observation), 3, 0.6)


def test_earlier_answers_in_blocks_do_not_ask_for_blocks() -> None:
    observation = own(READS, Section("Trajectory", f"Step 1:\n{WANTS_EDITS}=> unbuilt: x"))
    assert "<<<<<<< SEARCH" not in answer(REWRITER, messages(observation), 3, 0.6)


def test_a_program_no_rule_knows_comes_back_whole_to_maxcode_even_where_edits_are_asked_for() -> None:
    problem = Section("Problem", "language: python")
    sections = (problem, Section("Program", fenced(SORTS, "python")))
    state = State(Problem("p", "program", "python", Program({"slow.py": SORTS}), ProgramSpec()))
    told = answer(REWRITER, messages(Observation(sections, state, 1), "edits"), 3, 0.6)
    assert "unchanged" in told and fences(told)[0].body == SORTS


@pytest.mark.parametrize("task", [WANTS_EDITS, WANTS_WHOLE])
@pytest.mark.parametrize(("program", "tag"), [(READS, "cpp"), (SORTS, "python"), (PRODUCT, "c")])
def test_the_current_program_of_an_evolving_prompt_is_found(program: str, tag: str, task: str) -> None:
    found = asked(evolving(program, tag, task))
    assert found is not None
    assert (found.text.strip(), found.language, found.tag) == (program.strip(), tag, tag)
    assert found.edits == (task == WANTS_EDITS)


def test_the_form_may_be_asked_for_by_the_system_message() -> None:
    found = asked(evolving(READS, "cpp", ""), system=WANTS_EDITS)
    assert found is not None and found.edits


@pytest.mark.parametrize(
    ("prompt", "program", "language"),
    [
        (f"Please make this faster:\n\n```\n{READS}```\n", READS, "cpp"),
        (f"```c++\n{READS}```\nCan you speed it up? It prints:\n```text\n1\n2\n```\n", READS, "cpp"),
        (f"Old attempt:\n```c\n{PRODUCT * 3}```\nHere is the current code:\n```c\n{PRODUCT}```\n", PRODUCT, "c"),
        (f"Make this faster.\n\n{READS}\nThanks a lot!\n", READS, "cpp"),
        (f"An open fence\n\n```cpp\n{READS}", READS, "cpp"),
        (f"~~~py\n{SORTS}~~~\n", SORTS, "python"),
        (f"Which is best?\n\n~~~\n{SORTS}~~~\n", SORTS, "python"),
    ],
)
def test_a_persons_prompt_is_understood(prompt: str, program: str, language: str) -> None:
    found = asked(prompt)
    assert found is not None
    assert (found.text.strip(), found.language) == (program.strip(), language)


def test_a_prompt_without_a_program_is_answered_in_words() -> None:
    for text in ("hello", "", "```json\n{}\n```", "```python\n# your program here\n```"):
        assert answer(REWRITER, (Message("user", text),), 1, 1.0) == NO_PROGRAM


def test_the_last_message_with_a_program_counts() -> None:
    found = asked(f"```cpp\n{READS}```", "again, faster please")
    assert found is not None and found.text == READS
    later = asked(f"```cpp\n{READS}```", f"```c\n{PRODUCT}```")
    assert later is not None and later.text == PRODUCT


def test_the_kind_of_problem_follows_from_a_main() -> None:
    for text, kind in ((READS, "program"), (PRODUCT, "function"), (SORTS, "program")):
        found = asked(f"# Current program\n```\n{text}```")
        assert found is not None
        assert found.observation(1, 1.0).state.problem.kind == kind


def test_evolve_markers_survive_with_all_that_stands_outside_them() -> None:
    head, tail = "// kept above\n// EVOLVE-BLOCK-START\n", "// EVOLVE-BLOCK-END\n// kept below\n"
    prompt = evolving(f"{head}{READS}{tail}", "cpp", WANTS_WHOLE)
    changed = 0
    for draw in range(20):
        body = fences(answer(REWRITER, (Message("user", prompt),), draw, 1.0))[0].body
        assert body.startswith(head) and body.rstrip().endswith(tail.strip())
        changed += body.strip() != f"{head}{READS}{tail}".strip()
    assert changed > 10


def test_a_python_program_comes_back_unchanged_and_the_answer_says_so() -> None:
    told = answer(REWRITER, (Message("user", evolving(SORTS, "python", WANTS_WHOLE)),), 1, 1.0)
    assert "unchanged" in told and fences(told)[0].tag == "python"
    assert fences(told)[0].body.strip() == SORTS.strip()


def test_the_kernel_model_transforms_a_kernel() -> None:
    told = {answer(KERNELS, (Message("user", f"```c\n{PRODUCT}```"),), draw, 1.0) for draw in range(6)}
    assert any(fences(one)[0].body != PRODUCT for one in told)


def test_a_critics_prompt_is_answered_with_its_json() -> None:
    told = json.loads(
        answer(REWRITER, (Message("user", "# Critique this step\n\n# Feedback\n\n=> unbuilt: x"),), 1, 1.0)
    )
    assert told["bottleneck"] == "build" and set(told) == {"diagnosis", "bottleneck", "line", "steps"}


def test_a_critic_that_is_asked_again_answers_with_its_json_again() -> None:
    asked_again = (
        Message("user", f"# Critique this step\n\n# New program\n\n{fenced(READS, 'cpp')}"),
        Message("assistant", "I cannot."),
        Message("user", "Your answer could not be used. Answer again, with one JSON object."),
    )
    assert "diagnosis" in json.loads(answer(REWRITER, asked_again, 1, 1.0))
