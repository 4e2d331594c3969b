"""A run that can prove nothing is refused before it starts; ``anyway`` goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.cli.common import overrides
from maxcode.code.source import SOURCE_AT_MOST
from maxcode.core.types import Outcome, Problem, Program, ProgramSpec
from maxcode.errors import InputError, NoRuleError, UnmeasurableError
from maxcode.evaluate.program import admission
from maxcode.policy.rules.rewriter import edits, unit_of
from maxcode.run.complete_request import completed
from maxcode.run.evaluation import evaluate_source
from maxcode.run.job import optimize_source
from maxcode.run.request import Request
from maxcode.run.request_checks import refuse_replay, refuse_without_rules

SUM = '#include <stdio.h>\nint main(void) { int n; scanf("%d", &n); printf("%d\\n", n); return 0; }\n'


def program(folder: Path, name: str, text: str) -> Request:
    """A program that prints the number that it reads, with two tests."""
    (folder / "tests").mkdir(parents=True)
    (folder / name).write_text(text)
    for number in (1, 2):
        (folder / f"tests/{number}.in").write_text(f"{number}\n")
        (folder / f"tests/{number}.out").write_text(f"{number}\n")
    return Request(folder / name, folder / "tests", out=folder / "run", budget=1)


@pytest.mark.sandbox
def test_a_language_without_rules_is_refused_at_once_with_the_cure(tmp_path: Path) -> None:
    request = program(tmp_path, "slow.js", "console.log(1);\n")
    with pytest.raises(NoRuleError, match=r"C, C\+\+ and Python only.*--policy llm:MODEL.*--anyway"):
        completed(request)
    assert completed(replace(request, anyway=True)).request.policy == "rewriter"
    python = replace(program(tmp_path / "python", "slow.py", "print(input())\n"), policy="loops")
    with pytest.raises(NoRuleError, match=r"loops has rules for C and C\+\+ only"):
        completed(python)


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("name", "text", "words"),
    [("syn.cpp", "int main( { return 0 }\n", "error: expected"), ("syn.py", "def f(:\n", "SyntaxError")],
)
def test_a_program_that_does_not_build_gets_the_words_of_its_compiler(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(InputError) as refused:
        completed(program(tmp_path, name, text))
    assert not isinstance(refused.value, NoRuleError)
    assert f"the original {name} does not build" in str(refused.value) and words in str(refused.value)


@pytest.mark.sandbox
def test_a_program_to_which_no_rule_applies_is_refused(tmp_path: Path) -> None:
    request = program(tmp_path, "slow.c", SUM)
    with pytest.raises(NoRuleError, match=r"no rule of the built-in rewriter applies to slow\.c"):
        completed(replace(request, without_rules=tuple(_offered(request))))
    assert completed(request)


@pytest.mark.sandbox
def test_a_python_program_to_which_no_rule_applies_is_told_why_by_function(tmp_path: Path) -> None:
    text = "def f(xs):\n    print(1 in xs)\n\n\nf([int(input())])\n"
    request = replace(program(tmp_path, "slow.py", text), without_rules=("read_lines", "write_lines"))
    with pytest.raises(
        NoRuleError, match=r"(?s)no rule .* slow\.py.*\nf: set_lookup does not apply in line 2, because"
    ):
        completed(request)


def _offered(request: Request) -> list[str]:
    return [rule.name for rule, _ in edits(unit_of(completed(request).loaded.problem))]


def test_rules_are_those_of_the_rewriter(tmp_path: Path) -> None:
    request = program(tmp_path, "slow.c", SUM)
    with pytest.raises(InputError, match="unknown rule 'unrol'; did you mean unroll"):
        completed(replace(request, without_rules=("unrol",)))
    with pytest.raises(InputError, match="choose rules of the built-in rewriter, and --policy is kernels"):
        completed(replace(request, policy="kernels", with_rules=("skip_teardown",)))


NEST = """import numpy as np
def f(a, b):
    for i in range(len(a)):
        for j in range(len(b)):
            a[i] = a[i] + b[j]
f(np.zeros(2), np.ones(int(input())))
"""


def test_the_rule_that_needs_numba_is_refused_without_it(tmp_path: Path) -> None:
    problem = Problem("nest", "program", "python", Program({"slow.py": NEST}), ProgramSpec())
    asked = Request(Path("slow.py"), policy="rewriter", with_rules=("njit_nest",), anyway=False)
    with pytest.raises(InputError, match="--with-rule njit_nest needs numba, and the system's Python, as no virtual"):
        refuse_without_rules(asked, problem)
    named = replace(problem, spec=replace(problem.spec, venv=str(tmp_path)))
    with pytest.raises(InputError, match=f"the virtual environment {tmp_path} does not have it; install numba"):
        refuse_without_rules(asked, named)
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "numba"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    refuse_without_rules(asked, named)
    assert "njit_nest" not in [rule.name for rule, _ in edits(unit_of(named))]


LENGTH = """#include <stdio.h>
#include <string.h>
int main(void) { char w[99]; if (scanf("%98s", w) != 1) return 1; printf("%zu\\n", strlen(w)); return 0; }
"""


@pytest.mark.sandbox
def test_not_measurable_says_its_cure_once(tmp_path: Path) -> None:
    request = replace(program(tmp_path, "length.c", LENGTH), anyway=False)
    for path in request.tests.iterdir() if request.tests is not None else ():
        path.unlink()
    for word in ("a", "bb", "ccc"):
        (tmp_path / "tests" / f"{word}.in").write_text(f"{word}\n")
        (tmp_path / "tests" / f"{word}.out").write_text(f"{len(word)}\n")
    with pytest.raises(UnmeasurableError) as refused:
        optimize_source(replace(request, policy="ask"))
    said = str(refused.value)
    assert said.count("give ") == 1 and said.count("generator") == 1, said
    assert "(maxcode could make none: the format of the tests allows no larger ones)" in said


@pytest.mark.sandbox
def test_tests_that_are_too_short_end_the_run_before_anything_is_written(tmp_path: Path) -> None:
    request = program(tmp_path, "slow.c", SUM)
    with pytest.raises(UnmeasurableError, match=r"not measurable: .* takes .* ms of CPU.*--anyway"):
        optimize_source(request)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("seconds", [-1.0, 0.0, float("nan"), 1e9])
def test_a_limit_of_a_run_that_is_no_number_of_seconds_is_refused_by_its_option(seconds: float) -> None:
    with pytest.raises(InputError, match=r"--run-limit is .*; give a number of seconds above 0 and below 1e\+08"):
        overrides({"run_limit": seconds})
    assert overrides({"run_limit": 2.5}) == {"limits": {"run_s": 2.5}}


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        ("int main(void) { return x; }\n", Outcome.UNBUILT, "undeclared"),
        (f"{SUM}// {'x' * SOURCE_AT_MOST}", Outcome.REJECTED, "bytes of source"),
    ],
    ids=["does not build", "is too large"],
)
def test_a_candidate_that_never_runs_needs_no_admission(
    tmp_path: Path, text: str, outcome: Outcome, words: str
) -> None:
    """The original fails its own tests, so an admission ends with an error."""
    request = program(tmp_path, "slow.c", SUM.replace('"%d\\n", n', '"no %d", n'))
    (tmp_path / "fast.c").write_text(text)
    found = evaluate_source(tmp_path / "fast.c", request)
    assert found.outcome is outcome and words in found.reasons[0]
    assert "tests      none was run" in str(found) and not any(found.tests.values())
    (tmp_path / "fast.c").write_text(SUM)
    with pytest.raises(InputError, match="passes none of its 2 tests"):
        evaluate_source(tmp_path / "fast.c", request)


@pytest.mark.sandbox
def test_a_wrong_candidate_is_told_while_its_problem_is_admitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(*given: object) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr(admission, "depends", endless)  # what an admission does after the first answers
    request = program(tmp_path, "slow.c", SUM)
    (tmp_path / "fast.c").write_text(SUM.replace('"%d\\n", n', '"%d\\n", n + 1'))
    found = evaluate_source(tmp_path / "fast.c", request)
    assert (found.outcome, found.why) == (Outcome.WRONG, "not timed: wrong")
    assert sum(found.tests.values()) == 2 and found.reasons


@pytest.mark.sandbox
def test_an_original_that_does_not_build_is_told_before_its_candidate(tmp_path: Path) -> None:
    request = program(tmp_path, "slow.c", "int main(void) { return x; }\n")
    (tmp_path / "fast.c").write_text("int main(void) { return y; }\n")
    with pytest.raises(InputError, match=r"the original slow\.c does not build"):
        evaluate_source(tmp_path / "fast.c", request)


def test_a_replay_of_no_run_is_refused(tmp_path: Path) -> None:
    request = replace(program(tmp_path, "slow.c", SUM), replay=tmp_path / "none")
    with pytest.raises(InputError, match="none is no run folder; give --replay a run"):
        refuse_replay(request, tmp_path / "run")
