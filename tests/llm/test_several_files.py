"""Answers about several files: SEARCH/REPLACE blocks and unified diffs, and what is said where one does not fit."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxcode.core.types import Program
from maxcode.llm.completion import Answer, Unread, read

DOT = """#include "dot.h"

double dot(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
"""
MAIN = """#include "dot.h"
#include <stdio.h>

int main(void) {
    double a[3] = {1, 2, 3};
    printf("%g\\n", dot(a, a, 3));
    return 0;
}
"""
HEADER = "double dot(const double *a, const double *b, int n);\n"
REPO = Program({"src/dot.c": DOT, "src/dot.h": HEADER, "app/main.c": MAIN, "src/list.c": "int x;\r\nint y;\r\n"})
FAST = {
    "src/dot.c": DOT.replace("double s = 0;", "double s = 0, t = 0;").replace("return s;", "return s + t;"),
    "app/main.c": MAIN.replace("double a[3]", "static double a[3]"),
}


def program(completion: str, answer: Answer = "edits", given: Program = REPO) -> Program:
    found = read(completion, given, "c", answer)
    assert isinstance(found, Program), found
    return found


def reason(completion: str, answer: Answer = "edits", given: Program = REPO) -> str:
    found = read(completion, given, "c", answer)
    assert isinstance(found, Unread), found
    return found.reason


def diff_of(before: dict[str, str], after: dict[str, str], context: int = 3) -> str:
    parts = []
    for path, text in after.items():
        lines = difflib.unified_diff(
            before[path].splitlines(), text.splitlines(), f"a/{path}", f"b/{path}", lineterm="", n=context
        )
        parts.append("\n".join(lines))
    return "\n".join(parts) + "\n"


DIFF = diff_of(dict(REPO.files), FAST)


@pytest.mark.parametrize("answer", ["edits", "whole"])
@pytest.mark.parametrize(
    "completion",
    [
        DIFF,
        f"Two sums.\n\n```diff\n{DIFF}```\nIt breaks the chain.\n",
        f"```diff\ndiff --git a/src/dot.c b/src/dot.c\nindex 12ab..34cd 100644\n{DIFF}\n\n```",
        DIFF.replace("a/src/", "").replace("b/src/", "").replace("a/app/", "").replace("b/app/", ""),
        DIFF.replace("@@ -1,8 +1,8 @@", "@@ -90,3 +91,4 @@ double dot"),
        DIFF.replace("    ", "  "),  # the indentation is not that of the files
    ],
    ids=["bare", "fenced", "of git", "by name", "wrong numbers", "other indentation"],
)
def test_a_diff_of_two_files_is_applied(completion: str, answer: Answer) -> None:
    files = program(completion, answer).files
    assert files == {**REPO.files, **FAST}


def test_blocks_of_two_files_are_applied_in_order_and_may_make_a_file() -> None:
    found = program(
        "src/dot.c\n<<<<<<< SEARCH\n    double s = 0;\n=======\n    double s = sum(a, b, n);\n>>>>>>> REPLACE\n"
        "src/sum.h\n<<<<<<< SEARCH\n=======\ndouble sum(const double *a, const double *b, int n);\n>>>>>>> REPLACE\n"
        "app/main.c\n<<<<<<< SEARCH\n    return 0;\n=======\n    return 1;\n>>>>>>> REPLACE\n"
    ).files
    assert "sum(a, b, n)" in found["src/dot.c"]
    assert found["src/sum.h"].startswith("double sum(")
    assert "return 1;" in found["app/main.c"]
    new = program("--- /dev/null\n+++ b/src/new.c\n@@ -0,0 +1,2 @@\n+int a;\n+int b;\n").files
    assert new["src/new.c"] == "int a;\nint b;\n"


def test_line_ends_of_a_file_stay() -> None:
    found = program("--- a/src/list.c\n+++ b/src/list.c\n@@ -1,2 +1,2 @@\n-int x;\n+long x;\n int y;\n")
    assert found.files["src/list.c"] == "long x;\r\nint y;\r\n"


def test_a_hunk_stands_nearest_to_the_line_that_it_names() -> None:
    text = "\n".join(f"{'same();' if n % 10 == 0 else f'line{n}();'}" for n in range(1, 60)) + "\n"
    given = Program({"a.c": text})
    found = program("--- a/a.c\n+++ b/a.c\n@@ -29,1 +29,1 @@\n-same();\n+other();\n", given=given)
    assert found.files["a.c"].split("\n")[29] == "other();"


def test_what_does_not_fit_is_named_with_the_lines_that_stand_there() -> None:
    wrong = DIFF.replace("-    double s = 0;", "-    float s = 0;")
    assert reason(wrong) == (
        "hunk 1 of the diff does not fit into src/dot.c: its lines are not there; nearest are lines 1 to 8 of "
        'src/dot.c; line 4 differs:\n    1 | #include "dot.h"\n    2 | \n'
        "    3 | double dot(const double *a, const double *b, int n) {\n    4 |     double s = 0;\n"
        "    5 |     for (int i = 0; i < n; i++)\n    6 |         s += a[i] * b[i];\n    7 |     return s;\n    8 | }"
    )
    block = (
        "app/main.c\n<<<<<<< SEARCH\n    return 0;\n=======\n    return 1;\n>>>>>>> REPLACE\n"
        "src/dot.c\n<<<<<<< SEARCH\n    for (int i = 0; i < n; ++i)\n        s += a[i] * b[i];\n=======\n    ;\n"
        ">>>>>>> REPLACE\n"
    )
    assert reason(block) == (
        "SEARCH/REPLACE block 2: its SEARCH lines are not in the program (they begin with `for (int i = 0; i < n; "
        "++i)`); nearest are lines 5 to 6 of src/dot.c; line 5 differs:\n"
        "    5 |     for (int i = 0; i < n; i++)\n    6 |         s += a[i] * b[i];"
    )
    twice = '<<<<<<< SEARCH\n#include "dot.h"\n=======\n#include "sum.h"\n>>>>>>> REPLACE\n'
    assert "occur 2 times: add lines around them (they stand at src/dot.c:1, app/main.c:1)" in reason(twice)


def test_what_no_diff_may_do_is_refused() -> None:
    assert "which is none of the files: src/dot.c," in reason("--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n")
    assert "a file cannot be removed" in reason("--- a/src/dot.h\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n")
    assert "is there already" in reason("--- /dev/null\n+++ b/src/dot.h\n@@ -0,0 +1 @@\n+x\n")
    same = "--- a/src/dot.h\n+++ b/src/dot.h\n@@ -1 +1 @@\n" + f" {HEADER}"
    assert "nothing changed: the diff leaves every file as it is" in reason(same)
    assert "its SEARCH part is empty" in reason(
        "<<<<<<< SEARCH\n=======\nint a;\n>>>>>>> REPLACE\n", given=Program({"main.c": MAIN})
    )


def test_an_empty_search_part_makes_a_file_in_a_repository_of_one_file() -> None:
    base, new = Program({"src/main.c": MAIN}), "<<<<<<< SEARCH\n=======\nint a;\n>>>>>>> REPLACE\n"
    found = read(f"src/a.c\n{new}", base, "c", "edits", is_open=True)
    assert isinstance(found, Program)
    assert found.files == {"src/main.c": MAIN, "src/a.c": "int a;\n"}
    for words, why in ((f"A new file.\n{new}", "the line before it names none"),
                       (f"src/main.c\n{new}", "src/main.c is there already: give the lines")):  # fmt: skip
        unread = read(words, base, "c", "edits", is_open=True)
        assert isinstance(unread, Unread)
        assert why in unread.reason


LINE = st.sampled_from(["a", "b", "  c", "", "d();", "}", "\te"])
TEXT = st.lists(LINE, min_size=1, max_size=12).map(lambda lines: "\n".join(lines) + "\n")


@settings(deadline=None)
@given(before=TEXT, after=TEXT)
def test_the_diff_of_any_two_texts_gives_the_second(before: str, after: str) -> None:
    given = Program({"a.c": before + "end\n", "b.c": "x\n"})
    wanted = after + "end\n"
    if wanted == given.files["a.c"]:
        return
    found = program(diff_of(dict(given.files), {"a.c": wanted}, context=30), given=given)
    assert found.files["a.c"] == wanted


@settings(deadline=None)
@given(st.lists(st.sampled_from([*DIFF.split("\n"), "@@", "```", "--- /dev/null", "+++ b/x.c", " ", "-"]), max_size=30))
def test_no_text_raises(lines: list[str]) -> None:
    assert read("\n".join(lines), REPO, "c", "edits") is not None
