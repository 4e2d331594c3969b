"""The words of a patch: which are refused or doubted however they are spelled, and which look like them."""

from __future__ import annotations

import time

import pytest

from maxcode.core.types import Program
from maxcode.evaluate.repo.barred import barred, doubtful, redefined

PYTHON, C, RUST, GO, SCRIPT = "src/words.py", "src/sums.c", "src/lib.rs", "words.go", "src/words.js"
HERE = {"src/a.py": "import sys as here, os as there\n"}


def said(text: str, path: str = PYTHON, **others: str) -> tuple[str, ...]:
    """What is said of a patch that adds a file; ``others``: it adds these as well."""
    base = Program({"src/old.py": "x = 1\n"})
    candidate = Program({**base.files, path: text, **{name.replace("__", "/"): one for name, one in others.items()}})
    return (*barred(base, candidate), *doubtful(base, candidate))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import sys as here\nprint(here.modules)\n", "changes other modules"),
        ("from sys import modules as m\n", "changes other modules"),
        ("from sys import *\n", "changes other modules"),
        ("import sys\nfound = sys.path_importer_cache\n", "changes other modules"),
        ("from sys import stdin as s\nfound = type(s)\n", "changes other modules"),
        ("import sys\nfound = sys.ps1\n", "changes other modules"),
        ("import collections\nfound = collections._sys._git\n", "changes other modules"),
        ("class A:\n    import sys as s\n\n\nfound = A.s.path_importer_cache\n", "changes other modules"),
        ("import logging\nfound = logging.root.handlers\n", "changes other modules"),
        ("from warnings import filters\n", "changes other modules"),
        ("import sys\nprint(getattr(sys, 'mod' 'ules'))\n", "`sys.modules`"),
        ("import sys\nprint(getattr(sys, 'mod' + 'ules', None))\n", "`sys.modules`"),
        ("import sys\nprint(getattr(sys, ''.join(['mod', 'ules'])))\n", "a name that is made"),
        ("import sys\nhere = sys\n", "hands a module on"),
        ("import sys\n\n\ndef f(one=sys):\n    return one.modules\n", "hands a module on"),
        ("import sys\nfound = [one.modules for one in [sys]]\n", "hands a module on"),
        ("import sys\nmatch sys:\n    case object(modules=found):\n        pass\n", "hands a module on"),
        ("import sys\nprint(sys.__dict__['mod' + 'ules'])\n", "hands a module on"),
        ("import random\nrandom._os.abort()\n", "ends the process"),
        ("import collections\nfound = collections._sys.modules\n", "changes other modules"),
        ("class A:\n    import sys as here\n\n\nfound = A.here.modules\n", "changes other modules"),
        ("class A:\n    import sys\n\n\nhere = A.sys\n", "attributes by name"),
        ("def f():\n    global s\n    import sys as s\n\n\ndef g():\n    return s.argv\n", "changes other modules"),
        ("from os import kill, abort as leave\n", "ends the process"),
        ("import posix\nposix.abort()\n", "ends the process"),
        ("leave = quit\nleave(0)\n", "ends the process"),
        ("if 0:\n    exit = 1\nleave = exit\n", "ends the process"),
        ("import signal\n", "ends the process"),
        ("from signal import alarm\n", "ends the process"),
        ("import asyncio.base_events as b\nb.signal.alarm(1)\n", "ends the process"),
        ("import dataclasses\nfound = dataclasses.inspect.stack()\n", "who calls it"),
        ("found = len.__globals__\n", "who calls it"),
        ("found = print.__self__\n", "attributes by name"),
        ("import time as t\nt.perf_counter = lambda: 0\n", "a clock"),
        ("from time import *\n", "changes other modules"),
        ("import math\nmath.fsum = sum\n", "changes other modules"),
        ("import os as o\no.execv('/x', [])\n", "starts programs"),
        ("look = eval\nlook('1')\n", "text as code"),
        ("from operator import attrgetter as a\nfound = a('sy' 's')(print)\n", "attributes by name"),
        ("name = '\\x5f_main__'\n", "whether tests run"),
        ("name = 'unit' 'test'  # unittest\n", "whether tests run"),
        ("from a import here\nprint(here.modules)\n", "changes other modules"),
        ("from a import *\nprint(here.modules)\n", "changes other modules"),
        ("import a\na.there.abort()\n", "ends the process"),
        ("import sys as s\nprint(s.argv)\nx = = 1\n", "changes other modules"),
        ("x = = 1\n", "cannot read"),
    ],
)
def test_python_is_read_by_the_modules_that_its_names_stand_for(text: str, why: str) -> None:
    assert why in " ".join(said(text, **HERE))


@pytest.mark.parametrize(
    "text",
    [
        "from scipy import signal\n\n\ndef f(x):\n    return signal.fftconvolve(x, signal.windows.hann(9))\n",
        "import scipy.signal\n\n\ndef f(x):\n    return scipy.signal.lfilter(x, 1, x)\n",
        "import argparse\nparser = argparse.ArgumentParser()\n\n\ndef f():\n    parser.exit(2)\n",
        "def f(pool, button):\n    button.signal(1)\n    pool.quit()\n    return pool.kill(), pool.system()\n",
        "from lattice import site\nimport mock_data as mock\n\n\ndef f():\n    return site, mock.site\n",
        "from . import imp, site\nfrom .signal import wave\n",
        "import sys as _sys\nfrom sys import getsizeof, maxsize\n\nLARGE = _sys.maxsize - getsizeof(())\n",
        "import sys\nsys.setrecursionlimit(9000)\nNAMES = [sys.intern('a'), sys.version_info >= (3, 12)]\n",
        "from .sys import wave\nfrom ..sys import step\n\n\ndef f(box):\n    return box.sys.stepped(wave, step)\n",
        "import logging\nimport warnings\n\nlog = logging.getLogger(__name__)\nwarnings.warn('slow', stacklevel=2)\n",
        "import os.path as osp\nfrom os import path\n\n\ndef f(x):\n    return list(map(path.join, x)), osp.join\n",
        "import time\n\n\ndef step(time, sys):\n    return time + 1, [sys for sys in time]\n",
        "import datetime as dt\nfrom time import perf_counter as now\n\n\ndef f(self):\n    self.time = now\n",
        "def f(x):\n    return getattr(x, 'size', 0), hasattr(x, 'modules'), x.modules()\n",
        "import os\n\nCORES = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()\n",
        "from re import compile\n\nWORD = compile('a' 'b')\n",
        "def compile(x):\n    return x\n\n\ndef exit(x):\n    return list(map(compile, x))\n",
        "import torch\n\ntorch.backends.cudnn.benchmark = True\n",
        "import random\n\n\ndef f(chance=None):\n    chance = chance or random\n    return chance.random()\n",
    ],
)
def test_python_that_looks_like_it_is_not_refused(text: str) -> None:
    assert said(text) == ()


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("src/fast.pyx", "import sys as here\nprint(here . modules)\n", "changes other modules"),
        ("src/fast.pyx", "from libc.stdlib cimport free\nfrom os import abort as leave\n", "ends the process"),
        ("src/fast.pyx", "import time as t\nt.perf_counter = f\n", "a clock"),
        (C, "extern char **__environ;\n", "the environment"),
        (C, "extern char _etext;\n", "linked with"),
        (C, '#include "execinfo.h"\n', "the environment"),
        (C, "int f(void **b) { return backtrace(b, 9); }\n", "the environment"),
        (C, "int f(void **b) {\n    if (backtrace(b, 9)) {\n    }\n}\n", "the environment"),
        (C, '#define NAME "x.h"\n#include NAME\n', "whose name is made"),
        (C, "#if 0\nstatic int unlink(int n) {\n}\n#endif\nvoid f(void) { unlink(0); }\n", "data in files"),
        (C, "#define static\nstatic void unlink(int n) {\n}\n", "data in files"),
        (C, "static void raise(int n) {\n}\n", "library function"),
        ("src/a.cc", "static void kill(unit *n) {\n}\nvoid f() { kill(0, 9); }\n", "ends the process"),
        ("src/a.h", "static void unlink(struct node *n) {\n}\n", "data in files"),
        (C, "void unlink(struct node *n) {\n    n->a = n->b;\n}\n", "data in files"),
        (C, "static int f(void) {\n    if (unlink(n)) {\n    }\n}\n", "data in files"),
        (C, "static int (*go)(int) = exit;\nstatic int f(void) {\n    exit(1);\n}\n", "ends the process"),
        (C, "static void unlink(struct node *n);\nvoid f(void) { unlink(0); }\n", "data in files"),
        (RUST, "use std::env as here;\nfn f() { here::current_exe(); }\n", "under another name"),
        (RUST, "use std::env::{args};\n", "under another name"),
        (RUST, "use std::{env::{self as e}, fmt};\n", "under another name"),
        (RUST, "use std::process::*;\n", "under another name"),
        (RUST, "use std :: env;\nfn f() { env :: args_os(); }\n", "the environment"),
        (GO, 'import o "os"\n', "under another name"),
        (GO, 'import (\n\t"fmt"\n\t. "runtime/debug"\n)\n', "under another name"),
        (GO, "func f() { os . Exit(0) }\n", "ends the process"),
        (SCRIPT, "const {env} = process;\n", "under another name"),
        (SCRIPT, "const p = require('node:process');\n", "under another name"),
        (SCRIPT, "const e = process['env'];\n", "under another name"),
        (SCRIPT, "const c = require('child' + '_process');\n", "under another name"),
    ],
)
def test_other_languages_cannot_hide_it_either(path: str, text: str, why: str) -> None:
    assert why in " ".join(said(text, path))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/fast.pyx", "cimport numpy as np\nfrom scipy import signal\ncdef f(x): return signal.x(x.exit(), np.y)\n"),
        (C, "static int backtrace[64][64];\nint f(int i, int j) { return backtrace[i][j]; }\n"),
        (C, "static int backtrace(int i)\n{\n    return i;\n}\nint f(int i) { return backtrace(i); }\n"),
        (C, "static void unlink(struct node *n) {\n    n->a->b = n->b;\n}\nvoid f(struct node *n) { unlink(n); }\n"),
        (C, "#ifdef A\n#endif\nstatic inline int open(int i)\n{\n    return i;\n}\nint f(int i) { return open(i); }\n"),
        (C, 'char *s = "//a ERROR";\nstatic int kill(int n)\n{\n    return n;\n}\nint f(void) { return kill(1); }\n'),
        (C, "int f(const struct box *one) { return one->environment + one->end; }\n"),
        (RUST, "use std::collections::{HashMap as Map};\nuse std::fmt as f;\nfn g(x: u8) -> u64 { x as u64 }\n"),
        (RUST, "use std::io::{self, Write};\nuse std::{cmp, mem};\n"),
        (GO, 'import (\n"os"\nm "math"\n)\nfunc f() {\nswitch s {\ncase "os":\n}\nreturn "log"\n}\n'),
        (SCRIPT, "const fs = require('fs');\nexport const f = (process) => process(1).map(process);\n"),
    ],
)  # fmt: skip
def test_other_languages_may_use_words_that_look_like_it(path: str, text: str) -> None:
    assert said(text, path) == ()


END, GONE = "ends the process", "; exit(0);\n"
NOT_COMMENTS = [
    ("src/a.cc", f"int a = 1'0; const char *s = \"'//\"{GONE}", END),
    ("src/a.cc", f'auto s = R"("//)"{GONE}', END),
    ("src/a.cc", f'auto s = R"(\n//)"{GONE}', END),
    ("src/a.cc", f'auto s = R\\\n"(\n//)"{GONE}', END),
    ("src/a.cc", f"int i = f(1.'a' ) //')){GONE}", END),
    (C, f'const char *s = R"( " )" // "{GONE}', END),  # where R is a macro
    (C, f"int a = 4 //* of C90 */ 2{GONE}", END),
    (C, f'const char *s = "a\\ \n//"{GONE}', END),
    (C, f'const char *s = "??/" // "{GONE}', END),
    (C, f"int a; // what??/\n exit(0){GONE}", END),
    (C, f"/* *\\\n/ exit(0){GONE}/* */", END),
    (C, "#include <a/*b.h>\nvoid f(void) { exit(0); }\n/* */\n", END),
    (C, "int a; // b\rvoid f(void) { exit(0); }\n", END),
    (C, 'char *s = "x"; /*\nstatic void exit(int n) {\n}\n*/\nvoid f(void) { exit(0); }\n', END),
    (C, "/* b */ %:if 0\nstatic void exit(int n) {\n}\n%:endif\nvoid f(void) { exit(0); }\n", END),
    (C, "int a; //* b\nvoid f(void) { exit(0); }\n// */\n", END),
    (C, 'char *s = L"a "; /* "\nstatic void exit(int n) {\n}\n*/\nvoid f(void) { exit(0); }\n', END),
    (C, "int i = 'ab';/* '\nstatic void exit(int n) {\n}\n*/\nvoid f(void) { exit(0); }\n", END),
    (C, 'char *s = L"x"; /*\n" */ int i = f("//"); exit(0);\n', END),
    (C, 'int a = 4 //*\n" */ + f("//"); exit(0);\n', END),
    ("src/a.cu", "void f() { exit(0); }\n", END),
    (RUST, 'fn f() { let s = r#""//"#; std::process::exit(0); }\n', END),
    (RUST, 'fn f() { let s = "\n//"; std::process::exit(0); }\n', END),
    (RUST, 'fn f() { let c = \'"\'; let s = "\n//"; std::process::exit(0); }\n', END),
    (RUST, '/* /* */ " */ fn f() { let s = "\n//"; std::process::exit(0); }\n', END),
    (RUST, "/* /* */\n// */ fn f() { std::process::exit(0); }\n", END),
    (GO, 'func f() { s := `"//`; os.Exit(0) }\n', END),
    (GO, "// a \\\nfunc f() { os.Exit(0) }\n", END),
    (GO, "//go:linkname exit os.runtime_beforeExit\n", "changes other modules"),
    (GO, '/*\n#include <stdlib.h>\n*/\nimport "C"\n', "changes other modules"),
    (SCRIPT, "const s = `\\`//`; process.exit(0);\n", END),
    (SCRIPT, 'let r = /"/; let s = "//"; process.exit(0);\n', END),
    (SCRIPT, "let r = /`/; let s = `\n//`; process.exit(0);\n", END),
    (SCRIPT, "let r = /[//]/; process.exit(0);\n", END),
    (SCRIPT, "let x = 1 <!-- /*\nprocess.exit(0)\n// */\n", END),
    (SCRIPT, "/*\n*/ --> /*\nprocess.exit(0)\n// */\n", END),
    (SCRIPT, "let r = /\\//; process.exit(0);\n", END),
    (SCRIPT, "// a\u2028process.exit(0);\n", END),
    (SCRIPT, "const a = <b>\n// {process.exit(0)}\n</b>;\n", END),
    ("src/A.java", "// \\u000aSystem.exit(0);\n", END),
    ("src/A.java", "/* \\u002a/ System.exit(0); // */\n", END),
    ("src/A.java", "S\\u0079stem.exit(0);\n", END),
    (SCRIPT, "pro\\u{63}ess.exit(0);\n", END),
    ("src/a.jl", "y = 1 // process.exit(0)\n", END),  # of a language that has no such comments
    (PYTHON, "x = '''\\'''#'''; raise SystemExit(0)\n", END),
    (PYTHON, "# a\rraise SystemExit(0)\r", END),
    (PYTHON, "# coding: unicode_escape\n# \\nraise SystemExit(0)\n", "another encoding"),
    ("src/fast.pyx", "cdef int i\nx = '''\\'''#'''; raise SystemExit(0)\n", END),
    ("src/fast.pyx", "cdef int i\nx = '''\n#'''; raise SystemExit(0)\n", END),
]

BETWEEN = [
    (C, "void f(void) { exit // */\n(0); }\n", END),
    (C, "void f(void) { (void)'ab'; exit/**/(0); }\n", END),
    (C, "// ??/\n\nvoid f(void) { abort /*;*/ // b\n (); }\n", END),
    (C, "void f(void) { exit\n#pragma once\n(0); }\n", END),
    (C, "int i = 'ab';\n#/**/define/**/assert(x) 0\n", "library function"),
    (C, "int i = 'ab';\n%:define assert(x) 0\n", "library function"),
    (C, "int i = 'ab';\nint /*,*/ write(int a /* ;{ */) /**/ {\n}\n", "library function"),
    (C, "int i = 'ab';\nint a __attribute__((/*;*/ weak));\n", "linked with"),
    (SCRIPT, "process/*\\*/.exit(0);\n", END),
    (SCRIPT, "process // \\\n.exit(0);\n", END),
    (SCRIPT, "process // \u2028.exit(0);\n", END),
    (SCRIPT, "process <!-- a\n.exit(0);\n", END),
    (SCRIPT, "x\nprocess\n--> a\n.exit(0);\n", END),
    (GO, "func f() { os/*\\*/./*\\*/Exit(0) }\n", END),
    (GO, 'import/*\\*/(/*)\\*/"C")\n', "changes other modules"),
    ("src/A.java", "System/*\\*/.exit(0);\n", END),
    (RUST, "fn f() { process/*\\*/::exit(0) }\n", END),
    (RUST, "fn f() { process::/* /* */ a /* /**/ */ */exit(0) }\n", END),
    (RUST, "fn f() { process::/* /* /* /* /* */ */ */ */ */exit(0) }\n", "comments hold one another"),
    (RUST, "use std::env::{/*}\\*/self as e};\n", "under another name"),
    (RUST, "fn f() { asm ! (); }\n", "the system itself"),
    ("src/a.tsx", "process/**/.exit(0);\n", END),
]


@pytest.mark.parametrize(("path", "text", "why"), BETWEEN)
def test_a_comment_that_stays_does_not_part_the_words_of_a_rule(path: str, text: str, why: str) -> None:
    assert why in " ".join(said(text, path))


def test_another_comment_between_words_of_base_is_no_new_use() -> None:
    base = Program({C: "int i = 'ab';\nvoid f(void) { exit /* a */ (0); }\n"})
    assert barred(base, Program({C: base.files[C].replace("/* a */", "// b\n")})) == ()


@pytest.mark.parametrize("sign", ["/*", "/* */", "/*/**///*/\n", "// a\n", "#", "/* /* */ */", " ", "\n", "int ", "*/"])
def test_many_comments_are_read_in_little_time(sign: str) -> None:
    said("int i = 'ab'; exit process import(" + 3000 * sign + "; .", "src/a.c")
    said("} process import(" + 3000 * sign + "; .", "src/a.kt")


@pytest.mark.parametrize("path", [PYTHON, C, RUST, GO, SCRIPT])
@pytest.mark.parametrize("sign", [" ", "\n", "\t \n", "\r"])
@pytest.mark.parametrize(
    "start", ["x = ['", "x = Error()", "} catch (e1) { e1", "#ifdef", "x = y = new Error('", "exit"]
)
def test_much_white_space_is_read_in_little_time(start: str, sign: str, path: str) -> None:
    began = time.process_time()
    said(f"{start}{40_000 * sign}x", path)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("line", ["#\n", "##\n", "# a\n", "#/**/\n", "# // #\n", "%:\n", "#define A 1\n"])
def test_many_lines_of_the_preprocessor_are_read_in_little_time(line: str) -> None:
    began = time.process_time()
    said("int i = 'ab';\n" + line * (200_000 // len(line)) + "void f(void) { exit\n#\n(0); }\n", C)
    assert time.process_time() - began < 20  # less than a second; a quadratic search takes minutes


def test_much_white_space_hides_nothing() -> None:
    for space in (9 * " ", "\n\n\n", " \n \t", "\t\r\n "):
        assert "who calls it" in " ".join(said(f"Error{space}.{space}prepareStackTrace = f;\n", SCRIPT))
        assert "ends the process" in " ".join(said(f"void f(void) {{ exit{space}(0); }}\n", C))
    for end in "\r\u2028\u2029":
        hidden = f"const a = /'/; process // b  {end}  {end}.exit();\n"
        assert "ends the process" in " ".join(said(hidden, SCRIPT))
    assert "another encoding" in " ".join(said("# a\n#  coding:   utf-7\nx = 1\n"))
    assert said("x = 1\n\n\n# coding: utf-7\ny = 1\n") == ()


@pytest.mark.parametrize(("path", "text", "why"), NOT_COMMENTS)
def test_what_some_reading_of_the_language_has_as_code_is_no_comment(path: str, text: str, why: str) -> None:
    assert why in " ".join(said(text, path))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (C, "#include <sys/time.h> // exit()\nint a = 1; /* or\nabort() */\n\n/**** exit(1) ****/\n// never exit(2)\n"),
        (C, 'const char *name = "a//b"; // of exit(1), isn\'t it\n'),
        (C, "int f(int i) {\n    puts(\"a\\n\"); /* no exit(1) */\n    return i == '\\n'; /* nor\nabort() */\n}\n"),
        (C, "int f(int i) {\n    return i < 3 ? i >> 1 : 0; // else exit(1)\n}\n"),
        (RUST, "/// Ends by process::exit.\nfn f<'a>(x: &'a str) -> &'a str { x }\n// no abort here\n"),
        (RUST, 'fn f() { g("x"); } // no abort here\n/* nor\nabort */\n'),
        (GO, 'import "fmt"\n\n// f does not abort.\nfunc f() { fmt.Println("//") } // nor os.Exit(1)\n'),
        (SCRIPT, "const fs = require('fs');\n// no process.exit here\nexport const f = \"a\"; // nor abort\n"),
        ("src/A.java", "/**\n * Does not <b>abort</b>.\n */\nclass A { } // nor System.exit\n"),
        (PYTHON, "# -*- coding: utf-8 -*-\nx = '''\n#''' + 'a'  # no SystemExit, it's said\n"),
        (PYTHON, "#!/usr/bin/python3\n# encoding=latin-1\nx = {'a': \"b\"}['a']  # as in unittest\n# encoding: gzip\n"),
        ("src/fast.pyx", '"""Sums.\n\nFast."""\ncdef int i = 1  # SystemExit\nx = "a"  # SystemExit\n'),
    ],
)
def test_what_every_reading_has_as_a_comment_does_not_count(path: str, text: str) -> None:
    assert said(text, path) == ()


def test_an_order_of_its_own_is_a_doubt_and_what_is_equal_to_all_is_refused() -> None:
    base = Program({PYTHON: "x = 1\n"})
    node = "class Node:\n    def __lt__(self, other):\n        return self.cost < other.cost\n"
    ordered, equal = (Program({PYTHON: one}) for one in (node, node.replace("lt", "eq")))
    assert barred(base, ordered) == () and "less than" in doubtful(base, ordered)[0]
    assert "equal to" in barred(base, equal)[0]


def test_pools_of_processes_are_a_doubt_however_they_are_made() -> None:
    base = Program({PYTHON: "x = 1\n"})
    for text in ("from multiprocessing import Pool\n", "from concurrent.futures import ProcessPoolExecutor as P\n"):
        made = Program({PYTHON: text})
        assert barred(base, made) == () and "among processes" in doubtful(base, made)[0]
    for text in ("from multiprocessing import spawn\n", "import multiprocessing as m\nm.current_process()\n"):
        assert "starts programs" in barred(base, Program({PYTHON: text}))[0]


def test_a_module_is_followed_through_several_files() -> None:
    files = {"src__b.py": "from a import here as second\n", "src__c.py": "from .b import second as third\n"}
    found = " ".join(said("from c import third\nprint(third.modules)\n", **HERE, **files))
    assert "changes other modules: the patch adds `sys.modules` to src/words.py" in found


def test_what_sources_include_is_read_as_source_whatever_its_suffix() -> None:
    words = "int f(void) { raise(9); }\n"
    assert said(words, "src/table.txt") == ()
    assert "ends the process" in said('#include "table.txt"\n', C, **{"src__table.txt": words})[0]


def test_what_sources_include_is_read_as_what_its_suffix_says_too() -> None:
    words = "import os\nos.abort()\n"
    assert "ends the process" in said('#if 0\n#include "words.py"\n#endif\n', C, **{"src__words.py": words})[0]


@pytest.mark.parametrize("line", ['%:include "table.txt"', '#/**/include/**/"table.txt"', '#inc\\\nlude "table.txt"'])
def test_an_include_is_seen_however_it_is_written(line: str) -> None:
    words = "int f(void) { raise(9); }\n"
    assert "ends the process" in " ".join(said(f"int i = 'ab';\n{line}\n", C, **{"src__table.txt": words}))


@pytest.mark.parametrize(
    "line",
    ["#define CHECK(x)", "%:define CHECK(x)", "??=define CHECK(x)", "#/**/define CHECK(x)", "#def\\\nine CHECK(x)"],
)
def test_a_macro_of_the_tests_is_seen_however_it_is_written(line: str) -> None:
    base, tests = Program({"src/a.h": "int i;\n"}), {"tests/a.c": "void f(void) { CHECK(1); }\n"}
    found = redefined(base, Program({"src/a.h": f"int i = 'ab';\n{line}\n"}), tests)
    assert found == ("it defines the macro CHECK, which a file uses that must stay as in base",)


def test_a_comment_of_python_defines_no_macro() -> None:
    assert redefined(Program({}), Program({PYTHON: "# define it\n"}), {"tests/a.py": "it = 1\n"}) == ()


def test_a_long_chain_is_read_and_one_that_is_too_deep_is_read_by_words() -> None:
    assert said("x = " + " + ".join(["y"] * 300) + "\n") == ()
    assert "changes other modules" in " ".join(said("import sys as s\ns.argv\nx = " + " + ".join(["y"] * 9000) + "\n"))
