"""Texts that nest deep or repeat a sign, which a candidate or an answer of a model can be: each has an ordinary end."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from maxcode.code import techniques
from maxcode.core.method import Method
from maxcode.core.types import Action, Evaluation, Feedback, Observation, Outcome, Problem, Program, ProgramSpec, State
from maxcode.evaluate.ladder.reject import not_permitted, reject
from maxcode.evaluate.program.suspicion import words_of
from maxcode.observe import compose, program, trajectory
from maxcode.policy.rules.kernels import Kernels
from maxcode.policy.rules.modules import Modules
from maxcode.policy.rules.rewriter import Rewriter
from maxcode.run.evaluation import evaluate_source
from maxcode.run.optimize import Run, optimize
from maxcode.run.request import Request
from maxcode.search import Refine
from maxcode.search.value.code import code
from maxcode.testing import Scripted, exact_timing

SUM = " + ".join(["1"] * 1500)
EXPRESSIONS = {
    "a long sum": SUM,
    "a chain of calls": "s" + ".replace(a, b)" * 520,
    "brackets": "(" * 3000 + "1" + ")" * 3000,
    "open brackets": "[" * 3000,
    "signs": "-" * 30_000 + "1",
    "closing brackets": ")" * 30_000,
}
WHOLE = {
    "c": "int main(void) {{ double x = {}; return 0; }}\n",
    "cpp": "int main() {{ auto x = {}; return 0; }}\n",
    "python": "x = {}\nprint(x)\n",
}
KERNEL = "void f(int n, double *a) {{ for (int i = 0; i < n; i++) a[i] = {}; }}\n"
MODULE = "import torch.nn as nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return {}\n"


@dataclass(frozen=True)
class Readers:
    """An evaluator that only reads, with what reads candidates in the process of the search."""

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        assert action.program is not None
        if (refused := reject(problem, action) or not_permitted(problem, action.program)) is not None:
            return refused
        code(problem.language, action.program.text)
        return Evaluation(Outcome.CORRECT, Feedback(words_of(problem, action.program)), exact_timing(1.5))


def nested(language: str) -> list[str]:
    texts = [WHOLE[language].format(one) for one in EXPRESSIONS.values()]
    if language == "python":
        return [*texts, "".join(f"{' ' * at}if x:\n" for at in range(99)) + " " * 99 + "x = 1\n"]
    return [*texts, "int main() {" + "{" * 2000 + "}" * 2001 + "\n", "int main() { " + "for (;;) " * 2000 + "; }\n"]


@pytest.mark.parametrize("language", WHOLE)
def test_a_candidate_that_nests_deep_is_a_step_like_any_other(language: str) -> None:
    name, texts = f"p.{'py' if language == 'python' else language}", nested(language)
    original = Program({name: WHOLE[language].format("1")})
    problem = Problem("p", "program", language, original, ProgramSpec(), permitted=frozenset())
    left = iter(texts)
    method = Method(Scripted(write=lambda *_: next(left)), Refine(99), compose(program(), trajectory()))
    found = optimize(problem, method, Readers(), Run(budget=len(texts)))
    steps = [state.step for state in found.reached if state.step is not None]
    assert [step.action.program and step.action.program.text for step in steps] == texts
    assert {step.evaluation.outcome for step in steps} <= {Outcome.CORRECT, Outcome.REJECTED}


@pytest.mark.parametrize("language", WHOLE)
def test_built_in_policies_leave_alone_what_nests_too_deep(language: str) -> None:
    loop = MODULE if language == "python" else KERNEL
    for text in (shape.format(one) for shape in (WHOLE[language], loop) for one in EXPRESSIONS.values()):
        name = f"p.{'py' if language == 'python' else language}"
        problem = Problem("p", "program", language, Program({name: text}), ProgramSpec())
        for policy in (Rewriter(), Kernels(), Modules()):
            action = anyio.run(policy.propose, Observation((), State(problem), 7))
            assert action.program is not None


@pytest.mark.sandbox
def test_a_sum_of_many_terms_is_measured(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "1.in").write_text("300000\n")
    (tmp_path / "tests" / "1.out").write_text("300000\n")
    (tmp_path / "slow.py").write_text("print(sum(1 for _ in range(int(input()))))\n")
    (tmp_path / "fast.py").write_text(f"x = {SUM}\nprint(int(input()) * x // 1500)\n")
    found = evaluate_source(tmp_path / "fast.py", Request(tmp_path / "slow.py", tmp_path / "tests"))
    assert found.outcome is Outcome.CORRECT


@pytest.mark.parametrize(
    "text",
    [
        "int f(int x) { " + "".join(f"if (x == {i}) return 1; else " for i in range(110)) + "return 0; }",
        "double f(double *A) { return " + " + ".join(f"A[{i}]" for i in range(200)) + "; }",
        "void f(int n, double *A) {" + "for (int i = 0; i < n; i++) A[i] = i;\n" * 600 + "}",
        "void f(int n, double *A) {" + "".join(f"for (int a{i} = 0; a{i} < n; a{i}++) " for i in range(16)) + "n++; }",
    ],
)
def test_chains_sums_and_many_loops_of_honest_texts_are_read(text: str) -> None:
    assert techniques.used("c", text) == set()


REPEATED = (
    *("/* ", "[", "[[", "__attribute__((", "f(", "for (;;) ", "__global__ ", "// ---- maxcode runtime: "),
    *('\\"', 'R"(', "\\\n"),
)
ANSWERS = ("```a\n", "<<<<< SEARCH\n", ">>>>>\n", "SHOW a: ", "--- a ", "\\\n", '{"', "} ```")
READ = """
import sys
from maxcode.code import techniques
from maxcode.code.cpp.unit import Unit
from maxcode.code.definitions import definitions
from maxcode.code.source import fences, normalise
from maxcode.code.prose import prose
from maxcode.core.types import Program
from maxcode.evaluate.function.libraries import forbidden
from maxcode.evaluate.module.resources import kernel_lines
from maxcode.llm.completion import read
from maxcode.llm.completion.shown import wishes

kind, unit = sys.argv[1], sys.argv[2]
if kind == "code":
    for text in (unit * (38_000 // len(unit)), f"#if 0\\n{unit * (38_000 // len(unit))}\\n#endif\\n"):
        techniques.used("cpp", text), techniques.innermost("cpp", text), normalise("python", text)
    text = unit * (200_000 // len(unit))
    normalise("cpp", text), forbidden(Program({"f.c": text})), kernel_lines(text), Unit("cpp", text).runtime
    definitions("java", text), definitions("java", "a " + " " * 200_000)
else:
    text = unit * (120_000 // len(unit))
    prose(text), fences(text), wishes(text + " " * 100_000 + "x"), wishes("SHOW a:" + " " * 100_000 + "`x")
    for answer in (text, f"<<<<< SEARCH\\n{text}", f"--- a{' ' * 100_000}x\\n+++ b\\n{text}"):
        read(answer, Program({"f.c": "int main(void) { return 0; }\\n"}), "c", "edits")
"""


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "unit"), [*(("code", one) for one in REPEATED), *(("answer", one) for one in ANSWERS)]
)
def test_a_sign_that_is_repeated_without_end_is_read_in_seconds(kind: str, unit: str) -> None:
    """In another process, because a pattern hears no alarm.  Squares of these lengths take minutes."""
    subprocess.run([sys.executable, "-c", READ, kind, unit], check=True, timeout=60)
