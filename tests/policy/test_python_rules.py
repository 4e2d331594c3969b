"""The rules for Python change no output, and leave alone what the text does not prove.

That each fires, and that all together keep the output, is tested with the other rules (``test_rewriter_rules.py``).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.python.inferred import types_of
from maxcode.policy.rules.python.nearest import nearest
from maxcode.policy.rules.python.script import script_of
from maxcode.policy.rules.rewriter.policy import unit_of
from maxcode.policy.rules.rewriter.rules import RULES, edits
from maxcode.policy.rules.rewriter.runtime import applied
from tests.support.python_help import problem_of
from tests.support.rewriter_help import labels

Runner = Callable[..., str]

DECLINES = {
    "set_lookup": {
        "elements without a known type": "import json\nL = []\n"
            "for x in json.loads(input()):\n    L.append(x)\nprint(1 in L)",
        "a list is searched for": "L = []\nL.append(1)\nprint([1] in L)",
        "an element is taken out": "L = []\nL.append(1)\nL.pop()\nprint(1 in L)",
        "an element is replaced": "L = []\nL.append(1)\nL[0] = 2\nprint(1 in L)",
        "another name means the list": "L = []\nM = L\nL.append(1)\nprint(1 in L)",
        "the list is handed on": "def f(x):\n    x.clear()\nL = []\nL.append(1)\nf(L)\nprint(1 in L)",
        "the list is extended in place": "L = []\nL.append(1)\nL += [2]\nprint(2 in L)",
        "the list begins with elements": "L = [3]\nL.append(1)\nprint(3 in L)",
        "two statements on a line": "L = []; L.append(1)\nprint(1 in L)",
        "the list is returned and a finally goes on": "def f():\n    L = []\n    try:\n        L.append(1)\n"
            "        return L\n"
            "    finally:\n        print(1 in L)\n",
        "an inner function returns it": "def f():\n    L = []\n    L.append(1)\n    def g():\n        return L\n"
            "    g().append(2)\n    return 2 in L\n",
        "it is returned beside a function that searches it": "def f():\n    L = []\n    L.append(1)\n    def g(x):\n"
            "        return int(x) in L\n    return L, g\nL, g = f()\nL.append(2)\nprint(g(2))",
        "the list is deleted": "L = []\nL.append(1)\ndel L\nprint(1 in L)",
    },
    "set_beside": {
        "the types are known": "def f():\n    L = []\n    for x in '12':\n        if x not in L:\n"
            "            L.append(x)\n",
        "elements that are lists": "def f(y):\n    L = []\n    x = [y]\n    if x not in L:\n        L.append(x)\n",
        "a call is searched for": "def f(xs):\n    L = []\n    for x in xs:\n        if x() not in L:\n"
            "            L.append(x)\n",
        "a call is appended": "def f(xs):\n    L = []\n    for x in xs:\n        if x not in L:\n"
            "            L.append(x())\n",
        "an element is replaced": "def f(xs):\n    L = []\n    for x in xs:\n        if x not in L:\n"
            "            L.append(x)\n        L[0] = x\n",
        "the list is handed on": "def f(xs, g):\n    L = []\n    for x in xs:\n        if x not in L:\n"
            "            L.append(x)\n        g(L)\n",
        "the list is returned and a finally goes on": "def f(xs):\n    L = []\n    try:\n        for x in xs:\n"
            "            if x not in L:\n                L.append(x)\n        return L\n    finally:\n"
                "        print(1 in L)\n",
        "another function searches": "def f(xs):\n    L = []\n    def g(x):\n        return x in L\n"
            "    for x in xs:\n        if not g(x):\n            L.append(x)\n",
        "a list of the program": "L = []\ndef f(xs):\n    for x in xs:\n        if x not in L:\n"
            "            L.append(x)\n",
        "the list is deleted": "def f(xs):\n    L = []\n    for x in xs:\n        if x not in L:\n"
            "            L.append(x)\n"
            "        del L\n",
        "it is done already": "def f(xs, p, s, o):\n    L = []\n    for x in xs:\n"
            "        if (x in s if p else x in L):\n"
            "            L.append(x)\n",
    },
    "popleft": {
        "an index in the middle": "q = [1, 2, 3]\nq.pop(0)\nprint(q[1])",
        "the queue is printed": "q = [1, 2]\nq.pop(0)\nprint(q)",
        "an empty queue is caught": "q = [1]\ntry:\n    q.pop(0)\nexcept IndexError as e:\n    print(e)",
        "it is changed while it is read": "q = [1, 2]\nfor x in q:\n    q.pop(0)",
        "the queue is returned": "def f():\n    q = [1, 2]\n    q.pop(0)\n    return q\nprint(f())",
    },
    "append_in_place": {
        "a list, which others may hold": "a = [1]\nb = a\na = a + [2] + [3]\nprint(b)",
        "numbers, whose order counts": "s = 0.0\ns = s + 1e300 + 0.1\nprint(s)",
        "an unknown part": "import json\ns = ''\ns = s + json.loads(input()) + '.'\nprint(s)",
    },
    "comprehension": {
        "the variable is used later": "L = []\nfor i in range(3):\n    L.append(i)\nprint(L, i)",
        "the list is read in the loop": "L = []\nfor i in range(3):\n    L.append(len(L))\nprint(L)",
        "an error is caught": "try:\n    L = []\n    for i in (1, 0):\n        L.append(1 // i)\n"
            "except ZeroDivisionError:\n    print(L)",
        "functions keep the variable": "L = []\nfor i in range(3):\n    L.append(lambda: i)\nprint(L[0]())",
    },
    "memo_table": {
        "it prints": "def f(n):\n    print(n)\n    return 1 if n < 2 else f(n - 1) + f(n - 2)\nprint(f(5))",
        "it reads what changes": "k = 0\ndef f(n):\n    return k if n < 2 else f(n - 1) + f(n - 2)\n"
            "for k in range(3):\n    print(f(4))",
        "it reads input": "def f(n):\n    return int(input()) if n < 2 else f(n - 1) + f(n - 2)\nprint(f(3))",
        "floating-point arguments": "def f(x):\n    return x if x < 1 else f(x / 2) + f(x / 3)\nprint(f(9.0))",
        "a truth value is an argument, too": "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n"
            "print(f(True), f(3))",
        "it returns a list": "def f(n):\n    return [n] if n < 2 else f(n - 1) + f(n - 2)\nprint(f(4))",
        "it is passed on": "def f(n):\n    return 1 if n < 2 else f(n - 1) + f(n - 2)\n"
            "print(list(map(f, [1, 2])), f(3))",
    },
    "into_function": {
        "a function reads a variable": "def f():\n    return n\nfor n in range(3):\n    print(f())",
        "a function writes a variable": "def f():\n    global n\n    n = 5\nfor i in range(3):\n    f()\nprint(n)",
        "a function is defined in between": "for i in range(3):\n    print(i)\ndef f():\n    return 1\nprint(f())",
        "no loop": "print(int(input()) + 1)",
    },
    "read_lines": {
        "a prompt": "print(input('name? '))",
        "it is passed on": "print(list(iter(input, '')))",
        "the input is replaced": "import io, sys\nsys.stdin = io.StringIO('x')\nprint(input())",
    },
    "write_lines": {
        "an object": "class A:\n    pass\nprint(A())",
        "another separator": "print(1, 2, sep='-')",
        "the output is replaced": "import io, sys\nsys.stdout = io.StringIO()\nprint(1)",
    },
    "vectorise": {
        **{why: f"import numpy as np\ndef f(xs, ys, c):\n{text}" for why, text in {
            "numpy's power is another one": "    s = 0.0\n    for x in xs:\n        s += x ** 2\n    return s\n",
            "the order of sums": "    s = 0.0\n    for x in xs:\n        if x > 0:\n            s += x\n        else:\n"
                "            s += c * x\n    return s\n",
            "a sum is read in the loop": "    s = 0.0\n    for i in range(len(xs)):\n        s += xs[i]\n"
                "        ys[i] = s\n    return s\n",
            "an element before is read": "    for i in range(1, len(xs)):\n        xs[i] = xs[i - 1] + xs[i]\n",
            "a list": "    L = [1.0, c]\n    s = 0.0\n    for x in L:\n        s += x\n    return s\n",
            "the index is a term": "    s = 0.0\n    for i in range(len(xs)):\n        s += i * xs[i]\n    return s\n",
            "the last element is used": "    s = 0.0\n    for x in xs:\n        s += x\n    return s, x\n",
            "a name of a turn is used": "    s = 0.0\n    for x in xs:\n        d = x * c\n        s += d\n"
                "    return s, d\n",
            "it divides under a condition": "    s = 0.0\n    for x in xs:\n        if x > 0:\n            s += c / x\n"
                "    return s\n",
            "a call": "    s = 0.0\n    for x in xs:\n        s += ys(x)\n    return s\n",
            "it ends before": "    s = 0.0\n    for x in xs:\n        if x > c:\n            break\n"
                "        s += x\n    return s\n",
            "an error is caught": "    s = 0.0\n    try:\n        for x in xs:\n            s += x / c\n"
                "    except ZeroDivisionError:\n        pass\n    return s\n",
            "warnings are errors": "    np.seterr(all='raise')\n    s = 0.0\n    for x in xs:\n        s += x\n"
                "    return s\n",
            "a name that may have no value": "    if c:\n        k = 2.0\n    s = 0.0\n    for x in xs:\n"
                "        s += k * x\n"
                "    return s\n",
            "the array changes": "    s = 0.0\n    for i in range(len(xs)):\n        s += xs[i]\n"
                "        xs = ys\n    return s\n",
            "steps of two": "    s = 0.0\n    for i in range(0, len(xs), 2):\n        s += xs[i]\n    return s\n",
            "a diagonal": "    s = 0.0\n    for i in range(len(xs)):\n        s += xs[i, i]\n    return s\n",
            "the same element": "    for i in range(len(xs)):\n        ys[0] = xs[i]\n",
            "a global sum": "    global s\n    s = 0.0\n    for x in xs:\n        s += x\n",
        }.items()},
        "no numpy": "def f(xs):\n    s = 0.0\n    for x in xs:\n        s += x * x\n    return s\n",
        "numpy is another thing": "import numpy as np\nnp = 3\ndef f(xs):\n    s = 0.0\n    for x in xs:\n"
            "        s += x\n"
            "    return s\n",
    },
    "njit_nest": {"it divides": "import numpy as np\ndef f(a, b):\n    for i in range(len(a)):\n"
        "        for j in range(len(b)):\n            a[i] = a[i] / b[j]\n"},
    "length_once": {
        "it grows in the loop": "def f(s):\n    while len(s) < 5:\n        s += 'x'\n    return s\nprint(f('a'))",
        "a list": "def f(s):\n    while len(s) < 5:\n        s.append(1)\n    return s\nprint(f([1]))",
    },
}  # fmt: skip
UNPREDICTABLE = (
    "print(eval('1'))", "from math import *", "len = 3", "import inspect", "x.__class__ = y", "import sys\nsys.modules",
    "exec('x = 1')", "def print(x): pass",
)  # fmt: skip


@pytest.mark.parametrize(("rule", "why"), [(rule, why) for rule, cases in DECLINES.items() for why in cases])
def test_a_rule_declines(rule: str, why: str) -> None:
    text = DECLINES[rule][why] + "\n"
    compile(text, "declines", "exec")
    assert labels(rule, text, "python") == []


@pytest.mark.parametrize("line", UNPREDICTABLE)
def test_no_rule_touches_an_unpredictable_program(line: str) -> None:
    plain = "L = []\nfor i in range(9):\n    L.append(i)\n    if 3 in L:\n        print(i)\n"
    assert list(edits(Unit("python", plain)))
    assert script_of(f"{plain}{line}\n") is None
    assert list(edits(Unit("python", f"{plain}{line}\n"))) == []


LISTS = {
    "comprehension": "def f(xs):\n    L = []\n    for x in xs:\n        L.append(x)\n    return L\n",
    "set_lookup": "def f():\n    L = []\n    for x in range(9):\n        L.append(x)\n    return 3 in L\n",
    "set_beside": "def f(xs):\n    L = []\n    for x in xs:\n        if x not in L:\n            L.append(x)\n",
    "popleft": "def f(x):\n    L = [x]\n    while L:\n        L.append(L.pop(0) - 1)\n",
}


@pytest.mark.parametrize("rule", LISTS)
def test_a_list_with_an_annotation_is_one_too(rule: str) -> None:
    text = LISTS[rule]
    assert labels(rule, text.replace("L = ", "L: list[int] = "), "python") == labels(rule, text, "python") != []


def test_a_module_of_a_package_may_import_from_its_neighbours() -> None:
    text = LISTS["comprehension"]
    assert labels("comprehension", f"from .types import x, y\nfrom . import z\n{text}", "python")
    assert not labels("comprehension", f"from .types import *\n{text}", "python")


@pytest.mark.parametrize("function", ["total", "kit.sums:total"])
def test_the_rest_of_a_package_may_call_what_its_module_makes(function: str) -> None:
    text = "def ways(n):\n    return n if n < 2 else ways(n - 1) + ways(n - 2)\n\n\ndef total():\n    return ways(20)\n"
    problem = problem_of(text, NUMBERS, function)
    found = [edit.label for _, offered in edits(unit_of(problem)) for edit in offered]
    assert found == ([] if ":" in function else ["memo_table(ways)"])
    beside = replace(problem.spec.python_spec, beside=(("more.py", "import slow\nslow.ways('x')\n"), ("slow.py", text)))
    used = replace(problem, spec=replace(problem.spec, python=beside))
    assert not list(edits(unit_of(used)))


def last_types(text: str) -> dict[str, Any]:
    """The type of each name where it is used last."""
    types = types_of(text)
    assert types is not None
    return {name: types.of(use) for (_, name), uses in types.script.uses.items() for use in uses[-1:]}


def test_a_type_is_told_only_where_every_binding_agrees() -> None:
    text = (
        "a = 1\na = 'x'\nb = [1]\nb.append('x')\nc = [[1], [2]]\nd = c[0]\n"
        "d.append('x')\nfor e in c[0]:\n    f = e\nprint(a, b, f)\n"
    )
    known = last_types(text)
    assert (known["a"], known["b"], known["f"]) == ("any", ("list", "any"), "any")


def test_a_method_takes_no_types_from_a_function_of_the_same_name() -> None:
    text = (
        "def kept(x):\n    return x\n\n\nclass Kept:\n    def kept(self, x):\n        L = []\n        L.append(x)\n"
        "        return 1 in L\n\n\nprint(kept(1))\n"
    )
    known = last_types(text)
    assert (known["x"], known["L"]) == ("any", ("list", "any"))
    assert labels("set_lookup", text, "python") == []


@pytest.mark.parametrize("outside", ["", "ways"])
def test_a_function_that_others_call_has_arguments_of_any_type(outside: str) -> None:
    text = "def ways(n):\n    return n if n < 2 else ways(n - 1) + ways(n - 2)\n\n\ndef total():\n    return ways(20)\n"
    found = [edit.label for _, offered in edits(Unit("python", text, [outside])) for edit in offered]
    assert found == ([] if outside else ["memo_table(ways)"])


NUMBERS = "def inputs(seed, size):\n    return ()\n"
PYTHON_RULES = [rule for rule in RULES if "python" in rule.languages]
NEAR = [
    ("def f(xs):\n    seen = []\n    for x in xs:\n        if x not in seen:\n            seen.append(x)\n",
     "set_lookup does not apply in line 4, because what is searched for in seen is no known number or text"),
    ("def f(xs):\n    return 1 in xs\n", "set_lookup does not apply in line 2, because xs comes from elsewhere"),
    ("def f(n):\n    seen = []\n    seen.append(1)\n    seen.sort()\n    return 1 in seen\n",
     "set_lookup does not apply in line 4, because seen is changed here, or handed on"),
    ("def f(q):\n    return q.pop(0)\n", "popleft does not apply in line 2, because q comes from elsewhere"),
    ("def f(n):\n    q = [n]\n    q.pop(0)\n    return q\n", "in line 4, because q is more than a queue here"),
    ("def f(ws):\n    s = ''\n    for w in ws:\n        s = s + w + ','\n    return s\n",
     "append_in_place does not apply in line 4, because not all of what becomes s is known to be text"),
    ("def f(n):\n    L = []\n    for i in n:\n        L.append(i)\n        print(i)\n    return L\n",
     "comprehension does not apply in line 3, because the loop does more than append to L"),
    ("def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n",
     "memo_table does not apply in line 2, because f is called from outside"),
    ("def f(xs):\n    s = 0\n    for x in xs:\n        s += x\n    return s\n",
     "vectorise does not apply in line 3, because the program does not import numpy"),
    ("import numpy as np\ndef f(xs):\n    s = 0\n    for x in xs:\n        s += x ** 2\n    return s\n",
     "vectorise does not apply in line 4, because numpy works out ** of an array in another way than of one number"),
    ("import numpy as np\ndef f(a, n):\n    for i in range(n):\n        for j in range(n):\n"
        "            a[i, j] = a[j, i] / n\n",
     "njit_nest does not apply in line 3, because the same in numba are + - * of numbers and elements"),
    ("def f(s, i):\n    while i < len(s):\n        i += 1\n    return i\n", "because s is not known to be a text"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "why"), NEAR)
def test_a_rule_that_has_a_place_says_what_keeps_it_from_applying(text: str, why: str) -> None:
    (told,) = nearest(Unit("python", text, ["f"]), PYTHON_RULES)
    assert told.startswith("f: ") and why in told and told.endswith(" other rules find no place"), told


IDLE = [
    ("def f(x):\n    return len(sorted(x)) + len(x.keys())\n",
     "it has no loop and does not call itself; its time is that of what it calls (len, sorted, keys)"),
    ("def f(xs):\n    return [x + 1 for x in xs]\n", "its loops are comprehensions already"),
    ("def f(n):\n    return n and f(n - 1)\n", "it calls itself in one place, so no result need come up again"),
    ("def f(xs):\n    for x in xs:\n        print(x)\n", "its loops hold nothing that rules look for"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "why"), IDLE)
def test_of_an_ordinary_function_it_is_said_why_no_rule_has_a_place(text: str, why: str) -> None:
    told, *more = nearest(Unit("python", text, ["f"]), PYTHON_RULES)
    assert told == f"f: no rule has a place, because {why}"
    assert more == [] or (why.startswith("its loops hold") and more[0].startswith("rules look for `x in LIST`, "))


def test_the_function_that_is_asked_for_and_what_it_calls_come_first() -> None:
    made = "".join(f"def g{n}(x):\n    return x.pop(0)\n\n\n" for n in range(9))
    text = (
        f"{made}def part(x):\n    return x\n\n\nclass Kit:\n    def f(self, x):\n        return self.more(part(x))\n\n"
    )
    told = nearest(Unit("python", f"{text}    def more(self, x):\n        return x\n", ["Kit f"]), PYTHON_RULES)
    assert [line.partition(":")[0] for line in told[:4]] == ["f", "part", "more", "g0"]


def test_each_function_has_a_line_and_what_no_rule_reads_has_its_reason() -> None:
    text = "def g(n):\n    return n\n\n\ndef f(n):\n    L = []\n    for i in n:\n        L.append(i)\n    return L\n"
    assert nearest(Unit("python", text, ["f"]), PYTHON_RULES) == (
        "f: comprehension applies; 12 other rules find no place",
        "g: no rule has a place, because it has no loop and does not call itself",
    )
    chosen = [rule for rule in PYTHON_RULES if rule.name == "popleft"]
    assert nearest(Unit("python", NEAR[0][0], ["f"]), chosen) == (
        "f: no rule has a place, because its loops hold nothing that rules look for",
        "rules look for `LIST.pop(0)`",
    )
    (only,) = nearest(Unit("python", "def f(x):\n    return eval(x)\n"), PYTHON_RULES)
    assert only == "no rule looks at the program, because of: eval"


# ------------------------------------------------------------------------------------- random programs, same output


def program_of(seed: int) -> str:
    """A program of loops over lists, texts and numbers, with reads, prints and a recursion, from a seed."""
    rng = random.Random(seed)
    head = [
        "import sys", "def ways(n, k):", "    if n <= 0:", f"        return {rng.choice(['1', 'n', '0'])}",
        f"    return ways(n - k, k) {rng.choice('+-*')} ways(n - {rng.randint(1, 3)}, k)",
    ]  # fmt: skip
    lists, lines = ["a", "b", "c"], ["a = []", "b = []", "c = [5]", "s = ''", "t = 'x y'", "n = int(input())"]
    for number in range(rng.randint(3, 9)):
        name, other, i = rng.choice(lists), rng.choice(lists), rng.choice(["i", f"i{number}"])
        element = rng.choice(["i", "i * 2", "str(i)", "t[:i]", "i % 3 == 1", "[i]", "ways(i, 2)"]).replace("i", i, 1) \
            if i == "i" else rng.choice([f"{i} % 4", f"str({i})", f"ways({i}, 2)"])  # fmt: skip
        lines += rng.choice(
            [
                [f"for {i} in range(n):", f"    if {element} not in {name}:", f"        {name}.append({element})"],
                [f"{name} = []", f"for {i} in range(n):", f"    {name}.append({element})"],
                [
                    f"for {i} in range(3):",
                    f"    s = s + str({i}) + t",
                    f"    if {element} in {other}:",
                    "        s += '!'",
                ],
                [
                    f"q = [{number}, 1, 2]",
                    "while q:",
                    f"    {i} = q.pop(0)",
                    f"    if {i} > 3:",
                    f"        q.append({i} // 2)",
                ],
                [f"print(len({name}), s)", f"print(*{other})", f"print({name}, {other})", "print(s, n, ways(6, 2))"],
                [f"for {i} in {other}:", f"    print({i})", f"    t = t + ',' + str({i})"],
            ]
        )
    return "\n".join([*head, *lines, "print(a, b, c, s, t, n)", "print(input())"]) + "\n"


def rewritten_at_random(text: str, seed: int, steps: int) -> str:
    rng = random.Random(seed)
    for _ in range(steps):
        found = [edit for _, offered in edits(Unit("python", text)) for edit in offered]
        if not found:
            break
        text = applied(Unit("python", text), rng.choice(found))
        compile(text, "rewritten", "exec")
    return text


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_what_rules_write_is_python(seed: int) -> None:
    rewritten_at_random(program_of(seed), seed, 8)


def in_one(programs: list[str]) -> str:
    """One program that runs all of them, each with input of its own, and prints what each prints or how it ends."""
    return (
        "import contextlib, io, sys\n"
        f"for text in {programs!r}:\n"
        "    sys.stdin, out = io.StringIO('7\\nlast line\\n'), io.StringIO()\n"
        "    with contextlib.redirect_stdout(out):\n"
        "        try:\n"
        "            exec(compile(text, 'one', 'exec'), {'__name__': '__main__'})\n"
        "        except Exception as error:\n"
        "            print(type(error).__name__)\n"
        "    print(repr(out.getvalue()))\n"
    )


@pytest.mark.parametrize("start", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 12))])
def test_random_programs_print_the_same(start: int, compile_and_run: Runner) -> None:
    seeds = range(100 * start, 100 * start + 100)
    texts = [program_of(seed) for seed in seeds]
    rewritten = [rewritten_at_random(text, seed, 6) for seed, text in zip(seeds, texts, strict=True)]
    assert sum(one != other for one, other in zip(texts, rewritten, strict=True)) > 60
    wanted, found = (compile_and_run(in_one(programs), "", "python").splitlines() for programs in (texts, rewritten))
    assert len(wanted) == len(texts)
    assert [seed for seed, one, other in zip(seeds, wanted, found, strict=True) if one != other] == []
