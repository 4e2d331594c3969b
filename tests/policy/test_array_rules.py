"""The rules about numpy arrays: the judge of Python functions finds no difference, for arrays and for anything else.

What the rule for numba writes is compared as text: numba is in no environment of the tests.  Tried by hand with
numba 0.68, the judge found no difference on the same inputs.
"""

from __future__ import annotations

import re
from dataclasses import replace

import anyio
import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.core.stats import RaceRule
from maxcode.core.types import Action, Evaluation, Outcome, Program
from maxcode.evaluate.python.staging import PythonStages
from maxcode.evaluate.rounds.evaluator import RoundsEvaluator
from maxcode.policy.rules.rewriter.rules import RULES, offered
from maxcode.policy.rules.rewriter.runtime import applied
from maxcode.sandbox.sandbox import Sandbox
from tests.support.python_help import ENVIRONMENT, problem_of
from tests.support.rewriter_help import labels, rewritten, text_of

EVERY = """

def tried(function, *arguments):
    try:
        return function(*arguments)
    except (IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        return type(error).__name__


def every(xs, ys, out, plate, number):
    new, product, base = plate.copy(), np.zeros((plate.shape[0], plate.shape[0])), xs.copy()
    return [
        tried(dot, xs, ys), tried(dot, xs, ys, number), tried(spread, xs), tried(above, xs, ys, number),
        tried(ends, xs, number), tried(heat, new, plate), tried(heat, plate, plate),
        tried(products, plate, plate.T, product), tried(smooth, base[1:], base[:-1], number),
        tried(smooth, out, xs, number),
    ]
"""
# arrays of real numbers, whole numbers, single precision, lists, every second element; infinite ones, NaN and zeros; of
# no length and of two lengths
INPUTS = """
import numpy as np

def inputs(seed, size):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 9)) if seed % 3 else int(rng.integers(0, size))
    xs, ys = rng.standard_normal(count), rng.standard_normal(max(0, count + int(rng.integers(-1, 3))))
    for one in (xs, ys):
        at = rng.random(len(one)) < 0.1
        one[at] = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, 1e-320, 0.5], size=int(at.sum()))
    out, plate = np.ones(count), rng.random((int(rng.integers(0, 7)), int(rng.integers(0, 7))))
    number = [0.5, np.float64(-0.25), 2, True, 0.0, np.float32(0.5), 1 << 70][rng.integers(7)]
    kind = rng.integers(8)
    if kind == 1:
        xs, ys = xs.tolist(), ys.tolist()
    elif kind == 2:
        xs = xs.astype(np.float32)
    elif kind == 3:
        xs, plate = np.arange(count) - 3, (plate * 9).astype(np.int64)
    elif kind == 4:
        xs, ys, plate = xs[::2], ys[::-1], plate.T
    elif kind == 5:
        out.flags.writeable = False
    elif kind == 6:
        out = out.tolist()
    return xs, ys, out, plate, number
"""
PLACES = [f"vectorise(loop {place})" for place in (
    "1 in dot", "1 in spread", "1 in above", "1 in ends", "1 in smooth", "2 in smooth", "2 in heat", "3 in products",
)]  # fmt: skip


def judged(sandbox: Sandbox, source: str, candidate: str) -> Evaluation:
    """As the judge sees two versions, with no tolerance for real numbers."""
    problem = problem_of(source, INPUTS, "every", venv=ENVIRONMENT)
    spec = replace(problem.spec, python=replace(problem.spec.python_spec, size=60, tolerance=0.0))
    problem = replace(problem, spec=spec)

    async def job() -> Evaluation:
        evaluator = RoundsEvaluator(sandbox, PythonStages(sandbox, prompts=False), RaceRule(most=15))
        await evaluator.admit(problem)
        return await evaluator.evaluate(problem, Action(Program({"slow.py": candidate})))

    return anyio.run(job)


def test_loops_over_arrays_give_the_same_for_arrays_and_anything_else(sandbox: Sandbox) -> None:
    source = text_of("arrays.py") + EVERY
    assert labels("vectorise", source, "python") == PLACES
    candidate = rewritten(source, "vectorise", "python", sites=len(PLACES))
    assert candidate.count(".ndarray and") + candidate.count(".ndarray\n") >= len(PLACES)
    found = judged(sandbox, source, candidate)
    assert found.outcome is Outcome.CORRECT, found.feedback.reasons


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("np.add.accumulate(np.concatenate(([s], a[:end] * b[:end])))[-1]", "s + (a[:end] * b[:end]).sum()"),
        ("out.flags.c_contiguous\n        and not np.may_share_memory(out, xs)", "out.flags.c_contiguous"),
        (" and fits(0, len(a), (s,), (), (a, 1, 0, 0, 0), (b, 1, 0, 0, 0))", ""),
    ],
    ids=["the order of a sum", "shared memory", "the types"],
)
def test_the_judge_sees_what_the_rule_takes_care_of(here: str, there: str, sandbox: Sandbox) -> None:
    source = text_of("arrays.py") + EVERY
    candidate = rewritten(source, "vectorise", "python", sites=len(PLACES))
    assert candidate.count(here) == 1
    assert judged(sandbox, source, candidate.replace(here, there)).outcome is Outcome.WRONG


def test_what_is_vectorised_is_not_touched_again() -> None:
    text = rewritten(text_of("arrays.py"), "vectorise", "python", sites=len(PLACES))
    assert labels("vectorise", text, "python") == []
    assert text.count("def fits(") == 1


COMPILED = """
from numba import njit


@njit(boundscheck=True)
def products_1(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s
"""
CALLED = """
def products(a, b, out):
    if type(a) is np.ndarray and fits(0, 1, (), (), (a, 2, None, 0, 0), (b, 2, None, 0, 0), (out, 2, None, 0, 0)) \
and out.flags.writeable:
        products_1(a, b, out)
    else:
        for i in range(a.shape[0]):
"""


def test_a_nest_is_compiled_on_request() -> None:
    rule = next(row for row in RULES if row.name == "njit_nest")
    assert not rule.usual
    unit = Unit("python", text_of("arrays.py"))
    assert [edit.label for edit in offered(rule, unit)] == [
        "njit_nest(loop 1 in heat)",
        "njit_nest(loop 1 in products)",
    ]
    text = applied(unit, offered(rule, unit)[1])
    compile(text, "compiled", "exec")
    assert COMPILED in text and CALLED in text
    again = Unit("python", text)
    assert [edit.label for edit in offered(rule, again)] == ["njit_nest(loop 1 in heat)"]
    both = applied(again, offered(rule, again)[0])
    compile(both, "compiled", "exec")
    assert both.count("import njit") == both.count("def fits(") == 1 and both.count("@njit(") == 2


NEST = "import numpy as np\ndef f(a, b, n, c):\n    for i in range(n):\n        for j in range(i, n):\n            {}\n"
NOT_COMPILED = {
    "a value from before": NEST.format("c = c + a[i, j]"),
    "it divides": NEST.format("a[i, j] = b[j] / c"),
    "a power": NEST.format("a[i, j] = b[j] ** 2"),
    "a product of whole numbers": NEST.format("a[i, j] = i * j"),
    "a call": NEST.format("a[i, j] = c(b[j])"),
    "an index that is worked out": NEST.format("k = i + j\n            a[i, j] = b[k]"),
    "an array with and without an index": NEST.format("a[i, j] = b * b[j]"),
    "it ends before": NEST.format("if a[i, j] > c:\n                break"),
    "a name is used after": NEST.format("s = a[i, j]\n            a[j, i] = s") + "    return s\n",
    "a counter is used after": NEST.format("a[j, i] = b[j]") + "    return j\n",
    "a value of a condition": NEST.format("if b[j] > c:\n                s = 1.0\n            a[i, j] = s"),
    "a name that may have no value": NEST.replace("(a, b, n, c)", "(a, b, n)")
        .replace("    for i", "    if n:\n        c = 1.0\n    for i", 1).format("a[i, j] = c * b[j]"),
    "one loop": "import numpy as np\ndef f(a, b):\n    for i in range(len(a)):\n        a[i] = a[i] + b[i]\n",
    "no numpy": NEST.partition("\n")[2].format("a[i, j] = b[j]"),
}  # fmt: skip


@pytest.mark.parametrize("why", NOT_COMPILED)
def test_a_nest_is_not_compiled(why: str) -> None:
    rule = next(row for row in RULES if row.name == "njit_nest")
    compile(NOT_COMPILED[why], "nest", "exec")
    assert offered(rule, Unit("python", NOT_COMPILED[why])) == []
    plain = Unit("python", NEST.format("a[i, j] = b[j] * c"))
    assert len(offered(rule, plain)) == 1


def test_a_line_that_asks_for_types_stays_readable() -> None:
    text = rewritten(text_of("arrays.py"), "vectorise", "python", sites=len(PLACES))
    asked = [line for line in text.splitlines() if re.match(r" +(if|and) .*(fits|ndarray)", line)]
    assert asked and max(map(len, asked)) <= 120
