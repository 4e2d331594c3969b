"""The rule that runs nests of loops on lists: the judge of Python functions finds no difference, to the last bit."""

from __future__ import annotations

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.core.types import Outcome
from maxcode.policy.rules.python.nearest import nearest
from maxcode.policy.rules.rewriter.rules import RULES, offered
from maxcode.sandbox.sandbox import Sandbox
from tests.policy.test_array_rules import NEST, judged
from tests.support.rewriter_help import labels, rewritten, text_of

NESTS = '''

def warped(cost, out):
    """The least of three neighbours, behind each other."""
    n, m = cost.shape
    for i in range(1, n):
        for j in range(1, m):
            out[i, j] = cost[i, j] + min((out[i - 1, j], out[i, j - 1], out[i - 1, j - 1]))
    return out


def furthest(cost, out, bound):
    for i in range(len(cost)):
        for j in range(cost.shape[1]):
            near = abs(cost[i][j]) * bound
            if near > cost[i, 0] or not near <= -0.5:
                out[i, j] -= max(near, cost[i, j], bound)
            else:
                out[i][j] = -near
    return out


def mixed(a, lags, k):
    for i in range(k):
        for j in range(i + 1):
            a[i] = a[i + j] * 0.5 + i * j - lags[-j]
    return a


def tried(function, *arguments):
    try:
        return function(*arguments)
    except (IndexError, TypeError, ValueError) as error:
        return type(error).__name__


def every(xs, ys, out, plate, number):
    new, product, base, odd = plate.copy(), np.zeros((plate.shape[0], plate.shape[0])), xs.copy(), plate * 3 - 1
    if odd.dtype == np.float64:
        odd[odd > 1.8] = np.nan
        odd[odd < -0.8] = -0.0
        odd[(odd > 0.4) & (odd < 0.6)] = np.inf
    return [
        tried(heat, new, plate), tried(heat, plate, plate), tried(products, plate, plate.T, product),
        tried(warped, odd, new), tried(warped, odd, odd.copy().T), tried(warped, plate.T, plate),
        tried(furthest, odd, new, number), tried(furthest, odd, odd, number), tried(furthest, plate, out, number),
        tried(mixed, base, ys, len(base)), tried(mixed, base, ys, 3), tried(mixed, out, base, 2), base,
    ]
'''
PLACES = [f"nest_on_lists(loop 1 in {place})" for place in ("heat", "products", "warped", "furthest", "mixed")]


def test_nests_on_lists_give_the_same_for_arrays_and_anything_else(sandbox: Sandbox) -> None:
    source = text_of("arrays.py") + NESTS
    assert labels("nest_on_lists", source, "python") == PLACES
    candidate = rewritten(source, "nest_on_lists", "python", sites=len(PLACES))
    assert candidate.count(".tolist()\n") == len(PLACES) and candidate.count("def fits(") == 1
    assert labels("nest_on_lists", candidate, "python") == labels("njit_nest", candidate, "python") == []
    found = judged(sandbox, source, candidate)
    assert found.outcome is Outcome.CORRECT, found.feedback.reasons


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("        and not np.may_share_memory(new, old)\n", ""),
        ("        and a.flags.writeable\n", ""),
        ("        finally:\n            a[...] =", "        finally:\n            a[:0] ="),
        ("cost_items, out_items = cost.tolist(), out.tolist()", "cost_items, out_items = cost.tolist(), cost.tolist()"),
        (" and fits(0, 1, (bound,), (), (cost, 2, None, 0, 0), (out, 2, None, 0, 0))", ""),
    ],
    ids=["shared memory", "read-only", "stores before an error", "another array", "the types"],
)
def test_the_judge_sees_what_the_rule_takes_care_of(here: str, there: str, sandbox: Sandbox) -> None:
    source = text_of("arrays.py") + NESTS
    candidate = rewritten(source, "nest_on_lists", "python", sites=len(PLACES)).replace(
        "\n        and fits", " and fits"
    )
    assert candidate.count(here) >= 1
    assert judged(sandbox, source, candidate.replace(here, there)).outcome is Outcome.WRONG


DECLINES = {
    "it divides": NEST.format("a[i, j] = b[j] / c"),
    "a power": NEST.format("a[i, j] = b[j] ** 2"),
    "a call": NEST.format("a[i, j] = c(b[j])"),
    "a key": NEST.format("a[i, j] = min(b[j], c, key=abs)"),
    "a starred argument": NEST.format("a[i, j] = min(*c, b[j])"),
    "a whole number of the text": NEST.format("a[i, j] = 0"),
    "a counter": NEST.format("a[i, j] = i"),
    "the larger of an element and a whole number": NEST.format("a[i, j] = max(b[j], 0)"),
    "a name that holds a whole number": NEST.format("s = 0\n            s += b[j]\n            a[i, j] = s"),
    "nothing is stored": NEST.format("s = a[i, j] + b[j]"),
    "a value from before": NEST.format("c = c + a[i, j]\n            b[j] = c"),
    "an array with and without an index": NEST.format("a[i, j] = b * b[j]"),
    "it ends before": NEST.format("if a[i, j] > c:\n                break\n            a[i, j] = c"),
    "warnings are errors": NEST.format("a[i, j] = b[j]") + "np.seterr(all='raise')\n",
    "an error may be caught": NEST.replace("    for i", "    try:\n     for i")
    .replace("        for", "         for")
    .format("a[i, j] = b[j]\n    except IndexError:\n        pass"),
    "the words of an error are printed": NEST.format("a[i, j] = b[j]")
    + "try:\n    f(np.ones((2, 2)), np.ones(1), 2, 1.0)\nexcept IndexError as error:\n    print(error)\n",
    "threads store to one array": "from concurrent.futures import ThreadPoolExecutor\n" + NEST.format("a[i, j] = b[j]"),
    "a compiler is given the function": "import numba\n" + NEST.format("a[i, j] = b[j]") + "g = numba.njit(f)\n",
    "warnings are counted": NEST.format("a[i, j] = b[j]")
    + "import warnings\nwith warnings.catch_warnings(record=True) "
    "as w:\n    f(np.ones((2, 2)), np.ones(2), 2, 1.0)\nprint(len(w))\n",
    "another min": "min = max\n" + NEST.format("a[i, j] = min(b[j], c)"),
    "one loop": "import numpy as np\ndef f(a, b):\n    for i in range(len(a)):\n        a[i] = a[i] + b[i]\n",
    "no numpy": NEST.partition("\n")[2].format("a[i, j] = b[j]"),
}


@pytest.mark.parametrize("why", DECLINES)
def test_a_nest_stays_on_arrays(why: str) -> None:
    rule = next(row for row in RULES if row.name == "nest_on_lists")
    compile(DECLINES[why], "nest", "exec")
    assert offered(rule, Unit("python", DECLINES[why])) == []
    assert len(offered(rule, Unit("python", NEST.format("a[i, j] = b[j] * c")))) == 1


def test_a_nest_runs_on_lists_where_only_the_type_of_an_error_counts() -> None:
    caught = "try:\n    f(np.ones((2, 2)), np.ones(1), 2, 1.0)\nexcept IndexError as error:\n    print(type(error))\n"
    text = NEST.format("a[i, j] = b[j] * c") + caught
    assert labels("nest_on_lists", text, "python") == ["nest_on_lists(loop 1 in f)"]
    other = Unit("python", text, ("from threading import Thread\n",))
    assert offered(next(row for row in RULES if row.name == "nest_on_lists"), other) == []


def test_why_a_nest_stays_on_arrays_is_said() -> None:
    (told,) = nearest(Unit("python", DECLINES["a power"], ["f"]), [row for row in RULES if row.name == "nest_on_lists"])
    assert told.startswith(
        "f: nest_on_lists does not apply in line 3, because the same in lists are + - *, abs, min and max of numbers"
    )
