"""The rules for Python leave alone what would behave in another way: code that runs later, errors that are caught.

What is only written in an unusual way keeps its output.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.python.filling import comprehension
from tests.support.rewriter_help import labels, rewritten

Runner = Callable[..., str]
NUMPY = "import numpy as np\n"
SUPPRESS = "import contextlib\nwith contextlib.suppress(ZeroDivisionError):\n"
LOOKS = "L = [7]\nxs = [A(), A()]\nL = []\nfor x in xs:\n    L.append(%s)\nprint(L)\n"
DECLINES = {
    "comprehension": {
        "a map of a function looks at the list": "def f(x):\n    return len(L)\nL = [7]\nm = map(f, [1, 2])\nL = []\n"
            "for x in m:\n    L.append(x)\nprint(L)\n",
        "a map in a list looks at the list": "L = [7]\nm = [map(lambda x: len(L), [1, 2])]\nL = []\nfor x in m[0]:\n"
            "    L.append(x)\nprint(L)\n",
        "an operator looks at the list": "class A:\n    def __neg__(self):\n        return len(L)\n" + LOOKS % "-x",
        "an attribute looks at the list": "class A:\n    @property\n    def n(self):\n        return len(L)\n"
            + LOOKS % "x.n",
        "a missing key looks at the list": "from collections import defaultdict\ndef g():\n    return len(L)\n"
            "d = defaultdict(g)\nL = [7]\nL = []\nfor x in range(3):\n    L.append(d[x])\nprint(L)\n",
        "one of two methods of a name calls deep": "class A:\n    def g(self, n):\n        return f(n - 1)\nclass B:\n"
            "    def g(self, n):\n        return 0\ndef f(n):\n    L = []\n    for i in range(n)[:1]:\n"
            "        L.append(A().g(n))\n    return len(L)\nprint(f(300))\n",
        "a manager of a known name keeps the error": "import contextlib\ndef no_grad():\n"
            "    return contextlib.suppress(ZeroDivisionError)\nwith no_grad():\n    L = []\n    for i in (1, 0):\n"
            "        L.append(1 // i)\nprint(L)\n",
        "a join that keeps generators": "class J:\n    def join(self, xs):\n        return xs\nj = J()\nL = []\n"
            "for i in range(3):\n    L.append(j.join(i * x for x in (1, 2)))\ni = 5\n",
        "a hook looks at the list": "import sys\ndef hook(*given):\n    print(len(L))\nsys.excepthook = hook\nL = []\n"
            "for i in range(3):\n    L.append(int(input()))\n",
        "a function looks at the list": "def g():\n    return len(L)\nL = []\nfor i in range(3):\n    L.append(g())\n",
        "a generator looks at the list": "def g():\n    yield len(L)\nL = [1]\nL = []\nfor x in g():\n"
            "    L.append(x)\n",
        "a manager keeps the error": f"{SUPPRESS}    L = []\n    for i in (1, 0):\n        L.append(1 // i)\n"
            "print(L)\n",
        "a group of errors is caught": "try:\n    L = []\n    for i in (1, 0):\n        L.append(1 // i)\n"
            "except* ZeroDivisionError:\n    print(L)\n",
        "a name of a class": "class A:\n    n = 3\n    if n:\n        L = []\n        for i in range(3):\n"
            "            L.append(n + i)\n",
        "a kept function looks at the list after an error": "h = []\ndef f():\n    L = [7]\n    def g():\n"
            "        return L\n    h.append(g)\n    L = []\n    for i in range(3):\n        L.append(int(input()))\n"
            "try:\n    f()\nexcept ValueError:\n    print(h[0]())\n",
        "a function of the turn before looks at the list": "h = []\ndef f():\n    for k in range(2):\n        L = []\n"
            "        for i in range(3):\n            L.append(int(input()))\n        h.append(lambda: L)\n"
            "try:\n    f()\nexcept ValueError:\n    print(h[0]())\n",
        "the depth is appended": "def g(n):\n    try:\n        return g(n + 1)\n    except RecursionError:\n"
            "        return n\nL = []\nfor i in range(2):\n    L.append(g(0))\nprint(L)\n",
        "a generator keeps the variable": "K = []\nfor k in range(2):\n    L = []\n    for i in range(k, k + 2):\n"
            "        L.append((i * x for x in (1, 2)))\n    K = K + L\n",
        "the calls go deep": "def f(n):\n    L = []\n    for i in range(n)[:1]:\n        L.append(f(n - 1))\n"
            "    return len(L)\nprint(f(600))\n",
        "the calls go deep, by turns": "def g(n):\n    return f(n - 1)\ndef f(n):\n    L = []\n"
            "    for i in range(n)[:1]:\n        L.append(g(n))\n    return len(L)\nprint(f(400))\n",
    },
    "set_lookup": {
        "an equality that appends": "class A:\n    def __eq__(self, other):\n        other.append([2])\n"
            "        return True\nM = [1]\nprint(A() == M)\nL = []\nfor y in M:\n    L.append(y)\nprint(1 in L)\n",
        "a search that appends": "class A:\n    def __contains__(self, other):\n        other.append([2])\n"
            "        return True\nM = [1]\nprint(M in A())\nL = []\nfor y in M:\n    L.append(y)\nprint(1 in L)\n",
        "a function runs after the loop": "L = []\nfor i in range(2):\n    def g():\n        L.append(i)\n"
            "i = [1]\ng()\nprint(1 in L)\n",
        "a loop over an element": "x, a = 1, [0]\nfor a[0] in ['p', [1]]:\n    x = a[0]\nL = []\nL.append(x)\n"
            "print(1 in L)\n",
        "a join of its own": "class J:\n    def join(self, xs):\n        xs.append([1])\nM = [1]\nJ().join(M)\nL = []\n"
            "for x in M:\n    L.append(x)\nprint(1 in L)\n",
        "a line goes on": "def f():\n    L = []\n    for x in 'ab':\n        if x == 'b': \\\n        L.append(x)\n"
            "        print(x in L)\nf()\n",
        "a generator searches later": "def f():\n    L = []\n    L.append('a')\n    return L, (y in L for y in 'ac')\n"
            "L, g = f()\nL.append('c')\nprint(*g)\n",
        "errors are caught in groups": "def f():\n    L = []\n    try:\n        L.append(1)\n        return L\n"
            "    except* OSError:\n        pass\n    finally:\n        print(1 in L)\nf()\n",
        "two names of one list": "M = N = [1]\nN.append([2])\nL = []\nfor y in M:\n    L.append(y)\nprint(1 in L)\n",
        "a name in an expression": "M = (N := [1])\nN.append([2])\nL = []\nfor y in M:\n    L.append(y)\n"
            "print(1 in L)\n",
        "parts of what has a name": "K = M, N = [1], [2]\nK[0].append([2])\nL = []\nfor y in M:\n    L.append(y)\n"
            "print(1 in L)\n",
        "a comprehension in a class": "L = []\nL.append(1)\nclass A:\n    L = [5]\n"
            "    y = [L.append(2) for _ in (1,)]\nprint(2 in L)\n",
        "a comprehension over an element": "L = []\nL.append(1)\nK = [0 for L[0] in (7,)]\nprint(7 in L)\n",
        "a name of a class": "L = []\ndef g():\n    return 3\nclass A:\n    L.append(g())\nprint(3 in L)\n",
        "max of lists": "M = [1]\nmax(M, [0]).append([2])\nL = []\nfor y in M:\n    L.append(y)\nprint(1 in L)\n",
        "a sum begins with it": "L = []\nL.append(1)\nsum([], L).append(2)\nprint(2 in L)\n",
        "a text shows the search": "L = []\nL.append(1)\nprint(f'{1 in L=}')\n",
        "all names are told": "L = []\nL.append(1)\nprint(1 in L, dir())\n",
    },
    "set_beside": {
        "a generator searches later": "def f(xs, ys):\n    L = []\n    for x in xs:\n        L.append(x)\n"
            "    return L, (y in L for y in ys)\n",
        "a compiler reads the function": "from numba import njit\n@njit\ndef f(xs):\n    L = []\n    for x in xs:\n"
            "        if x not in L:\n            L.append(x)\n    return L\n",
    },
    "popleft": {
        "a kind of error with a name": "def f():\n    q = [1]\n    q.pop(0)\n    return q.pop(0)\nkinds = IndexError\n"
            "try:\n    f()\nexcept kinds as error:\n    print(error)\n",
        "the error is asked": "import sys\ndef f():\n    q = [1]\n    q.pop(0)\n    return q.pop(0)\ntry:\n    f()\n"
            "except IndexError:\n    print(sys.exc_info()[1])\n",
        "the queue is empty here": "def f():\n    q = []\n    if q:\n        q.append(1)\n    else:\n"
            "        return q.pop(0)\ntry:\n    f()\nexcept IndexError as error:\n    print(error)\n",
        "two in one turn": "def f():\n    q = [1]\n    while q:\n        q.pop(0)\n        q.pop(0)\ntry:\n    f()\n"
            "except IndexError as error:\n    print(error)\n",
        "the caller prints the error": "def f():\n    q = [1]\n    q.pop(0)\n    return q.pop(0)\ntry:\n    f()\n"
            "except IndexError as error:\n    print(error)\n",
    },
    "append_in_place": {
        "a text that says what % is": "class S(str):\n    def __rmod__(self, other):\n        return [1]\n"
            "s = 'a'\nt = 'x' % S()\ns = s + t + 'b'\n",
        "a sum in parentheses": "s = ''\ns = (s + 'a' + 'b')\nprint(s)\n"},
    "memo_table": {
        "a function asks which object it is": "import operator\ndef f(n):\n"
            "    return 999 * n if n < 2 else f(n - 1) + f(n - 2)\nprint(operator.is_(f(9), f(9)))\n",
        "the depth is caught": "def f(n):\n    if n == 0:\n        return 0\n    if n % 2:\n"
            "        return 1 + f(n - 1)\n    return 2 + f(n - 1)\nfor n in (700, 1500):\n    try:\n"
            "        print(f(n))\n    except RecursionError:\n        print('deep')\n",
        "a module is patched": "import math\ndef gcd(a, b):\n    return 1.0\nmath.gcd = gcd\ndef f(n):\n"
            "    return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(1), f(math.gcd(2, 4)))\n",
        "a builtin is patched": "__builtins__.len = lambda x: 2.0\ndef f(n):\n"
            "    return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(2), f(len('ab')))\n",
        "a text of its own": "class S(str):\n    def __eq__(self, other):\n        return True\n"
            "    def __hash__(self):\n        return 1\nclass A:\n    def __init__(self, s):\n        self.s = s\n"
            "    def __str__(self):\n        return S(self.s)\ndef f(s):\n"
            "    return len(s) if len(s) < 2 else f(s[1:]) + f(s[2:])\nprint(f(str(A('abc'))), f(str(A('abcd'))))\n",
        "a sum from a real number": "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n"
            "print(f(2), f(sum([1, 1], start=0.0)))\n",
        "a floor of its own": "import math\nclass A:\n    def __floor__(self):\n        return 2.0\ndef f(n):\n"
            "    return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(2), f(math.floor(A())))\n",
        "which object it is counts": "def f(n):\n    return 999 * n if n < 2 else f(n - 1) + f(n - 2)\n"
            "print(f(9) is f(9))\n",
        "the program imports itself": "import __main__\ndef f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n"
            "print(f(2), __main__.f(2.0))\n",
    },
    "into_function": {
        "the depth is printed": "def f(n):\n    try:\n        return f(n + 1)\n    except RecursionError:\n"
            "        return n\nfor k in range(2):\n    print(f(k))\n",
        "an annotation prints": "for k in range(2):\n    x: print(k) = k\n",
        "any error of a name is printed": "try:\n    print(k)\nexcept Exception as error:\n    print(error)\n"
            "for k in range(3):\n    print(k)\n",
        "the error of a name is printed": "try:\n    print(k)\nexcept NameError as error:\n    print(error)\n"
            "for k in range(3):\n    print(k)\n",
    },
    "read_lines": {
        "bytes are written by another name": "import sys\nout = sys.stdout\nprint('a')\ninput()\n"
            "out.buffer.write(b'b')\n",
        "the module has another name": "import os as o\nprint('a')\ninput()\no._exit(0)\n",
        "it ends without the text": "import os\nprint('a')\ninput()\nos._exit(0)\n",
        "another file writes, too": "f = open(1, 'w', closefd=False)\nprint('a')\ninput()\nf.write('b')\nf.flush()\n",
        "bytes are written, too": "import sys\nprint('a')\ninput()\nsys.stdout.buffer.write(b'b')\n",
        "another program writes, too": "import subprocess\nprint(input())\nsubprocess.run(['echo', input()])\n",
    },
    "write_lines": {
        "parts of lines are counted": "import contextlib\nclass W:\n    def write(self, s):\n        n.append(s)\n"
            "n = []\nwith contextlib.redirect_stdout(W()):\n    print(1, 2)\nprint(len(n))\n",
    },
    "vectorise": {
        "a name with a type alone": f"{NUMPY}c: float\ndef f(xs):\n    s = 0.0\n    for x in xs:\n        s += x * c\n"
            "    return s\nprint(f(np.array([])))\n",
        "the name of an empty loop": f"{NUMPY}for c in []:\n    pass\ndef f(xs):\n    s = 0.0\n    for x in xs:\n"
            "        s += x * c\n    return s\nprint(f(np.array([])))\n",
        "a number that comes later": f"{NUMPY}def f(xs):\n    s = 0.0\n    for x in xs:\n        s += x * c\n"
            "    return s\nprint(f(np.array([])))\nc = np.float64(2)\n",
        "one name twice": f"{NUMPY}def f(xs, ys):\n    s = 0.0\n    for i, i in enumerate(xs):\n        s += ys[i]\n"
            "    return s\n",
        "a manager keeps the error": f"{NUMPY}import contextlib\ndef f(xs, c, d):\n    s, t = 0.0, 0.0\n"
            "    with contextlib.suppress(ZeroDivisionError):\n        for x in xs:\n            s += x\n"
            "            t += x * (c / d)\n    return s, t\n",
    },
    "njit_nest": {
        "a zero without a sign": f"{NUMPY}def f(a, out, m):\n    for i in range(len(a)):\n        s = 0\n"
            "        for j in range(m):\n            s += a[i, j]\n        out[i] = -s\n",
        "an axis too many": f"{NUMPY}def f(a):\n    for i in range(len(a)):\n        for j in range(a.shape[2]):\n"
            "            a[i, j] = a[i, j] + 1.0\n",
    },
}  # fmt: skip
FIB = "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n"
KEPT = [
    ("comprehension", "c = 1\nL = []\nfor x in ([1] if c\n          else [2]):\n    L.append(x)\nprint(L)\n"),
    ("comprehension", "def f():\n    return len(L)\nL = []\nfor _ in range(2):\n"
     "    L.append(list(map(int, input().split())))\nprint(f(), L)\n"),
    ("comprehension", "def f():\n    return len(L)\nL = []\nfor _ in range(2):\n    L.append(sorted(input()))\n"
     "print(f(), L)\n"),
    ("comprehension", "def f(xs):\n    L = []\n    for x in xs:\n        L.append(next(y for y in xs if y >= x))\n"
     "    return L\nprint(f([1, 3, 2]))\n"),
    ("comprehension", "from collections import Counter\ndef f(xs):\n    L = []\n    for x in xs:\n"
     "        L.append(Counter(c.lower() for c in x))\n    return L\nprint(f(['aA', 'b']))\n"),
    ("comprehension", "import contextlib\ndef f(xs):\n    with contextlib.nullcontext():\n        L = []\n"
     "        for x in xs:\n            L.append(x + 1)\n    return L\nprint(f([1, 2]))\n"),
    ("comprehension", "def f(xs):\n    L = []\n    for x in xs:\n        L.append(x % 7)\n"
     "    return sorted(range(len(xs)), key=lambda i: (L[i], i))\nprint(f([9, 3, 8]))\n"),
    ("memo_table", f"{FIB}try:\n    n = int(input())\nexcept Exception:\n    n = 3\nprint(f(n))\n"),
    ("memo_table", "class Odd(Exception):\n    pass\n" + f"{FIB}try:\n    print(f(9))\nexcept Odd:\n    pass\n"),
    ("memo_table", "from enum import Enum\nclass A(str, Enum):\n    B = 'c'\n" + f"{FIB}print(f(9), A.B.value)\n"),
    ("memo_table", f"{FIB}x = f(9)\nif type(x) is int:\n    print(x)\n"),
    ("memo_table", f"{FIB}print(f'f(9)={{f(9)}}')\n"),
    ("popleft", "q = [1]\nwhile len(q) > 0:\n    print(q[0])\n    print(q.pop(0))\ntry:\n    print(1 // 0)\n"
     "except Exception as error:\n    print(error)\n"),
    ("read_lines", "import os\nfrom os import environ\nprint(input(), len(environ) > 999)\n"),
    ("into_function", "for k in range(2):\n    try:\n        n = 1 // k\n        print(n)\n"
     "    except Exception as error:\n        print(error)\n"),
    ("comprehension", "L = []\nfor i in range(3):\n    if i if i else 1:\n        L.append(i)\nprint(L)\n"),
    ("comprehension", "L = []\nfor i in (1, 2), (3, 4):\n    L.append(i)\nprint(L)\n"),
    ("comprehension", "def f():\n    return L\nL = []\nfor _ in range(2):\n    L.append(int(input()))\nprint(f())\n"),
    ("comprehension", "with open('/dev/null') as lines:\n    L = []\n    for line in lines:\n        L.append(line)\n"
     "print(L)\n"),
    ("set_lookup", "def f():\n    L = []\n    L.append(1)\n    print(all(x in L for x in (1, 2)))\n    return L\n"
     "print(f())\n"),
    ("set_lookup", "L = []\nL.append(1)\nn = 2\nprint(f'{n=} n={n + 1} {1 in L} sum={sum(L)}'.replace('=', ':'))\n"),
    ("memo_table", "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(9), f(3) is None)\n"),
    ("popleft", "q = [1]\nwhile q:\n    print(q.pop(0))\ntry:\n    print(1 // 0)\nexcept Exception as error:\n"
     "    print(error)\n"),
    ("write_lines", "import sys\ndef f(sys):\n    print(1)\nf(2)\n"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "why"), [(rule, why) for rule, cases in DECLINES.items() for why in cases])
def test_a_rule_declines(rule: str, why: str) -> None:
    text = DECLINES[rule][why]
    compile(text, "declines", "exec")
    assert labels(rule, text, "python") == []


@pytest.mark.parametrize(
    "other", ["import program\nprint(program.x)\n", "import program\ndef g():\n    return len(program.L)\n"]
)
def test_a_list_is_filled_in_turns_if_other_files_look(other: str) -> None:
    text = "import helper\nL = []\nfor x in range(3):\n    L.append(helper.g())\n"
    assert [*comprehension(Unit("python", text))]
    assert not [*comprehension(Unit("python", text, (other,)))]


@pytest.mark.parametrize(("rule", "text"), KEPT)
def test_what_is_written_in_an_unusual_way_prints_the_same(rule: str, text: str, compile_and_run: Runner) -> None:
    changed = rewritten(text, rule, "python")
    assert changed != text
    assert compile_and_run(changed, "4\n5\n", "python") == compile_and_run(text, "4\n5\n", "python")
