"""Answers that are not as asked for but can be used: none is thrown away for its shape."""

from __future__ import annotations

import time

import pytest

from maxcode.core.types import Program
from maxcode.llm.completion import Unread, read
from tests.llm.test_completion import FAST, ORIGINAL, PYTHON, SLOW, block, reason, text_of


@pytest.mark.parametrize(
    "reading",
    [
        "from os import read\nread(0, 9)",
        "import io\nio.FileIO(0)",
        "import mmap\nmmap.mmap(0, 0)",
        "import posix\nposix.read(0)",
    ],
)
def test_a_python_program_may_read_its_input_in_any_way(reading: str) -> None:
    assert text_of(block(f"{reading}\n", "python"), PYTHON, "python") == f"{reading}\n"


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("def solve(xs):\n    return sum(xs)\n", "solve"),
        ("from numba import njit\n\nsolve = njit(sum)\n", "solve"),
        ("class Solver:\n    def solve(self, xs):\n        return sum(xs)\n", "Solver"),
        ("try:\n    import numba\n    def solve(xs): return sum(xs)\nexcept ImportError:\n    solve = sum\n", "solve"),
        ("from builtins import len as size, sum as solve\n", "solve"),
    ],
)
def test_a_python_function_is_a_block_that_defines_it(text: str, entry: str) -> None:
    original = Program({"f.py": f"import os\n{text}"})
    told = f"{block(text, 'python')}\nCalled as\n{block('print(f([1]))' + chr(10), 'python')}"
    assert read(told, original, "python", entry=entry) == Program({"f.py": text})
    assert f"defines {entry}:" in reason(block("x = 1\n", "python"), original, "python", entry=entry)


def test_a_python_file_of_a_repository_needs_no_class() -> None:
    original = Program({"pkg/a.py": "def f(): ...\n", "pkg/b.py": "x = 1\n"})
    found = read(
        f"pkg/a.py:\n{block('def f(): return 1' + chr(10), 'python')}", original, "python", "edits", "", True, True
    )
    assert found == Program({**original.files, "pkg/a.py": "def f(): return 1\n"})


@pytest.mark.parametrize(
    ("language", "whole", "part"),
    [
        ("rust", "use std::io;\nfn main() {\n    read();\n}\n", "let x = read();\n"),
        ("go", "package main\n\nfunc main() {\n\tread()\n}\n", "x := read()\n"),
        ("java", "class A {\n    public static void main(String[] a) {}\n}\n", "int x = 1;\n"),
        ("javascript", "const s = require('fs').readFileSync(0);\n", "const x = s.length;\n"),
    ],
)
def test_a_part_that_is_shown_after_a_program_is_not_the_program(language: str, whole: str, part: str) -> None:
    original = Program({"a": f"{whole}\n"})
    assert text_of(f"{block(whole, language)}\nNew is\n{block(part, language)}", original, language) == whole
    assert "give the whole program" in reason(block(part, language), original, language)


@pytest.mark.parametrize(
    "comment",
    [
        "Previous implementation did the same with a map",
        "existing functions keep the same order of sums",
        "The existing code used a set; lookups are the same",
        "remaining functions are of the same size ...",
    ],
)
def test_words_about_the_old_program_are_no_code_that_was_left_out(comment: str) -> None:
    text = FAST.replace("int main", f"// {comment}\nint main")
    assert text_of(block(text)) == text


@pytest.mark.parametrize(
    "comment",
    [
        "rest of the code remains the same",
        "Remaining functions are unchanged.",
        "(rest of the main function, as before)",
        "the rest of the program is exactly the same as in the original",
        "rest of implementation omitted for brevity",
        "existing code here ...",
        "rest of the code (input, output) unchanged",
        "rest of the program is unchanged, see above",
        "existing code for reading the input omitted",
    ],
)
def test_words_in_place_of_code_are_told_as_such(comment: str) -> None:
    assert "left out" in reason(block(FAST.replace("int n;", f"// {comment}")))


def test_edits_in_a_block_that_looks_like_the_program_are_applied() -> None:
    edit = "<<<<<<< SEARCH\nint main() {\n    int n;\n=======\nint main() {\n    long n;\n>>>>>>> REPLACE\n"
    assert text_of(block(edit)) == SLOW.replace("int n;", "long n;")
    assert text_of(f"{block(FAST)}\nThat is\n{block(edit)}") == FAST


@pytest.mark.parametrize("heading", ["------ Search phase ------", "<<<<<< search", "----- SEARCH"])
def test_a_heading_in_a_program_is_no_beginning_of_an_edit(heading: str) -> None:
    text = f"/*\n{heading}\n*/\n{FAST}"
    assert text_of(block(text)) == text


def test_a_program_with_a_line_as_long_as_an_answer_is_read_in_no_time() -> None:
    original = Program({"a.py": "print(input())\n"})
    start = time.process_time()
    assert "reads the input" in reason(block(f"# {'os import ' * 20_000}\n", "python"), original, "python")
    assert time.process_time() - start < 5


UNENDED = "```cpp\n<<<<<<< SEARCH\n    int n;\n=======\n    long n;\n```\n"


def test_the_last_edit_of_a_whole_answer_ends_with_its_fence() -> None:
    found = read(f"{UNENDED}It is wider.\n", ORIGINAL, "cpp", "edits", complete=True)
    assert found == ORIGINAL.with_text(SLOW.replace("int n;", "long n;"))
    cut = read(UNENDED, ORIGINAL, "cpp", "edits")
    assert isinstance(cut, Unread) and cut.cut
    bare = read(UNENDED.replace("```cpp\n", "").replace("```", "So it is."), ORIGINAL, "cpp", "edits", complete=True)
    assert isinstance(bare, Unread) and "no line `>>>>>>> REPLACE`" in bare.reason, "where it ends is not known"


DIFF = "--- a/slow.cpp\n+++ b/slow.cpp\n@@ -2,3 +2,3 @@\n int main() {\n-    int n;\n+    long n;\n"


@pytest.mark.parametrize(
    "after",
    [
        "\nThis is wider.\n",
        '     scanf("%d", &n);\nThis is wider:\n    it holds more.\n',
        '     scanf("%d", &n);\n-- \n2.39.5\n',
        '    scanf("%d", &n);\n',
    ],
)
def test_words_after_a_diff_are_no_part_of_it(after: str) -> None:
    assert text_of(f"{DIFF}{after}", answer="edits") == SLOW.replace("int n;", "long n;")


def test_a_diff_that_keeps_no_line_to_find_is_not_put_somewhere() -> None:
    added = "--- a/slow.cpp\n+++ b/slow.cpp\n@@ -3,2 +3,3 @@\n+    long more = 0;\nint another;\n"
    assert "does not fit" in reason(added, answer="edits")
