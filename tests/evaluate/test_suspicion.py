"""Suspicion comes from code and clocks, never from words in comments and strings; alone it refuses nothing."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace

import anyio
import pytest

from maxcode.code.languages import LANGUAGES
from maxcode.core.types import Interval, Problem, Program, ProgramSpec, Timing
from maxcode.evaluate.program.lower_bound import Floor, process_floor
from maxcode.evaluate.program.suspicion import far, impossible, unread, words_of
from maxcode.sandbox.sandbox import Sandbox

PLAIN = "int main(void) { return 0; }\n"
HARMLESS = r"""
// system("ls"); asm volatile("nop"); #include "/etc/passwd"
/* __attribute__((constructor)) popen fork() .incbin "x"
#include "../answers.h"
*/
#include <stdio.h>
#include "near.h"
static const char *words = "system(\"rm\") asm(\".incbin\") fork() /* __attribute__((ifunc(\"x\")))";
static const char quote = '"';
int ecosystem(int section) { return section; } // nothing of it is one of the words
struct plan { int section, alias; };
int main(void) {
    struct plan a = {.section = 1, .alias = 2};
    printf("%s %d\n", words, ecosystem(a.section));
    return 0;
}
"""


def problem(text: str, tongue: str = "c") -> Problem:
    return Problem("p", "program", tongue, Program({"p." + ("py" if tongue == "python" else "c"): text}), ProgramSpec())


def found(text: str, original: str = PLAIN, tongue: str = "c") -> tuple[str, ...]:
    one = problem(original, tongue)
    return words_of(one, one.program.with_text(text))


def test_scary_words_in_comments_strings_and_other_names_trigger_nothing() -> None:
    assert found(HARMLESS) == ()
    python = '"""import ctypes; exec(x)"""\n# subprocess\nx = "os.system(1)"\nprint(x)\n'
    assert found(python, "print(1)\n", "python") == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('__asm__(".incbin \\"answers\\"");', "inline assembly"),
        ('#include "/src/input"\n', "an include from elsewhere"),
        ('#  include "a/../../answers.h"\n', "an include from elsewhere"),
        ("int f(void) { return sys\\\ntem(0); }", "starting programs"),
        ("void f(void) { fork /* a comment */ (); }", "system calls"),
        ("__attribute__((constructor)) static void early(void) {}", "attributes"),
        ('int x __attribute__((section(".init")));', "attributes"),
        ('const char *a = R"(")"; void f(void) { popen(a, a); }', "starting programs"),
    ],
)
def test_the_code_itself_does_with_where_it_stands(text: str, what: str) -> None:
    (told,) = found(PLAIN + text)
    assert told.startswith(what)
    assert "p.c, line" in told


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ('#define ERR ""\nconst char *a = ERR"("; {} const char *b = ERR")";', True),  # no raw text
        ('#define ERR8u8R ""\nconst char *a = ERR8u8R"("; {} const char *b = ERR8u8R")";', True),
        ("int n = 1'000; {} int m = 1'000;", True),
        ("int n = 0xA'B; {} int m = .5e+1'0;", True),
        ("wchar_t c = L'\"'; {} wchar_t d = L'\"';", True),
        ('const char *a = "\\\\"; {} const char *b = "";', True),
        ("int c = '\\''; {} int d = '\\'';", True),
        ("#error it's {}", True),  # it is not closed: this is no text
        ("/* it's */ {}", True),
        ('// "\n{}', True),
        ("int a; /*/ {} /*/", False),
        ("// a \\ \n {}", False),
        ('const char *a = R"x(" )" {} )x";', False),
        ('const char *a = u8R"( " {} )";', False),
        ('const char *a = u8"\\" {} ";', False),
    ],
)
def test_what_is_in_comments_and_texts_is_no_code(text: str, is_code: bool) -> None:
    told = [one.partition(" (")[0] for one in found(text.replace("{}", "asm(0); system(0);"))]
    assert told == (["inline assembly", "starting programs"] if is_code else [])


PIECES = ("/* section */", '"section"', "\n", " ", "a", "[[", "]]", ";", "section", "__attribute__((", "))")
ATTRIBUTE = re.compile(r"\b__attribute__\(\([^;{}]*?\bsection\b|\[\[[^\]]*?\bsection\b")


def test_what_is_an_attribute_is_as_one_pattern_has_it_that_takes_for_ever() -> None:
    drawn, seen = random.Random(0), set[bool]()
    for _ in range(2000):
        text = "".join(drawn.choices(PIECES, k=drawn.randint(1, 24)))
        wanted = ATTRIBUTE.search(text.replace(PIECES[0], " ").replace(PIECES[1], '""')) is not None
        assert bool(found(text)) is wanted, text
        seen.add(wanted)
    assert len(seen) == 2


@pytest.mark.parametrize(
    "sign", ["/*", "/*/", 'R"(', "'\"", '\\"', '"\\', "'\\", "#\n", "/**/", "// \n", "[[", "__attribute__(( ", "\\"]
)
def test_a_long_text_of_signs_is_read_in_little_time(sign: str) -> None:
    began = time.process_time()
    found('"' + sign * (200_000 // len(sign)))
    assert time.process_time() - began < 20  # a quarter of a second; a quadratic search takes minutes


def test_what_the_original_does_too_is_not_suspicious() -> None:
    assert found('void f(void) { asm("nop"); }', 'void f(void) { __asm__("" ::: "memory"); }') == ()


def test_python_is_read_by_its_own_grammar() -> None:
    told = found("import ctypes.util\nfrom os import system\nsystem('x')\n", "print(1)\n", "python")
    assert [words.partition(" (")[0] for words in told] == ["the module ctypes", "a call of system"]
    (told_of,) = found("def (\n", "print(1)\n", "python")
    assert told_of.startswith("text that this Python cannot read")


def timing(candidate_s: float, ratio: float = 20.0) -> Timing:
    samples = tuple((ratio * candidate_s, candidate_s) for _ in range(15))
    return Timing("cpu", Interval(ratio, ratio, ratio), True, "faster", 15, samples=samples)


def test_the_process_floor_of_this_machine_is_measured_once_and_lies_where_processes_do(sandbox: Sandbox) -> None:
    floor = anyio.run(process_floor, sandbox)
    assert 1e-5 < floor.start_s < 0.05
    assert 0 <= floor.byte_s < 1e-7
    assert anyio.run(process_floor, sandbox) == floor
    interpreter = anyio.run(process_floor, sandbox, LANGUAGES["python"])
    assert interpreter.start_s > 3 * floor.start_s, "it reads its library before the first line"


def test_only_what_no_process_can_do_is_impossible_and_too_fast_to_read_is_looked_at_again() -> None:
    floor = Floor(start_s=1e-3, byte_s=1e-9)
    reading = floor.reading((10_000_000, 10_000_000))
    assert "its work was not seen" in impossible(timing(0.9e-3), 2 * floor.start_s, "processes")
    assert impossible(timing(1.1e-3), 2 * floor.start_s, "processes") == ""
    assert impossible(replace(timing(0.9e-3), clock="wall"), 2 * floor.start_s, "processes") == ""
    assert unread(timing(9e-3), reading) == ("faster than its inputs can be read",)
    assert unread(timing(12e-3), reading) == ()


def test_more_than_ten_times_faster_asks_for_a_second_look() -> None:
    assert far(timing(1.0, 10.5)) == ("speed-up above 10x",)
    assert far(timing(1.0, 9.5)) == ()
