"""The source tools: reading, comparing, finding programs in completions."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.code.prose import prose
from maxcode.code.source import (
    answer_of,
    decode,
    encode,
    fenced,
    fences,
    fingerprint,
    line_of,
    normalise,
    parse,
    text_of,
    tokens,
    unified_diff,
    walk,
)
from maxcode.core.types import Program
from maxcode.errors import InputError

CPP = '#include <cstdio>\n#define F(x) ((x) + 1)\nint main() { printf("%d // no comment\\n", F(2)); }\n'


def test_a_node_knows_its_text_and_line_behind_wide_letters() -> None:
    source = parse("cpp", "// 雪\nint é = 3;\n")
    number = next(node for node in walk(source.root) if node.type == "number_literal")
    assert (text_of(number), line_of(number)) == ("3", 2)
    assert decode(source.data[number.start_byte : number.end_byte]) == "3"


def test_a_broken_text_is_still_read() -> None:
    assert parse("cpp", "int main( {").root.has_error


def test_brackets_without_partners_end_the_reading_and_leave_the_next_text_alone() -> None:
    repeated = "int f(int n) { " + "s += 3 * a[i]4) " * 2500
    given_up = parse("c", repeated).root
    assert given_up.has_error
    assert given_up.end_byte == 1, "nothing of the text is in it"
    some = parse("c", repeated[:1500]).root
    assert some.has_error
    assert some.end_byte == 1500, "a short one is read to its end"
    assert not parse("c", "int f(int n) { return n; }").root.has_error


@pytest.mark.heavy
def test_a_long_text_is_read_in_chunks_that_nobody_sees() -> None:
    source = parse("cpp", "int wide_é = 12345;\n" * 20_000)
    assert not source.root.has_error
    assert {text_of(node) for node in walk(source.root) if node.type == "number_literal"} == {"12345"}


TOGETHER = """
import sys, threading
from maxcode.code.source import parse, walk

sys.setswitchinterval(1e-6)
right = []


def work(number):
    loops = "".join(f"  for (int i{at} = 0; i{at} < n; i{at}++) s += i{at} * {number};\\n" for at in range(150))
    for again in range(6):
        tree = parse("c", f"int f(int n) {{\\n  int s = 0;\\n{loops}  return s + {again};\\n}}\\n")
        right.append(not tree.root.has_error and sum(node.type == "for_statement" for node in walk(tree.root)) == 150)


threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
[one.start() for one in threads]
[one.join() for one in threads]
assert right == [True] * 48, right
"""


def test_threads_read_at_the_same_time() -> None:
    done = subprocess.run([sys.executable, "-c", TOGETHER], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


def test_an_unknown_language_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean"):
        parse("pyhton", "x")


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("cpp", CPP, CPP.replace("{ ", "{ // comment\n  /* more */ ")),
        ("cpp", "int a = b+c;", "int a=b +\n\n c ;"),
        ("cpp", "#define A 1 \\\n + 2\nint x;", "#define A 1 + 2 // sum\nint x;"),
        ("cpp", "vector<vector<int>> v;", "vector<vector<int>>  v;"),
        ("c", "int f(void){return 1;}", "int f(void)\n{\n    return 1;\n}"),
        ("python", "x = [1,2]  # numbers\nif x:\n    y = 1\n", "x = [1,\n     2]\n\nif x:\n  y = 1\n"),
    ],
)
def test_layout_and_comments_make_no_difference(language: str, one: str, other: str) -> None:
    assert normalise(language, one) == normalise(language, other)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("cpp", 'char* s = "a  b";', 'char* s = "a b";'),
        ("cpp", 'char* s = "// x";', 'char* s = "";'),
        ("cpp", "char c = ' ';", "char c = '  ';"),
        ("cpp", 'auto s = R"(a\n b)";', 'auto s = R"(a b)";'),
        ("cpp", "#define F (x)\n", "#define F(x)\n"),
        ("cpp", "#define A\nint x;", "#define A int x;"),
        ("cpp", "int a = b - -c;", "int a = b--c;"),
        ("cpp", "#pragma GCC unroll 2\nfor (;;);", "#pragma GCC unroll 4\nfor (;;);"),
        ("python", "if x:\n    a()\n    b()\n", "if x:\n    a()\nb()\n"),
        ("python", "a\nb\n", "a, b\n"),
        ("python", "s = '# x'\n", "s = ''\n"),
    ],
)
def test_what_means_something_stays(language: str, one: str, other: str) -> None:
    assert normalise(language, one) != normalise(language, other)


@pytest.mark.parametrize("language", ["cpp", "c"])
@given(text=st.text(alphabet="ab1 \n/*#(){};+-<>é", max_size=60))
def test_normalising_twice_is_normalising_once(language: str, text: str) -> None:
    once = normalise(language, text)
    assert normalise(language, once) == once


@pytest.mark.heavy
@given(text=st.text(max_size=80))
def test_tokens_cover_all_but_space_and_comments(text: str) -> None:
    data = encode(text)
    for token in tokens(text):
        assert decode(data[token.start : token.end]) == token.text


def test_tokens_of_directives_are_marked() -> None:
    assert [(t.text, t.directive) for t in tokens("#define A \\\n 1\nint b;")] == [
        ("#", True),
        ("define", True),
        ("A", True),
        ("1", True),
        ("int", False),
        ("b", False),
        (";", False),
    ]


def test_numbers_and_raw_strings_are_single_tokens() -> None:
    assert [t.text for t in tokens('1\'000\'000 0x1p-3 R"x(a)" b)x" a->*b')] == [
        "1'000'000",
        "0x1p-3",
        'R"x(a)" b)x"',
        "a",
        "->*",
        "b",
    ]


def test_equal_programs_have_equal_fingerprints() -> None:
    one, other = Program({"a.cpp": CPP}), Program({"a.cpp": f"{CPP}// end\n"})
    assert fingerprint(one.files, "cpp") == fingerprint(other.files, "cpp")
    assert fingerprint(one.files, "cpp") != fingerprint({"a.cpp": CPP.replace("2", "3")}, "cpp")
    assert fingerprint(one.files, "cpp") != fingerprint({"b.cpp": CPP}, "cpp")


def test_only_files_of_a_programs_language_are_compared_without_comments() -> None:
    files = {"a.py": "x = 1\n", "b.c": "#define N 4\n", "Makefile": "all:\n\tcc b.c\n"}

    def changed(language: str, **others: str) -> bool:
        return fingerprint({**files, **others}, language) != fingerprint(files, language)

    assert not changed("python", **{"a.py": "x = 1  # one\n"})
    assert changed("python", **{"b.c": "#define N 8\n"}), "in Python that is a comment"
    assert changed("c", **{"a.py": "x =\\\n1\n"}) and not changed("c", **{"b.c": "#define N 4 // four\n"})
    assert changed("c", Makefile="all:\n        cc b.c\n")
    assert fingerprint({"b.h": "int x;\n"}, "cpp") == fingerprint({"b.h": "int  x; // here\n"}, "cpp")


def test_a_difference_is_unified_and_empty_for_equal_texts() -> None:
    assert unified_diff("a\nb\n", "a\nc\n", "x.cpp").splitlines() == [
        "--- a/x.cpp",
        "+++ b/x.cpp",
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "+c",
    ]
    assert unified_diff("a\n", "a\n") == ""
    assert "No newline" in unified_diff("a", "b")


@given(text=st.text(alphabet="`~ab\n c", max_size=40).filter(lambda text: "\r" not in text))
def test_what_is_fenced_is_read_back(text: str) -> None:
    body = text if text.endswith("\n") else f"{text}\n"
    assert fences(f"words\n\n{fenced(text, 'cpp')}\nmore") == [("cpp", body)]


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        ("<think>a\n```cpp\nx\n```\n</think>\nanswer", "\nanswer"),
        ("<THINKING>a</Thinking>answer", "answer"),
        ("<reasoning>never closed", ""),
        ("no opening tag\n</think>answer", "answer"),
        ("a\n</think>\nb\n</think>c", "c"),
        ("one\n<think>two</think>three", "one\nthree"),
        ("a ``` b\n```</think>```cpp", "```cpp"),
        ("[THINK]a[/THINK]answer", "answer"),
        ("set<think> x; [think](){};", "set<think> x; [think](){};"),
        ('puts("</think>"); puts("<think>");', 'puts("</think>"); puts("<think>");'),
    ],
)
def test_reasoning_is_no_part_of_the_answer(completion: str, answer: str) -> None:
    assert answer_of(completion) == answer


def test_prose_is_what_is_neither_reasoning_nor_code() -> None:
    assert prose("<think>hm\n```\nx\n```\n</think>\nTwo words.\n```cpp\nint x;\n```\nDone.") == "Two words.\nDone."


def test_texts_that_the_grammar_gives_up_are_never_the_same_program() -> None:
    joined = "\\\n" * 2000
    one, other = f"x = {joined}1\n", f"x = {joined}2\n"
    assert parse("python", one).root.end_byte == parse("python", other).root.end_byte == 1
    assert fingerprint({"a.py": one}, "python") != fingerprint({"a.py": other}, "python")


def test_a_literal_that_is_not_closed_ends_with_its_line() -> None:
    assert [t.text for t in tokens("#error it's so // no\nint a;")][2:] == ["it", "'s so // no", "int", "a", ";"]
