"""The rule critic names the line, the topic and the cure, and is silent where it knows nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import anyio
import pytest

from maxcode.code.languages import language
from maxcode.core.types import (
    Action,
    Case,
    CaseResult,
    Evaluation,
    Feedback,
    Hotspot,
    LoopBody,
    MachineCode,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    Remark,
    Step,
)
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.observe.critique import RuleCritic, diagnose
from maxcode.testing import exact_timing, toy_problem


def critique(evaluation: Evaluation, previous: Step | None = None, text: str = "a\nb\nc\n") -> str:
    reward = evaluation.timing.speedup.value if evaluation.timing else 0.0
    step = Step(Action(Program({"toy.py": text})), evaluation, reward)
    return anyio.run(RuleCritic().critique, toy_problem(), step, previous)


def test_a_build_error_is_told_by_its_line() -> None:
    words = "/src/a.cpp:17:5: error: 'x' was not declared in this scope\n/src/a.cpp:19:5: error: expected ';'\n"
    told = critique(Evaluation(Outcome.UNBUILT, Feedback(("a.cpp:17:5: error: ...",), words)))
    assert "line 17: 'x' was not declared" in told
    assert "line 19" in told


def test_a_wrong_answer_is_told_with_its_test_and_the_blame_of_the_last_step() -> None:
    wrong = CaseResult("03", Outcome.WRONG, 0.1, True, "token 2: expected '5', got '6'")
    hidden = CaseResult("04", Outcome.WRONG, 0.1, False)
    before = Step(Action(None), Evaluation(Outcome.CORRECT, timing=exact_timing(1.2)), 1.2)
    told = critique(Evaluation(Outcome.WRONG, Feedback(("...",), cases=(wrong, hidden))), before)
    assert "Test 03 wrong: token 2: expected '5', got '6'" in told
    assert "1 held-out test(s) failed" in told
    assert "The previous step passed" in told


@pytest.mark.parametrize(("name", "words"), [("SIGSEGV", "out of bounds"), ("SIGABRT", "assertion")])
def test_a_crash_is_told_with_what_its_signal_usually_means(name: str, words: str) -> None:
    case = CaseResult("01", Outcome.CRASHED, 0.0, True, f"killed by {name}")
    assert words in critique(Evaluation(Outcome.CRASHED, Feedback(cases=(case,))))


@pytest.mark.parametrize(
    ("source", "function", "topic"),
    [
        ("while (cin >> x) sum += x;", "libstdc++.so.6", "buffered input"),
        ("cout << x << endl;", "libstdc++.so.6", "flushed for every line"),
        ("for (int i = 0; i < strlen(s); i++)", "libc.so.6", "hoist strlen"),
        ("m[x]++;", "std::_Rb_tree<int>::find", "ordered map lookup"),
        ("v.push_back(x);", "operator new(unsigned long)", "memory allocation"),
        ("sort(v.begin(), v.end());", "std::__introsort_loop", "radix"),
        ("c[i][j] += a[i][k] * b[k][j];", "main", "loop order"),
        ("x = x % m;", "main", "modulo"),
        ("s = s + t;", "std::string::_M_append", "append in place"),
    ],
)
def test_a_hot_line_gets_its_topic(source: str, function: str, topic: str) -> None:
    program = Program({"a.cpp": f"int main() {{\n{source}\n}}\n"})
    told = diagnose(program, Evaluation(Outcome.CORRECT, profile=(Hotspot(function, 2, 0.8),)))
    assert "80% of the time is spent at line 2" in told[0]
    assert any(topic in line for line in told), told


def test_the_compilers_word_about_the_hot_loop_is_passed_on_and_others_are_not() -> None:
    remarks = (
        Remark(2, "missed", "not vectorized: control flow in loop"),
        Remark(90, "missed", "not vectorized: elsewhere"),
    )
    found = Evaluation(Outcome.CORRECT, remarks=remarks, profile=(Hotspot("main", 2, 0.9),))
    told = "\n".join(diagnose(Program({"a.cpp": "x\ny\nz\n"}), found))
    assert "compiler, line 2: missed: not vectorized: control flow" in told
    assert "elsewhere" not in told


def test_a_step_that_made_it_slower_is_called_one() -> None:
    before = Step(Action(None), Evaluation(Outcome.CORRECT, timing=exact_timing(2.0)), 2.0)
    told = critique(Evaluation(Outcome.CORRECT, timing=exact_timing(1.2)), before)
    assert told.startswith("Correct; slower than the previous step")
    assert not re.search(r"\d", told), "the feedback has the figures, which a confirmation replaces"
    assert "go back" in told


def test_spots_of_one_line_are_added_up_and_small_ones_left_out() -> None:
    profile = (Hotspot("a", 2, 0.3), Hotspot("b", 2, 0.3), Hotspot("c", 3, 0.03))
    told = diagnose(Program({"a.cpp": "x\ny\nz\n"}), Evaluation(Outcome.CORRECT, profile=profile))
    assert told[0].startswith("60% of the time is spent at line 2 (a)")
    assert not any("line 3" in line for line in told)
    few = Evaluation(Outcome.CORRECT, profile=(Hotspot("a", 2, 0.7, 7), Hotspot("b", 1, 0.3, 3)))
    assert diagnose(Program({"a.cpp": "x\ny\nz\n"}), few) == [], "three samples say nothing"


def test_what_cannot_be_sampled_is_told_by_its_machine_code() -> None:
    code = MachineCode(90, 3, (LoopBody(2, 9, 16, 4, 2, 1, 3, 1, 0, 1, 0, 0, cycles=8.0),))
    (told,) = diagnose(Program({"a.c": "x\n"}), Evaluation(Outcome.CORRECT, machine_code=code))
    assert "16 operations in 9 instructions" in told


PLANTED = {
    "strlen": (4, "hoist strlen", """#include <stdio.h>
#include <string.h>
static char s[60000];
int main(void) { memset(s, 'x', 59999); for (size_t i = 0; i < strlen(s); i++)
  s[i] = 'a' + i % 7;
  puts(s + 59990); return 0; }
"""),
    "math": (5, "math library", """#include <math.h>
#include <stdio.h>
int main(void) { int n; double t = 0; if (scanf("%d", &n) != 1) return 1;
  for (int i = 0; i < n; i++)
    t += pow(i, 1.7);
  printf("%.3f\\n", t); return 0; }
"""),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bottleneck_is_found_at_its_line_in_a_real_run(
    name: str, sandbox_evaluator: ProgramEvaluator, tmp_path_factory: pytest.TempPathFactory
) -> None:
    line, topic, text = PLANTED[name]
    folder = tmp_path_factory.mktemp(name)
    (folder / "a.in").write_text("900000\n")
    case = Case("a", str(folder / "a.in"), None)
    spec = ProgramSpec(flags=(*language("c").default_flags, "-fno-builtin"), seen=(case,))
    problem = Problem(name, "program", "c", Program({"a.c": text}), spec)
    found: Admitted = anyio.run(sandbox_evaluator.admit, problem)
    told = diagnose(problem.program, found.baseline)
    assert f"at line {line} " in told[0], told
    assert any(topic in line for line in told), told


def test_a_critic_cannot_change_what_was_measured() -> None:
    found = Evaluation(Outcome.CORRECT, timing=exact_timing(1.5))
    step = Step(Action(Program({"toy.py": "x"})), found, 1.5)
    anyio.run(RuleCritic().critique, toy_problem(), step, None)
    assert step == replace(step)


def test_operators_of_torch_are_told_by_name_with_what_helps() -> None:
    spots = (Hotspot("aten::mm", 0, 0.5), Hotspot("aten::gelu", 0, 0.3), Hotspot("aten::copy_", 0, 0.1))
    told = diagnose(Program({"problem.py": "import torch\n"}), Evaluation(Outcome.CORRECT, profile=spots))
    assert [line for line in told if line.endswith(".") and "time is spent in" in line] == [
        "50% of the time is spent in aten::mm.",
        "30% of the time is spent in aten::gelu.",
        "10% of the time is spent in aten::copy_.",
    ]
    own = Evaluation(Outcome.CORRECT, profile=(Hotspot("outside of torch's operators (native code, Python)", 0, 1.0),))
    assert diagnose(Program({"problem.py": ""}), own)[0].startswith("100% of the time is spent outside of torch")
    assert "one pass" in told[3] and "line" not in told[0] and "clones" in told[5]
