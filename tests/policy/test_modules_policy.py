"""The policy for modules reads the sections of its observation, and nothing but them and the draw."""

from __future__ import annotations

import ast
import re

import anyio
import pytest

from maxcode.code.source import fences
from maxcode.core.history import Reached
from maxcode.core.types import Action, Evaluation, Hotspot, Observation, Outcome, Problem, Section, State
from maxcode.observe import compose, profile, program, statement
from maxcode.policy.llm import messages
from maxcode.policy.rules.modules import Modules
from maxcode.policy.rules.modules.policy import HEADER
from maxcode.policy.rules.modules.start import started
from maxcode.run.names import POLICIES, USUAL
from tests.support.module_help import example, problem_of, reference

LABEL = re.compile(r"^- (\w+\([^()]*\)): ", re.MULTILINE)
TEXT = example("fused_gelu")


def observed(*sections: Section, problem: Problem | None = None, draw: int = 1) -> Observation:
    state = State(problem or problem_of(TEXT))
    told = compose(statement(), program())(state, Reached(state))
    return Observation((*told, *sections), state, draw)


def propose(observation: Observation) -> Action:
    return anyio.run(Modules().propose, observation)


def test_the_policy_is_the_usual_one_for_modules() -> None:
    assert USUAL["module"].policy == "modules" and "no torch.compile" in POLICIES["modules"][1]


def test_the_same_draw_gives_the_same_proposal_and_others_give_others() -> None:
    texts = {draw: propose(observed(draw=draw)).completion for draw in range(12)}
    assert all(propose(observed(draw=draw)).completion == text for draw, text in texts.items())
    assert len(set(texts.values())) > 1


def test_a_proposal_is_a_whole_file_that_defines_the_class_and_says_what_was_done() -> None:
    action = propose(observed())
    assert action.program is not None and action.completion.startswith(HEADER)
    assert fences(action.completion)[-1].body.strip() == action.program.text.strip()
    assert LABEL.findall(action.completion)
    tree = ast.parse(action.program.text)
    assert "ModelNew" in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def test_the_first_candidate_has_the_name_and_the_constants_and_is_left_alone_then() -> None:
    first = started(TEXT, {"batch": 3})
    assert "class ModelNew(nn.Module)" in first and "class Model(" not in first and "batch = 3\n" in first
    assert started(first, {"batch": 9}) == first
    assert "super(ModelNew, self)" in started(TEXT.replace("super()", "super(Model, self)"), {})


@pytest.mark.heavy
def test_what_failed_alone_is_not_proposed_again() -> None:
    labels = [LABEL.findall(propose(observed(draw=draw)).completion) for draw in range(30)]
    kind = next(label for found in labels for label in found if label.startswith("fuse"))
    told = Section("Failures", f"Step 1:\n- {kind}: in C++ (prior 8)\n=> wrong: an element is off")
    after = [LABEL.findall(propose(observed(told, draw=draw)).completion) for draw in range(30)]
    assert any(kind in found for found in labels) and not any(kind in found for found in after)


def test_where_nothing_applies_the_proposal_says_so() -> None:
    text = reference("if x.sum() > 0:\n    return x\nreturn x * 2").replace("import torch\n", "import torch, math\n")
    action = propose(observed(problem=problem_of(text)))
    assert "The program is unchanged" in action.completion
    assert action.program is not None and "class ModelNew" in action.program.text


def test_a_text_that_is_not_python_comes_back() -> None:
    action = propose(observed(problem=problem_of("class Model(:\n")))
    assert action.program is not None and action.program.text == "class Model(:\n"


def test_the_prompt_says_what_to_write_and_shows_native_code_first() -> None:
    problem = problem_of(TEXT, {"batch": 64})
    system, user = (message.text for message in messages(observed(problem=problem)))
    assert system.index("maxcode.native.load") < system.index("load_inline")
    assert "ModelNew" in user and "batch = 64" in user and "|y - exact| <= t * (|exact| + rms)" in user
    assert "standard input" not in system + user and "$" not in system
    compile(fences(system)[0].body, "example", "exec")


def test_the_profile_is_told_by_operator() -> None:
    spots = (Hotspot("aten::gelu", 0, 0.6), Hotspot("aten::add", 0, 0.3), Hotspot("aten::empty", 0, 0.001))
    state = State(problem_of(TEXT))
    found = profile(Evaluation(Outcome.CORRECT, profile=spots))(state, Reached(state))
    assert found is not None and found.text.splitlines()[1:] == [" 60% aten::gelu", " 30% aten::add"]
