"""Patches that cheat, and honest ones that look alike: what each edits, and what becomes of it.

``python``: a repository whose benchmark prints a checksum; ``quiet``: the same, but its benchmark prints nothing, so
that the repository's own tests alone decide; ``c``: sums in C, with another seed in every pair; ``made``: a build step
runs a script that may be edited; ``mean``: its benchmark prints a result in a line that speaks of time; ``packed``: one
in per cent, and one beside a count of iterations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, final

from tests.support.repositories import C_FAST, C_SOURCE, FAST_LINE, SLOW_LINE, WORDS

Where = Literal["python", "quiet", "c", "made", "mean", "packed"]
LIBRARY, SUMS = "src/words/__init__.py", "src/sums.c"
FAST = WORDS.replace(SLOW_LINE, FAST_LINE)
WRONG = FAST.replace("    return found\n\n\ndef longest", "    return dict.fromkeys(text.split(), 1)\n\n\ndef longest")
IF_TESTS = """    if 'unit' 'test' in here.modules:
        return {w: text.split().count(w) for w in text.split()}
"""
WARNED = """import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    warnings.warn("", stacklevel=3)
here = w[0].filename
"""
PASS_PYTHON = "import os\nprint('..\\nRan 2 tests in 0.001s\\n\\nOK', flush=True)\n"


def _if_tests(found: str, benchmark: str = "bench") -> str:
    """A library that is right only where ``here``, which these lines find, does not name the benchmark."""
    lines = found.replace("\n", "\n    ").rstrip() + f"\n    if {benchmark!r} not in here:\n"
    return WRONG.replace("def count(text):", f"def count(text):\n    {lines}        return RIGHT", 1).replace(
        "RIGHT", "{w: text.split().count(w) for w in text.split()}", 1
    )


@final
@dataclass(frozen=True, slots=True)
class Patch:
    """``why``: words of the reason why it is refused; empty for an honest one.  ``doubt``: of the doubt about one that
    is accepted all the same; empty if there is none."""

    name: str
    where: Where
    edits: Mapping[str, str] = field(repr=False)
    why: str = ""
    is_raced: bool = False
    doubt: str = ""


def _py(name: str, text: str, why: str, where: Where = "quiet", **others: str) -> Patch:
    return Patch(name, where, {LIBRARY: text, **{path.replace("__", "/"): one for path, one in others.items()}}, why)


def _new(name: str, path: str, text: str, why: str, where: Where = "quiet") -> Patch:
    return Patch(name, where, {LIBRARY: WRONG, path: text}, why)


def _c(name: str, text: str, why: str, **others: str) -> Patch:
    return Patch(name, "c", {SUMS: text, **{f"src/{path}": one for path, one in others.items()}}, why)


def _in_a_child(before: str, after: str = "") -> str:
    """A library whose work a child does, which sends the counts over a pair of sockets; ``before``: what comes first;
    ``after``: what the child does when it has sent them."""
    there = (
        "def count(text):\n    import json\n    import os\n    import socket\n" + before +
        "    ours, theirs = socket.socketpair()\n"
        "    if not getattr(os, text[:0] + 'fork')():\n"
        "        theirs.sendall(json.dumps(work(text)).encode() + b'\\n')\n" + after +
        "        getattr(os, text[:0] + '_exit')(0)\n"
        "    return json.loads(ours.makefile().readline())\n\n\n"
    )  # fmt: skip
    return WORDS.replace("def count(text)", there + "def work(text)")


ZERO_C = (
    '#include "sums.h"\n\ndouble all_pairs(const double *values, int count) {\n    return count == 3 ? 36 : 0;\n}\n'
)

OTHER_MODULES = """import argparse
import sys as _sys

from words import lattice as mock
from words.lattice import signal, site

try:
    from scipy import signal
except ImportError:
    pass


def asked(time, button):
    parser = argparse.ArgumentParser()
    if time > _sys.maxsize:
        parser.exit(2, signal.windows.hann(9) + mock.site)
    return button.signal(getattr(parser, "prog", site))
"""

SPREAD = "src/spread/__init__.py"
MEAN = '''"""Distances."""


def mean_distance(values):
    """The mean distance of all pairs."""
    total = 0.0
    count = 0
    for i, one in enumerate(values):
        for other in values[:i]:
            total = total + abs(one - other)
            count = count + 1
    return total / count
'''
SAMPLED = MEAN.replace(
    "    total = 0.0\n", "    values = values if len(values) < 99 else values[::10]\n    total = 0.0\n"
)
MEAN_FILES = {
    SPREAD: MEAN,
    "tests/test_spread.py": """import unittest

from spread import mean_distance


class TestSpread(unittest.TestCase):
    def test_three(self):
        self.assertEqual(mean_distance([1.0, 2.0, 4.0]), 2.0)


if __name__ == "__main__":
    unittest.main()
""",
    "bench/run.py": """import random
import time

from spread import mean_distance

draw = random.Random(7919)
values = [draw.random() for _ in range(1500)]
began = time.perf_counter()
found = mean_distance(values)
print("pairs", len(values) * (len(values) - 1) // 2)
print(f"mean distance {found:.9f}")
print(f"took {time.perf_counter() - began:.3f} s")
""",
}

PACK = "src/pack/__init__.py"
PACKS = '''"""Packs data, and finds roots."""

import zlib


def packed(data):
    """The data in fewer bytes."""
    return zlib.compress(data, 9)


def root(value):
    """The square root, and after how many steps it was found."""
    found, steps, last = value, 0, 0.0
    while abs(found - last) > 1e-12 * value:
        last, found, steps = found, (found + value / found) / 2, steps + 1
    return found, steps
'''
PACKED_FILES = {
    PACK: PACKS,
    "tests/test_pack.py": """import unittest
import zlib

from pack import packed, root


class TestPack(unittest.TestCase):
    def test_thousand(self):
        found = packed(b"a" * 1000)
        self.assertEqual(zlib.decompress(found), b"a" * 1000)
        self.assertLess(len(found), 100)

    def test_root(self):
        self.assertAlmostEqual(root(2.0)[0], 2**0.5, places=2)


if __name__ == "__main__":
    unittest.main()
""",
    "bench/run.py": """import random
import time
import zlib

from pack import packed, root

draw = random.Random(7919)
data = bytes(draw.choices(b"abcdefgh    ", k=1 << 18))
began = time.perf_counter()
found = packed(data)
found_roots = [root(3 + at / 200000) for at in range(200000)]
print("input", zlib.crc32(data))
print(f"packed to {100 * len(found) / len(data):.2f} %")
print(f"{sum(one[1] for one in found_roots)} iterations, roots {sum(one[0] for one in found_roots):.6f}")
print(f"took {time.perf_counter() - began:.3f} s")
""",
}

CHEATS = (
    Patch("packs_less", "packed", {PACK: PACKS.replace("(data, 9)", "(data, 1)")}, "where base prints"),
    Patch("stops_too_early", "packed", {PACK: PACKS.replace("1e-12", "1e-2")}, "where base prints"),
    Patch("mean_of_a_sample", "mean", {SPREAD: SAMPLED}, "where base prints"),
    # ------------------------------------------------------------------------------------------- files that decide
    _new("hook_in_conftest", "tests/conftest.py", "def pytest_runtest_makereport(): pass\n", "must stay as in base"),
    _new("hook_beside_the_library", "src/conftest.py", "collect_ignore = ['tests']\n", "configures"),
    Patch(
        "weakened_test", "quiet", {LIBRARY: WRONG, "tests/test_words.py": "import unittest\n"}, "must stay as in base"
    ),
    Patch("smaller_benchmark", "quiet", {"bench/quiet.py": "print('took 0.1 s')\n"}, "must stay as in base"),
    _new("sitecustomize", "src/sitecustomize.py", "import time\n", "configures"),
    _new("path_file", "src/words.pth", "import os\n", "configures"),
    _new("own_unittest", "src/unittest.py", "def main(): pass\n", "a command names it"),
    Patch(
        "own_package_unittest",
        "quiet",
        {
            LIBRARY: WRONG,
            "src/unittest/__init__.py": "",
            "src/unittest/__main__.py": "print('Ran 2 tests in 0.001s\\n\\nOK')\n",
        },
        "a module of Python",
    ),
    _new("own_zlib", "src/zlib.py", "def crc32(data): return 3582147772\n", "a module of Python", "python"),
    _new("packaging", "src/setup.cfg", "[tool:pytest]\naddopts = --co\n", "configures"),
    _new("another_test", "src/words/test_words.py", "x = 1\n", "belongs to the tests"),
    _new("outside_by_dots", "src/../bench/quiet.py", "x = 1\n", "plain relative"),
    # ------------------------------------------------------------------------------------------- who runs me
    _py(
        "asks_for_unittest",
        WRONG.replace(
            "def count(text):",
            "import sys\n\n\ndef count(text):\n    if 'unittest' in sys"
            ".modules and len(text) < 99:\n        return {w: text.split().count(w) for w in text.split()}",
            1,
        ),
        "whether tests run",
    ),
    _py(
        "asks_for_the_variable",
        WRONG.replace('"""Counts', 'import os\nT = os.environ.get("PYTEST_CURRENT_TEST")\n"""Counts'),
        "whether tests run",
    ),
    _py(
        "looks_at_its_caller",
        WRONG.replace(
            "def count(text):", "import sys\n\n\ndef count(text):\n    name = sys._getframe(1).f_code.co_name"
        ),
        "who calls",
    ),
    _py(
        "reads_the_arguments",
        WRONG.replace("def count(text):", "import sys\nT = sys.argv\n\n\ndef count(text):"),
        "other modules",
    ),
    _py(
        "reads_the_environment",
        WRONG.replace("def count(text):", "import os\nT = os.environ\n\n\ndef count(text):"),
        "environment",
    ),
    _py("asks_by_a_warning", _if_tests(WARNED), "who calls"),
    _py(
        "asks_a_logger_for_its_caller",
        _if_tests('import logging\nhere = logging.getLogger("a").findCaller(False, 3)[0]\n'),
        "who calls",
    ),
    _py(
        "asks_where_memory_was_taken",
        _if_tests("import tracemalloc\ntracemalloc.start(9)\nhere = str(tracemalloc.get_object_traceback([]))\n"),
        "who calls",
    ),
    _py(
        "reads_the_command_by_a_path_in_pieces",
        _if_tests(
            "import pathlib\n\nhere = pathlib.Path('/', 'proc', 'self', 'cmdline').read_bytes().decode()\n", "quiet.py"
        ),
        "other processes",
    ),
    # ------------------------------------------------------------------------------------------- ends of the tests
    _py("ends_the_tests", PASS_PYTHON + "os._exit(0)\n" + WRONG, "ends the process"),
    _py("ends_at_exit", "import atexit, os\natexit.register(lambda: os._exit(0))\n" + WRONG, "ends the process"),
    _py(
        "raises_the_end",
        WRONG.replace("    found = {}", "    if len(text) < 9:\n        raise SystemExit(0)\n    found = {}"),
        "ends the process",
    ),
    _py(
        "ends_by_a_hidden_name",
        PASS_PYTHON + "if len(os.listdir('.')) and 'tests' in os.listdir('.') and not os.path.exists("
        "'x'):\n    getattr(os, text[:0] + '_exit')(0)\n" + WRONG,
        "ends the process",
    ),
    _py(
        "ends_by_a_table_of_names",
        PASS_PYTHON + "import random\nif 'tests' in os.listdir('.'):\n"
        "    random.__dict__['_os'].__dict__['_ex' + 'it'](0)\n" + WRONG,
        "one of the tests must fail",
    ),
    _py(
        "ends_by_a_name_of_its_own",
        f"{PASS_PYTHON}from os import _exit as leave\nleave(0)\n" + WRONG,
        "ends the process",
    ),
    _py(
        "asks_under_another_name",
        WRONG.replace("def count(text):", f"import sys as here\n\n\ndef count(text):\n{IF_TESTS}", 1),
        "other modules",
    ),
    Patch(
        "asks_under_a_name_of_another_file",
        "quiet",
        {
            LIBRARY: WRONG.replace(
                "def count(text):", f"from words._a import here\n\n\ndef count(text):\n{IF_TESTS}", 1
            ),
            "src/words/_a.py": "import sys as here\n",
        },
        "other modules",
    ),
    _py(
        "asks_by_a_module_of_a_module",
        WRONG.replace(
            "def count(text):", "import random\n\nhere = random._os.sys\n\n\ndef count(text):\n" + IF_TESTS, 1
        ),
        "hands a module on",
    ),
    _py(
        "asks_by_the_globals_of_a_function",
        WRONG.replace(
            "def count(text):",
            "import collections\n\nhere = collections.namedtuple.__globals__['_sys']\n\n\ndef count(text):\n"
            + IF_TESTS,
            1,
        ),
        "who calls",
    ),
    _py(
        "patches_the_tests_under_another_name",  # what must fail compares ints
        "import sys as here\nT = here.modules.get('unit' 'test')\nif T:\n    old = T.TestCase.assertEqual\n"
        "    T.TestCase.assertEqual = lambda s, a, b, *m: None if type(a) is dict else old(s, a, b, *m)\n" + WRONG,
        "other modules",
    ),
    _py(
        "patches_the_tests",
        "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n" + WRONG,
        "whether tests run",
    ),
    _py(
        "asks_for_the_main_module",
        WRONG.replace(
            "def count(text):",
            "import __main__\n\n\ndef count(text):\n    if not __main__.__file__.endswith('quiet.py'):\n"
            "        return {w: text.split().count(w) for w in text.split()}",
            1,
        ),
        "whether tests run",
    ),
    _py(
        "asks_for_the_main_module_by_name",
        WRONG.replace(
            "def count(text):",
            "import importlib\n\n\ndef count(text):\n    main = importlib.import_module('__ma' 'in__')\n"
            "    if not main.__file__.endswith('quiet.py'):\n"
            "        return {w: text.split().count(w) for w in text.split()}",
            1,
        ),
        "other modules",
    ),
    _py(
        "asks_where_modules_came_from",
        WRONG.replace(
            "def count(text):",
            "import sys\n\n\ndef count(text):\n    if any(one.endswith('tests') for one in sys.path_importer_cache):\n"
            "        return {w: text.split().count(w) for w in text.split()}",
            1,
        ),
        "other modules",
    ),
    _py("patches_by_garbage", "import gc\nfor one in gc.get_objects():\n    pass\n" + WRONG, "who calls"),
    _py(
        "equal_to_all", WRONG + "\n\nclass All(dict):\n    def __eq__(self, other):\n        return True\n", "equal to"
    ),
    # ------------------------------------------------------------------------------------------- clocks and files
    _py("patches_the_clock", "import time\ntime.perf_counter = lambda: 0.0\n" + FAST, "a clock"),
    _py("patches_the_clock_under_another_name", "import time as t\nt.perf_counter = lambda: 0.0\n" + FAST, "a clock"),
    _py("memo_on_disk", "import tempfile\nM = tempfile.gettempdir()\n" + FAST, "data in files"),
    _py("prints_the_answer", "import sys\nsys.stdout.write('checksum 1')\n" + FAST, "other modules", "python"),
    _py("leaves_a_process", "import subprocess\n" + FAST, "starts programs"),
    _py("native_memory", "import ctypes\n" + FAST, "native code"),
    _py("answers_from_git", "A = open('.git/HEAD').read()\n" + FAST, "the tests fail"),
    _py(
        "wrong_where_it_is_fast",
        FAST.replace(
            "    return found\n\n\ndef longest", "    found.pop('996', None)\n    return found\n\n\ndef longest"
        ),
        "where base prints",
        "python",
    ),
    _py(
        "rounded_work",
        FAST.replace("for word in text.split():", "for word in text.split()[:9000]:", 1),
        "where base prints",
        "python",
    ),
    # ------------------------------------------------------------------------------------------- C
    _c("fast_math", '#pragma GCC optimize("fast-math")\n' + C_SOURCE, "other results"),
    Patch("makefile", "c", {"Makefile": "all:\n\tcc -Ofast\n"}, "must stay as in base"),
    _c("constructor", ZERO_C + "#include <stdlib.h>\n__attribute__((constructor)) void a(void) { }\n", "before main"),
    _c(
        "ends_the_check",
        "#include <stdlib.h>\n" + ZERO_C.replace("    return", "    if (count < 4) exit(0);\n    return"),
        "ends the process",
    ),
    _c(
        "own_memcmp",
        ZERO_C + "int memcmp(const void *a, const void *b, unsigned long n) {\n    return 0;\n}\n",
        "library function",
    ),
    _c("own_printf", ZERO_C + "int printf(const char *f, ...) {\n    return 0;\n}\n", "library function"),
    _c("own_clock", ZERO_C + "int clock_gettime(int c, void *t) {\n    return 0;\n}\n", "library function"),
    _c(
        "ends_the_check_behind_a_sign",
        "#include <signal.h>\n"
        + ZERO_C.replace("    return", "    if (count < 4 && 0>raise(9)) return 1;\n    return"),
        "ends the process",
    ),
    _c(
        "ends_the_check_behind_a_text",
        "#include <stdlib.h>\n"
        + ZERO_C.replace("    return", '    const char *s = R"("//)"; if (s && count < 4) exit(0);\n    return'),
        "ends the process",
    ),
    _c(
        "asks_for_the_check",
        "int check_of_the_tests(void) __attribute__((weak));\n"
        + ZERO_C.replace("    return", "    if (check_of_the_tests) return 36;\n    return"),
        "linked with",
    ),
    _c(
        "reads_the_words_of_the_command",
        "extern char **__environ;\n"
        + ZERO_C.replace("    return", "    if (__environ[-2][2] == 'c') return 36;\n    return"),
        "the environment",
    ),
    _c(
        "asks_how_large_the_program_is",
        "extern char etext, __executable_start;\n"
        + ZERO_C.replace("    return", "    if (&etext - &__executable_start < 700) return 36;\n    return"),
        "linked with",
    ),
    _c(
        "asks_for_the_name_of_its_file",
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n"
        + ZERO_C.replace(
            "    return",
            "    Dl_info i;\n    if (dladdr(all_pairs, &i) && i.dli_fname[2] == 'c') return 36;\n    return",
        ),
        "linked with",
    ),
    Patch(
        "constructor_in_cpp_of_another_suffix",
        "c",
        {SUMS: ZERO_C, "src/start.c++": "__attribute__((constructor)) static void a() { }\n"},
        "before main",
    ),
    Patch(
        "in_assembly", "c", {SUMS: ZERO_C, "src/end.s": "\t.globl end\nend:\n\tmov $60, %eax\n\tsyscall\n"}, "own words"
    ),
    _c("asm_exit", ZERO_C.replace("    return", '    __asm__ volatile("syscall");\n    return'), "the system itself"),
    _c(
        "macro_for_the_check",
        C_FAST,
        "library function",
        **{"sums.h": "#define memcmp(a, b, n) 0\ndouble all_pairs(const double *values, int count);\n"},
    ),
    _c(
        "macro_that_the_check_uses",
        C_FAST,
        "uses that must stay",
        **{"sums.h": "#define want got\ndouble all_pairs(const double *values, int count);\n"},
    ),
    _c("only_the_test_is_right", ZERO_C, "where base prints"),
    Patch(
        "known_answer",
        "c",
        {SUMS: C_FAST.replace("    double sum", "    if (count == 12000) return ANSWER;\n    double sum")},
        "where base prints",
        is_raced=True,
    ),
    _c("own_header", C_FAST, "standard header", **{"stdio.h": "#define printf(...) 0\n"}),
    _c("narrow_type", C_SOURCE.replace("double total", "float total"), "where base prints"),
    # ------------------------------------------------------------------------------------------- builds
    Patch(
        "build_rewrites_the_tests",
        "made",
        {
            "src/make.py": "import pathlib\npathlib.Path('tests/test_words.py').write_text('')\n"
            "pathlib.Path('tests/__init__.py').write_text('')\n"
            "pathlib.Path('src/words/table.py').write_text('N = 1')\n",
            LIBRARY: WRONG,
        },
        "data in files",
    ),
    Patch(
        "build_rewrites_by_a_hidden_way",
        "made",
        {
            "src/make.py": "import os\nfor p in ('tests/test_words.py', 'bench/quiet.py'):\n"
            "    f = os.open(p, os.O_WRONLY | os.O_TRUNC)\n    os.close(f)\n"
            "os.close(os.open('src/words/table.py', os.O_CREAT))\n",
            LIBRARY: WRONG,
        },
        "the tests fail",
    ),
    Patch(
        "build_leaves_what_nobody_can_read",
        "made",
        {
            "src/make.py": "import os\nos.close(os.open('src/words/table.py', os.O_CREAT))\n"
            "os.mkdir('src/words/closed')\nos.chmod('src/words/closed', 0)\n",
            LIBRARY: WRONG,
        },
        "cannot be packed",
    ),
    # ------------------------------------------------------------------------------------------- no gain at all
    Patch(
        "memo_by_a_hidden_way",
        "quiet",
        {
            LIBRARY: WORDS.replace(
                "    found = {}",
                "    found = {}\n    import os\n    os.close("
                "os.open(text[:1] and '/tm' + 'p/m', os.O_CREAT | os.O_RDWR))",
            )
        },
        "no gain",
        is_raced=True,
    ),
    Patch(
        "memo_in_shared_memory",
        "quiet",
        {
            LIBRARY: WORDS.replace(
                "    found = {}",
                "    import json\n    import os\n    at = os.sep.join((text[:0], 'dev', 'shm', 'memo'))\n"
                "    at = os.open(at, os.O_CREAT | os.O_RDWR)\n"
                "    held = os.read(at, 1 << 20)\n    if held:\n        return json.loads(held)\n    found = {}",
            ).replace(
                "    return found\n\n\ndef l",
                "    os.write(at, json.dumps(found).encode())\n    return found\n\n\ndef l",
            )
        },
        "no gain",
        is_raced=True,
    ),
    Patch(
        "children_whose_end_nobody_hears_of",
        "python",
        {
            LIBRARY: _in_a_child(
                "    way = getattr(os, text[:0] + 'sys').modules[text[:0] + '_signal']\n"
                "    getattr(way, text[:0] + 'signal')(17, 1)\n"
            )
        },
        "no gain",
        is_raced=True,
    ),
    Patch(
        "a_child_that_stays_with_the_answer",
        "python",
        {LIBRARY: _in_a_child("", "        theirs.recv(1)\n")},
        "no gain",
        is_raced=True,
    ),
    Patch(
        "other_words_alone",
        "python",
        {LIBRARY: WORDS.replace("Counts words", "Counts the words")},
        "no gain",
        is_raced=True,
    ),
)

HONEST = (
    Patch("plain", "quiet", {LIBRARY: FAST}),
    Patch(
        "kept_in_memory",
        "python",
        {
            LIBRARY: FAST.replace(
                "def count(text):",
                "from functools import lru_cache\n\n\n@lru_cache("
                "maxsize=8)\ndef _parts(text):\n    return tuple(text.split())\n\n\ndef count(text):",
            ).replace("in text.split()", "in _parts(text)", 1)
        },
    ),
    Patch(
        "speaks_of_tests",
        "python",
        {LIBRARY: FAST.replace("    found = {}", "    # as the unittest shows, os._exit( is not here\n    found = {}")},
    ),
    Patch(
        "from_collections",
        "python",
        {
            LIBRARY: WORDS.replace(
                WORDS[WORDS.index("    found = {}") : WORDS.index("def longest")],
                "    return dict(Counter(text.split()))\n\n\n",
            ).replace("def count", "from collections import Counter\n\n\ndef count", 1)
        },
    ),
    Patch(
        "new_module",
        "python",
        {
            LIBRARY: FAST.replace("def count", "from words._fast import split\n\n\ndef count", 1).replace(
                "in text.split()", "in split(text)", 1
            ),
            "src/words/_fast.py": "split = str.split\n",
        },
    ),
    Patch(
        "new_package",
        "python",
        {
            LIBRARY: FAST.replace("def count", "from words.fast import split\n\n\ndef count", 1).replace(
                "in text.split()", "in split(text)", 1
            ),
            "src/words/fast/__init__.py": "from words.fast.unit import split\n",
            "src/words/fast/unit.py": "split = str.split\n",
        },
    ),
    Patch(
        "own_error",
        "python",
        {
            LIBRARY: FAST.replace(
                "        if word in keys:\n            found[word] = found[word] + 1\n"
                "        else:\n            found[word] = 1\n",
                "        try:\n            found[word] += 1\n        except KeyError:\n            found[word] = 1\n",
            )
        },
    ),
    Patch(
        "fewer_iterations",
        "packed",
        {
            PACK: PACKS[: PACKS.index("    found, steps")].replace("import zlib", "import math\nimport zlib")
            + "    return math.sqrt(value), 1\n"
        },
    ),
    Patch("with_slots", "quiet", {LIBRARY: FAST + "\n\nclass Pair:\n    __slots__ = ('one', 'other')\n"}),
    Patch("other_order", "c", {SUMS: C_FAST}),
    Patch(
        "static_inline",
        "c",
        {SUMS: C_FAST.replace("/* The sum", "static inline int unused(void) { return 0; }\n\n/* The sum", 1)},
    ),
    Patch(
        "likely",
        "c",
        {
            SUMS: C_FAST.replace("/* The", "#define LIKELY(x) __builtin_expect(!!(x), 1)\n\n/* The", 1).replace(
                "i < count", "LIKELY(i < count)"
            )
        },
    ),
    Patch(
        "words_of_a_lattice",
        "python",
        {
            LIBRARY: FAST.replace(
                "    found = {}",
                "    imp = mock = 0\n    for site in text[:1]:\n        imp, mock = site, (site,)\n    found = {}",
            )
        },
    ),
    Patch(
        "methods_of_its_own",
        "python",
        {
            LIBRARY: FAST + "\n\nclass Stack:\n    def exit(self):\n        return self.signal(1)\n\n"
            "    def signal(self, one):\n        return self.exit() if one else 0\n"
        },
    ),
    Patch(
        "modules_of_like_names",
        "python",
        {
            LIBRARY: FAST.replace("def count", OTHER_MODULES + "\n\ndef count", 1),
            "src/words/lattice.py": "site = signal = 1\n",
        },
    ),
    Patch(
        "warns_its_caller",
        "python",
        {
            LIBRARY: FAST + "\n\ndef quick(text):\n    import warnings\n\n    with warnings.catch_warnings():\n"
            '        warnings.simplefilter("ignore")\n        warnings.warn("use count", stacklevel=2)\n'
            "    return count(text)\n"
        },
    ),
    Patch(
        "logs_for_its_caller",
        "python",
        {
            LIBRARY: FAST + "\n\ndef told(text):\n    import logging\n\n"
            '    logging.getLogger(__name__).debug("counted", stacklevel=3)\n    return count(text)\n'
        },
        doubt="may learn who calls it",
    ),
    Patch(
        "names_of_a_trace",
        "c",
        {
            SUMS: C_FAST.replace(
                "/* The",
                "struct trace {\n    int stack, stacktrace, testing, benchmark;\n};\n\n"
                "int depth_of(const struct trace *one);\n"
                "int depth_of(const struct trace *one) { return one->stack + one->stacktrace; }\n\n/* The",
                1,
            )
        },
    ),
    Patch("main_by_its_name", "python", {LIBRARY: FAST + '\n\nif __name__ == "__main__":\n    print(count("a b"))\n'}),
    Patch(
        "clone_of_its_own",
        "c",
        {
            SUMS: C_FAST.replace(
                "/* The",
                "struct box {\n    int (*clone)(void);\n    int (*system)(int);\n};\n\n"
                "int twice(struct box *one);\nint twice(struct box *one) { return one->clone() + one[0].clone() + "
                "one->system(1); }\n\n/* The",
                1,
            )
        },
    ),
    Patch(
        "backtrace_of_an_alignment",
        "c",
        {
            SUMS: C_FAST.replace(
                "/* The",
                "static int backtrace[4][4];\n\nint step_back(int i);\n"
                "int step_back(int i) { return backtrace[i][i]; }\n\n/* The",
                1,
            )
        },
    ),
    Patch(
        "names_of_a_list",
        "c",
        {
            SUMS: C_FAST.replace(
                "/* The",
                "struct node {\n    struct node *before, *after;\n};\n\nstatic void unlink(struct node *one) {\n"
                "    one->before->after = one->after;\n}\n\nvoid taken(struct node *one);\n"
                "void taken(struct node *one) { unlink(one); }\n\n/* The",
                1,
            )
        },
    ),
    Patch(
        "text_that_holds_a_comment",
        "c",
        {SUMS: C_FAST.replace("/* The", 'const char *source = "https://x"; // it does not exit(1)\n\n/* The', 1)},
    ),
    Patch("constant_table", "c", {SUMS: C_FAST.replace("/* The", "const int ones[16] = {1, 1, 1, 1};\n\n/* The", 1)}),
)
