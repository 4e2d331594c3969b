"""Who calls me, and in which file: what tells it in six languages is refused or doubted, and what looks like it is not.

Also the suffixes of languages, and that only what a patch adds counts."""

from __future__ import annotations

import pytest

from maxcode.core.types import Program
from maxcode.evaluate.repo.barred import asked, barred, doubtful

PYTHON, C, HEADER, CPP = "src/words.py", "src/sums.c", "src/sums.h", "src/sums.cc"
RUST, GO, SCRIPT, TYPES, JAVA = "src/lib.rs", "words.go", "src/words.js", "src/words.ts", "src/Words.java"
OLD = {"src/old.py": "x = 1\n"}
CALLS, OTHERS, FILES, TESTS = "who calls it", "other processes", "data in files", "whether tests run"

REFUSED = [
    (PYTHON, "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    pass\n", CALLS),
    (PYTHON, "from warnings import catch_warnings as c\nwith c() as w, catch_warnings(True):\n    pass\n", CALLS),
    (PYTHON, "import logging\nfound = logging.getLogger('a').findCaller(False, 3)\n", CALLS),
    (PYTHON, "import tracemalloc as t\nt.start(9)\nfound = t.get_object_traceback([])\n", CALLS),
    (PYTHON, "import pathlib\nfound = pathlib.Path('/', 'proc', 'self', 'cmdline').read_bytes()\n", OTHERS),
    (PYTHON, "import os\nos.chdir('/proc')\nfound = os.read(os.open('self/stat', 0), 9)\n", OTHERS),
    (PYTHON, "import os\nfound = os.path.join(os.sep, 'pr' + 'oc', 'self', 'comm')\n", OTHERS),
    (HEADER, "int solve(const V &, const char *from = __builtin_FILE());\n", CALLS),
    (CPP, "#include <stacktrace>\nauto s = std::stacktrace::current();\n", CALLS),
    (CPP, "namespace s = std;\nauto t = s::basic_stacktrace<A>::current();\n", CALLS),
    (C, "void f(void) { Dl_info i; dladdr(&f, &i); puts(i.dli_fname); }\n", "linked with"),
    (C, "void f(char *n) { pthread_getname_np(pthread_self(), n, 16); }\n", "the environment"),
    (CPP, 'std::ifstream f("/pr" "oc/self/cmdline");\n', OTHERS),
    (CPP, 'std::ifstream f("/pr"\n  /* a */\n  "oc/self/cmdline");\n', OTHERS),
    (CPP, 'std::ifstream f("\\57proc\\x2fself/cmdline");\n', OTHERS),
    (CPP, 'std::fstream f("x");\n', FILES),
    (CPP, 'using namespace std;\nvoid g() { ofstream f("x"); }\n', FILES),
    (CPP, 'std::basic_ofstream<char> f("x");\n', FILES),
    (CPP, "std::filebuf f;\n", FILES),
    (HEADER, "#ifdef BENCHMARK_BENCHMARK_H_\n#endif\n", TESTS),
    (HEADER, "#if defined(CATCH_VERSION_MAJOR) || defined GTEST_API_\n#endif\n", TESTS),
    (HEADER, "#ifndef TEST_CASE\n#endif\n", TESTS),
    (HEADER, "template <class T> concept A = requires { typename ::testing::Test; };\n", TESTS),
    (RUST, "#[track_caller]\nfn f() { g(std::panic::Location::caller().file()) }\n", CALLS),
    (RUST, "use std::panic::Location as L;\n#[track_caller]\nfn f() { g(L::caller().file()) }\n", CALLS),
    (RUST, "use core::panic::{self, Location as L};\n", CALLS),
    (RUST, 'fn f() { std::fs::read(["", "proc", "self", "cmdline"].join("/")); }\n', OTHERS),
    (RUST, 'fn f() { std::fs::rename("a", "b"); }\n', FILES),
    (GO, "func f() { runtime.Stack(buf, false) }\n", CALLS),
    (GO, "func f() { runtime.CallersFrames(x) }\n", CALLS),
    (GO, 'func f() { pprof.Lookup("goroutine").WriteTo(&b, 1) }\n', CALLS),
    (GO, 'func f() { os.ReadFile(filepath.Join("/", "proc", "self", "cmdline")) }\n', OTHERS),
    (GO, 'func f() { os.ReadFile("/pr" + "oc/self/cmdline") }\n', OTHERS),
    (GO, 'func f() { os.CreateTemp("/tmp/p", "x") }\n', FILES),
    (GO, 'func f() { ioutil.WriteFile("x", b, 0) }\n', FILES),
    (GO, "func f() { flag.CommandLine.VisitAll(g) }\n", "the environment"),
    (SCRIPT, "const p = ['', 'proc', 'self', 'cmdline'].join('/');\n", OTHERS),
    (SCRIPT, "fs.appendFileSync(p, x);\n", FILES),
    (SCRIPT, "fs.writeSync(fs.openSync(p), x);\n", FILES),
    (SCRIPT, "const name = require.main.filename;\n", CALLS),
    (SCRIPT, "Error.prepareStackTrace = (e, s) => s;\n", CALLS),
    (SCRIPT, "const r = process.report.getReport();\n", "the environment"),
    (JAVA, "class A { Object f() { return Thread.currentThread().getStackTrace(); } }\n", CALLS),
    (JAVA, "class A { Object f() { return StackWalker.getInstance(); } }\n", CALLS),
    (JAVA, "class A { Object f() { return ProcessHandle.current().info(); } }\n", "the environment"),
    (JAVA, 'class A { void f() { Files.writeString(Path.of("x"), "y"); } }\n', FILES),
]
REFUSED += [
    (GO, "func f() { g(&runtime.StackRecord{}); h(x...runtime.StackRecord) }\n", CALLS),
    (PYTHON, "import os\nfound = os.path.join(ROOT, 'self/', 'status')\n", OTHERS),
    (PYTHON, "import os\nfound = os.path.join(ROOT, 'thread-self', 'comm')\n", OTHERS),
    (PYTHON, "found = ROOT + 'self' + '/status'\n", OTHERS),
    (SCRIPT, "if (module === require.main.children[0]) { f(); }\n", CALLS),
    (SCRIPT, "if (module === require.main?.children) { f(); }\n", CALLS),
]
CALLER, OPENS, PLACE = "may learn who calls it", "it opens files", "the place of the code"
DOUBTED = [
    (PYTHON, "import logging\n\n\ndef f():\n    logging.getLogger('a').debug('x', stacklevel=3)\n", CALLER),
    (PYTHON, "import warnings\nwarnings.warn('slow', stacklevel=len('abc'))\n", CALLER),
    (PYTHON, "import warnings\nwarnings.filterwarnings('ignore', module='bench')\n", CALLER),
    (PYTHON, "import warnings\nwarnings.filterwarnings('ignore', '', Warning, 'bench')\n", CALLER),
    (PYTHON, "from warnings import catch_warnings as c\nwith c(**x) as w:\n    pass\n", CALLER),
    (PYTHON, "import logging\nlogging.basicConfig(format='%(pathname)s', stream=s)\n", CALLER),
    (PYTHON, "import logging\n\n\nclass H(logging.Handler):\n    pass\n", CALLER),
    (PYTHON, "import logging\nlogging.getLogger('a').addFilter(seen.append)\n", CALLER),
    (PYTHON, "import pathlib\nfound = pathlib.Path('table.bin').read_bytes()\n", OPENS),
    (PYTHON, "import os\nfound = os.read(os.open('table.bin', 0), 9)\n", OPENS),
    (PYTHON, "import os\nfound = os.path.join(os.sep, 'proc', one)\n", "may look at other processes"),
    (CPP, 'std::ifstream f("table.txt");\n', OPENS),
    (CPP, "using namespace std;\nvoid f(ifstream &from);\n", OPENS),
    (HEADER, "int f(const V &, std::source_location w = std::source_location::current());\n", PLACE),
    (HEADER, "#ifdef _STDIO_H\n#endif\n", "which files were included before it"),
    (RUST, "#[track_caller]\nfn f(x: Option<u8>) -> u8 { x.unwrap() }\n", CALLER),
    (RUST, "fn f() { let b = std::backtrace::Backtrace::capture(); }\n", CALLER),
    (RUST, "fn f() { std::thread::current().name(); }\n", CALLER),
    (RUST, 'fn f() { std::fs::read_to_string("table.txt"); }\n', OPENS),
    (RUST, "macro_rules! solve { () => { g(file!()) } }\n", PLACE),
    (GO, "func f() { log.New(&b, name, log.Llongfile).Output(3, name) }\n", CALLER),
    (GO, 'func f() { os.ReadFile("table.txt") }\n', OPENS),
    (SCRIPT, "const s = new Error().stack;\n", CALLER),
    (SCRIPT, "try { f(); } catch (e1) { console.error(e1.stack); }\n", CALLER),
    (SCRIPT, "const { stack } = new Error('x');\n", CALLER),
    (SCRIPT, "const one = new RangeError('x');\nuse(one.stack);\n", CALLER),
    (SCRIPT, "const s = new Error()['st' + 'ack'];\n", CALLER),
    (SCRIPT, "const g = (x) => x.stack.split('\\n')[2];\n", CALLER),
    (SCRIPT, "class A extends Error {\n  where() { return this.stack; }\n}\n", CALLER),
    (TYPES, "const s: string = new Error().stack ?? '';\n", CALLER),
    (SCRIPT, "const t = fs.readFileSync('table.txt');\n", OPENS),
    (JAVA, "class A { void f(Exception e) { e.printStackTrace(out); } }\n", CALLER),
    (JAVA, "class A { Object f() { return Thread.currentThread().getName(); } }\n", CALLER),
    (JAVA, 'class A { Object f() { return Files.readAllLines(Path.of("x")); } }\n', OPENS),
]
DOUBTED += [
    (PYTHON, "import codecs as c\nfound = c.open('table.bin')\n", OPENS),
    (PYTHON, "FIELDS = ('self', 'status', 'created')\n", "may look at other processes"),
    *(
        (HEADER, f"#if 0\n#{line}\n#endif\n", "which files were included before it")
        for line in ("elif defined(_STDIO_H)", "elif 1 && defined _STDIO_H", "elifdef _STDIO_H")
    ),
]
ALIKE = [
    (PYTHON, "import codecs\n\nMARK, made = codecs.BOM_UTF8, codecs.getincrementaldecoder('utf-8')\n"),
    (
        HEADER,
        "#if defined(HAVE_UNISTD_H) || defined (LIB_HAVE_AIO_H) && ! defined(SUMS_H)\n#elifdef HAVE_IO_H\n#endif\n",
    ),
    (RUST, "fn f(vm: &mut Vm) { vm.runtime.Stack.push(1); self.runtime.stack_top() }\n"),
    (SCRIPT, "function f(g) { this.runtime.callStack.push(g); runtime.stackTop = this.runtime.StackOf(g); }\n"),
    (SCRIPT, "if (module === require.main || require.main !== module || module != require.main) { f(); }\n"),
    (PYTHON, "import warnings\n\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n"),
    (PYTHON, "from warnings import catch_warnings, warn\n\nwith catch_warnings():\n    warn('x', stacklevel=2)\n"),
    (PYTHON, "import warnings\nwarnings.filterwarnings('ignore', message='.*slow', category=UserWarning)\n"),
    (PYTHON, "import logging\n\nlog = logging.getLogger(__name__)\nlog.addHandler(logging.NullHandler())\n"),
    (PYTHON, "def f(path, process, proc):\n    return path.open, process['comm'], proc.cmdline, path.filename\n"),
    (CPP, "#include <fstream>\n#include <sstream>\nstd::stringstream s; int stacktrace, fstreams;\n"),
    (CPP, 'const char *s = "a" "b"; int testing = 0, benchmark = f("", "x");\n'),
    (HEADER, "#ifndef SUMS_H\n#define SUMS_H\n#if defined(__SSE2__) && !defined(NAIVE)\n#endif\n#endif\n"),
    (HEADER, "#if !defined(SUMS_H_)\n#define SUMS_H_\n#ifdef HAVE_AVX2\n#endif\n#endif\n"),
    (RUST, "struct Vm { stack: Vec<u8> }\nfn f(vm: &Vm, line: u8) -> bool { vm.stack.len() > 1 && line != 2 }\n"),
    (RUST, "fn f() -> u64 { hash(std::thread::current().id()) }\n"),
    (GO, "func f(vm *Vm) { vm.stack = append(vm.stack, runtime.NumCPU()); log.Printf(vm.caller) }\n"),
    (SCRIPT, "class P {\n  f(n) { this.stack.push(n); return this.stack.length + n.stack[0]; }\n}\n"),
    (SCRIPT, "const f = (n) => {\n  if (!n) throw new TypeError('no n');\n  return { n, stack: [] };\n};\n"),
    (SCRIPT, "if (require.main === module) { main(); }\nError.stackTraceLimit = 0;\n"),
    (JAVA, "class A { void f() { try { g(); } catch (Exception e) { e.printStackTrace(); } } }\n"),
    (JAVA, "class A { Deque<B> stack; int f() { return this.stack.pop().caller + Files.SIZE; } }\n"),
]


def added(path: str, text: str) -> Program:
    return Program({**OLD, path: text})


@pytest.mark.parametrize(("path", "text", "why"), REFUSED)
def test_what_tells_a_caller_and_has_no_other_use_is_refused(path: str, text: str, why: str) -> None:
    assert why in " ".join(barred(Program(OLD), added(path, text)))


@pytest.mark.parametrize(("path", "text", "why"), DOUBTED)
def test_what_honest_code_uses_too_is_a_doubt(path: str, text: str, why: str) -> None:
    assert barred(Program(OLD), added(path, text)) == ()
    assert why in " ".join(doubtful(Program(OLD), added(path, text)))


@pytest.mark.parametrize(("path", "text"), ALIKE)
def test_what_looks_like_it_is_neither(path: str, text: str) -> None:
    assert (*barred(Program(OLD), added(path, text)), *doubtful(Program(OLD), added(path, text))) == ()


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, text, _ in (*REFUSED, *DOUBTED)])
def test_what_the_file_has_already_does_not_count(path: str, text: str) -> None:
    base = Program({path: text})
    ends = {PYTHON: "\nmore = 1\n", GO: "\nvar more = 1\n", JAVA: "\nclass More { }\n", RUST: "\nconst MORE: u8 = 1;\n"}
    changed = Program({path: text + ends.get(path, "\nextern int more;\n")})
    assert (*barred(base, changed), *doubtful(base, changed)) == ()


STARTS = "__attribute__((constructor)) static void a() { puts(text); _exit(0); }\n"


@pytest.mark.parametrize(
    "suffix", ["c++", "h++", "cppm", "ixx", "ccm", "mm", "tpp", "txx", "CPP", "Cc", "H", "h.in", "ii"]
)
def test_every_suffix_of_c_and_cpp_has_its_rules(suffix: str) -> None:
    found = " ".join(barred(Program(OLD), added(f"src/kj/list.{suffix}", STARTS)))
    assert "ends the process" in found and "before main" in found


def test_what_a_source_of_any_suffix_includes_is_read_as_c() -> None:
    files = {**OLD, "src/a.c++": '#include "table.txt"\n', "src/table.txt": "int f() { raise(9); }\n"}
    assert "ends the process" in barred(Program(OLD), Program(files))[0]


@pytest.mark.parametrize("path", ["src/a.s", "src/a.S", "src/args_amd64.s", "src/a.asm", "src/a.ll", "src/a.ptx"])
def test_new_words_of_assembly_are_refused(path: str) -> None:
    text = "TEXT ·args(SB), $0\n\tMOVQ os·Args(SB), AX\n\tRET\n"
    assert "the processor's own words" in " ".join(barred(Program(OLD), added(path, text)))
    base = Program({path: text})
    assert barred(base, Program({path: text, **OLD})) == ()
    assert "the processor's own words" in barred(base, Program({path: text.replace("RET", "SYSCALL\n\tRET")}))[0]


@pytest.mark.parametrize(
    ("path", "is_doubted"),
    [
        *(("src/a.jl", True), ("src/a.f90", True), ("src/run", True), ("src/a.zig", True), ("src/a.rb", True)),
        *(("docs/a.md", False), ("src/table.json", False), ("src/a.kt", False), ("src/a.tsx", False), ("a.PY", False)),
    ],
)
def test_a_language_without_rules_is_a_doubt(path: str, is_doubted: bool) -> None:
    found = doubtful(Program(OLD), added(path, "x = 1\n"))
    assert found == ((f"{path} is in a language for which there are no rules of words",) if is_doubted else ())


def test_a_header_without_a_suffix_is_read_as_what_includes_it() -> None:
    files = {**OLD, "src/vector": "int f();\n", C: "#include <vector>\n"}
    assert doubtful(Program(OLD), Program(files)) == ()


def test_a_macro_of_the_benchmark_alone_is_not_asked_for() -> None:
    base, bench = Program({HEADER: "int f(void);\n"}), {"bench/run.c": '#define ROUNDS 9\n#include "sums.h"\n'}
    found = asked(base, Program({HEADER: "#if ROUNDS > 3\n#endif\nint f(void);\n"}), bench)
    assert found == ("it asks for the macro ROUNDS, which only a file defines that must stay",)
    config = {"config.h": "#define HAVE_SSE2 1\n"}
    uses = Program({HEADER: '#include "config.h"\n#ifdef HAVE_SSE2\n#endif\nint f(void);\n'})
    assert asked(base, uses, config) == ()
    own = Program({HEADER: "#ifndef ROUNDS\n#define ROUNDS 3\n#endif\nint f(void);\n"})
    assert asked(base, own, bench) == (), "what it defines itself is looked at by `redefined`"
    assert (
        asked(Program({HEADER: "#if ROUNDS\n#endif\n"}), Program({HEADER: "#if ROUNDS\n#endif\nint a;\n"}), bench) == ()
    )


def test_a_macro_that_is_reached_through_headers_or_that_compilers_define_is_asked_for() -> None:
    stays = {"include/lib.h": '#include "lib_config.h"\n', "include/lib_config.h": "#define LIB_HAVE_SSE2 1\n"}
    bench = {"bench/run.h": "#define ROUNDS 9\n#ifndef __has_builtin\n#define __has_builtin(x) 0\n#endif\n"}
    base = Program({C: '#include "lib.h"\nint f;\n'})

    def said(condition: str) -> tuple[str, ...]:
        return asked(base, Program({C: f"{base.files[C]}#if {condition}\n#endif\n"}), {**stays, **bench})

    assert said("LIB_HAVE_SSE2") == said("__has_builtin(__builtin_expect)") == ()
    assert len(said("LIB_HAVE_SSE2 && ROUNDS")) == 1
