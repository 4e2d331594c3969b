"""The policy that asks a language model: what it sends, and what it makes of the answer."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from maxcode.code.source import fenced
from maxcode.core.types import (
    Action,
    Argument,
    Clock,
    FunctionSpec,
    Observation,
    Problem,
    Program,
    ProgramSpec,
    PythonSpec,
    Section,
    State,
    Usage,
)
from maxcode.errors import InputError
from maxcode.llm.clients import Completion
from maxcode.llm.completion import Answer
from maxcode.policy.llm import Llm, messages
from maxcode.testing import ScriptedModel

SLOW = '#include <cstdio>\nint main() {\n    puts("1");\n}\n'
FAST = SLOW.replace("puts", "std::puts")
GEMM = FunctionSpec("gemm", (Argument("n", "int"),), ((8,),), ((3,),), "n", "gemm.h", "void gemm(int n);")
PROGRAM = Problem("p", "program", "cpp", Program({"slow.cpp": SLOW}), ProgramSpec())
FUNCTION = Problem("f", "function", "c", Program({"gemm.c": "void gemm(int n) {}\n"}), ProgramSpec(function=GEMM))


def observed(problem: Problem = PROGRAM, *sections: Section, draw: int = 7) -> Observation:
    told = sections or (Section("Problem", "Make it faster.\n"), Section("Program", fenced(SLOW, "cpp")))
    return Observation(told, State(problem), draw, temperature=0.3)


def proposed(policy: Llm, observation: Observation | None = None) -> Action:
    return anyio.run(policy.propose, observation or observed())


def test_the_answer_becomes_the_program_and_stays_verbatim() -> None:
    text = f"<think>hm</think>\nFewer bytes.\n{fenced(FAST, 'cpp')}\n"
    usage = Usage(1, 100, 20, 1.5, 0.01)
    action = proposed(Llm(ScriptedModel([Completion(text, usage)])))
    assert action == Action(Program({"slow.cpp": FAST}), text, usage)


def test_the_request_follows_the_observation() -> None:
    model = ScriptedModel([fenced(FAST)])
    proposed(Llm(model, max_tokens=99, thinking_tokens=5))
    proposed(Llm(model, temperature=1.0), observed(draw=8))
    first, second = model.asked
    assert (first.draw, first.temperature, first.max_tokens, first.thinking_tokens) == (7, 0.3, 99, 5)
    assert (second.draw, second.temperature) == (8, 1.0)
    assert first.messages == second.messages == messages(observed(), "whole")


def test_a_program_is_told_what_is_true_of_its_language() -> None:
    python = replace(PROGRAM, language="python", program=Program({"slow.py": "print(1)\n"}))
    java = replace(PROGRAM, language="java", program=Program({"Main.java": "class Main {}\n"}))
    for problem, theirs, others in (
        (python, ("start of the interpreter, imports", "`sys.stdin.buffer`"), ("intrinsics", "instructions", "mmap")),
        (java, ("start of the virtual machine", "standard library"), ("intrinsics", "mmap", "interpreter")),
        (PROGRAM, ("intrinsics", "then instructions", "reading and printing included"), ("interpreter", "imports")),
    ):
        system = messages(observed(problem))[0].text
        assert all(words in system for words in theirs)
        assert not any(words in system for words in others)
        assert "or of files that the problem does not name" in system


def test_the_same_observation_is_the_same_request() -> None:
    llm = Llm(ScriptedModel())
    assert llm.request(observed()) == llm.request(observed())


def test_an_unread_completion_keeps_its_text_its_usage_and_a_reason() -> None:
    usage = Usage(1, 10, 5)
    action = proposed(Llm(ScriptedModel([Completion("I cannot.", usage)])))
    assert (action.program, action.completion, action.usage) == (None, "I cannot.", usage)
    assert action.unread == "there is no code block"


@pytest.mark.parametrize("text", ["<think>long", f"{fenced(FAST)}\n```cpp\nint ma", "```cpp\nint main() {"])
def test_an_answer_cut_by_the_limit_says_so(text: str) -> None:
    action = proposed(Llm(ScriptedModel([Completion(text, Usage(1), "length")]), max_tokens=512))
    assert action.program is None
    assert "cut at max_tokens = 512" in action.unread


def test_a_program_that_was_complete_before_the_cut_counts() -> None:
    text = f"{fenced(FAST, 'cpp')}\nThis is faster bec"
    assert proposed(Llm(ScriptedModel([Completion(text, Usage(1), "length")]))).program == Program({"slow.cpp": FAST})


def test_edits_are_applied_to_the_program_at_the_state() -> None:
    text = '<<<<<<< SEARCH\n    puts("1");\n=======\n    std::puts("1");\n>>>>>>> REPLACE'
    assert proposed(Llm(ScriptedModel([text]), "edits")).program == Program({"slow.cpp": FAST})


def test_the_prompt_is_the_sections_in_order_and_then_the_task() -> None:
    sections = (Section("Problem", "one"), Section("Program", fenced(SLOW, "cpp")), Section("Critique", "slow\n"))
    system, user = messages(observed(PROGRAM, *sections))
    assert (system.role, user.role) == ("system", "user")
    told, task = user.text.split("\n\n# Task\n\n")
    assert told == f"# Problem\n\none\n\n# Program\n\n{fenced(SLOW, 'cpp')}\n\n# Critique\n\nslow"
    assert "one fenced code block" in task


@pytest.mark.parametrize("problem", [PROGRAM, FUNCTION])
@pytest.mark.parametrize("language", ["cpp", "c", "python", "perl", "java"])
@pytest.mark.parametrize("answer", ["whole", "edits"])
@pytest.mark.parametrize("goal", ["cpu", "wall"])
def test_every_prompt_is_filled_and_short(problem: Problem, language: str, answer: Answer, goal: Clock) -> None:
    asked = replace(problem, language=language, goal=goal)
    system, user = messages(observed(asked), answer)
    assert "$" not in system.text + user.text
    assert len(system.text) < 2000 and len(user.text) < 1000
    assert ("wall-clock time of" in system.text) == (goal == "wall")
    assert ("main()" in system.text) == (problem.kind == "function")
    assert ("SEARCH" in user.text) == (answer == "edits")
    for rule in ("did not build", "is wrong", "beat the best time"):
        assert rule in user.text


def test_a_program_that_is_no_text_makes_a_prompt_that_can_be_sent() -> None:
    observation = observed(PROGRAM, Section("Program", fenced("/* caf\udce9 */\n")))
    assert [said.text.encode() for said in messages(observation)][1].startswith(b"# Program\n\n```\n/* caf? */")


def test_a_function_is_read_by_its_name() -> None:
    text = "Unrolled.\n```c\nvoid gemm(int n) { n++; }\n```\nTry\n```c\nint main() { gemm(3); }\n```\n"
    action = proposed(Llm(ScriptedModel([text])), observed(FUNCTION))
    assert (FUNCTION.entry, PROGRAM.entry) == ("gemm", "main")
    assert action.program == Program({"gemm.c": "void gemm(int n) { n++; }\n"})


def test_a_python_function_is_read_by_its_name() -> None:
    spec = ProgramSpec(python=PythonSpec("solve", "def inputs(seed, size): ..."))
    slow = Program({"a.py": "def solve(xs):\n    return sorted(xs)[0]\n"})
    fast = slow.with_text("def solve(xs):\n    return min(xs)\n")
    action = proposed(
        Llm(ScriptedModel([fenced(fast.text, "python")])), observed(Problem("p", "python", "python", slow, spec))
    )
    assert action.program == fast


def test_the_files_of_a_program_are_named_in_the_task() -> None:
    two = replace(PROGRAM, program=Program({"a.cpp": SLOW, "b.h": "int f();\n"}))
    assert "a.cpp, b.h" in messages(observed(two))[1].text
    assert "a.cpp" not in messages(observed())[1].text


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="'whole' or 'edits'"):
        Llm(ScriptedModel(), answer="diff")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_tokens = 0"):
        Llm(ScriptedModel(), max_tokens=0)


def test_a_task_section_comes_last_with_the_form_of_the_answer() -> None:
    user = messages(observed(PROGRAM, Section("Task", "Repair the build."), Section("Program", "x")))[1].text
    assert user.startswith("# Program\n\nx\n\n# Task\n\nRepair the build.\n\nAnswer with")
    assert user.count("# Task") == 1
