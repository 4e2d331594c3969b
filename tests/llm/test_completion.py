"""Reading programs out of completions: whole ones and edits, in all the shapes that models give them."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from maxcode.code.source import fenced
from maxcode.core.types import Program
from maxcode.llm.completion import Answer, Unread, read

SLOW = '#include <cstdio>\nint main() {\n    int n;\n    scanf("%d", &n);\n    printf("%d\\n", n + 1);\n}\n'
FAST = SLOW.replace("n + 1", "++n")
OTHER = SLOW.replace("n + 1", "1 + n")
ORIGINAL = Program({"slow.cpp": SLOW})
PYTHON = Program({"slow.py": "n = int(input())\nprint(n + 1)\n"})
GEMM = '#include "gemm.h"\nvoid gemm(int n, double *C) {\n    for (int i = 0; i < n; i++) C[i] = 0;\n}\n'
TWO = Program({"src/main.cpp": f'#include "util.h"\n{SLOW}', "src/util.h": "int f(int);\n"})


def block(text: str, tag: str = "cpp") -> str:
    return f"```{tag}\n{text}```"


def text_of(completion: str, program: Program = ORIGINAL, language: str = "cpp", answer: Answer = "whole") -> str:
    found = read(completion, program, language, answer)
    assert isinstance(found, Program), found
    return found.files[program.name]


def reason(
    completion: str,
    program: Program = ORIGINAL,
    language: str = "cpp",
    answer: Answer = "whole",
    entry: str = "main",
) -> str:
    found = read(completion, program, language, answer, entry)
    assert isinstance(found, Unread), found
    return found.reason


# ------------------------------------------------------------------------------------------------------ whole programs

SHAPES: dict[str, Callable[[str], str]] = {
    "plain": lambda p: block(p),
    "text before and after": lambda p: (
        f"Sure! This is faster:\n\n{block(p)}\n\nIt saves `n` additions. ```inline``` ok.\n"
    ),
    "tildes": lambda p: f"~~~cpp\n{p}~~~",
    "tildes around backticks": lambda p: f"~~~~cpp\n{p}~~~~",
    "long fence": lambda p: f"``````C++\n{p}``````",
    "no tag": lambda p: block(p, ""),
    "spaces behind the fences": lambda p: f"``` cpp  \n{p}```   \n",
    "carriage returns": lambda p: block(p).replace("\n", "\r\n"),
    "tag in braces": lambda p: block(p, "{.cpp .numberLines}"),
    "tag with a standard": lambda p: block(p, "c++17"),
    "tag with a title": lambda p: block(p, 'cpp title="fast.cpp"'),
    "tag with a path": lambda p: block(p, "cpp:src/fast.cpp"),
    "tag is a path": lambda p: block(p, "fast.cpp"),
    "language-cpp": lambda p: block(p, "language-cpp"),
    "in a list": lambda p: "1. The program:\n\n" + "".join(f"   {line}\n" for line in block(p).split("\n")),
    "reasoning before": lambda p: f"<think>\nMaybe\n{block(OTHER)}\nno.\n</think>\n\n{block(p)}",
    "reasoning with an open block": lambda p: f"<think>\n```cpp\n{OTHER}</think>\n{block(p)}",
    "reasoning closed only": lambda p: f"Maybe\n{block(OTHER)}\nno.</think>\n\n{block(p)}",
    "reasoning glued to the answer": lambda p: f"Hm.</think>{block(p)}",
    "thinking in capitals": lambda p: f"<Thinking>\n{block(OTHER)}</Thinking>\n{block(p)}",
    "two reasonings": lambda p: f"<think>a</think>First.\n<reasoning>{OTHER}</reasoning>\n{block(p)}",
    "several candidates": lambda p: f"{block(OTHER)}\nBetter:\n{block(p)}",
    "a snippet after it": lambda p: f"{block(p)}\nThe point is\n{block('n = ++n;' + chr(10))}",
    "a command after it": lambda p: f"{block(p)}\n```bash\ng++ -O3 main.cpp && ./a.out\n```\nprints\n```\n3\n```",
    "a diff after it": lambda p: f"{block(p)}\nThat is:\n```diff\n-int main() {{ a(); }}\n+int main() {{ b(); }}\n```",
    "a sketch after it": lambda p: (
        f"{block(p)}\nIn short:\n{block('int main() {' + chr(10) + '// ... rest of the code' + chr(10) + '}')}"
    ),
    "python beside it": lambda p: f"{block(p)}\n```python\ndef main():\n    pass\n```",
    "wrapped in markdown": lambda p: f"```markdown\nHere:\n{block(p)}\n```",
    "wrapped in longer markdown": lambda p: f"````md\nHere:\n{block(p)}\n````\nBye",
    "first end forgotten": lambda p: f"```cpp\n{OTHER}\nBetter:\n{block(p)}",
    "stray fence at the end": lambda p: f"{block(p)}\n```",
    "opening glued to text": lambda p: f"Here it is: {block(p)}",
    "end glued to code": lambda p: f"```cpp\n{p.rstrip()}```",
    "escaped": lambda p: block(html.escape(p)),
    "no fence": lambda p: p,
    "no fence after reasoning": lambda p: f"<think>{OTHER}</think>\n{p}",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_program_is_read_back_from_every_shape(shape: str) -> None:
    assert text_of(SHAPES[shape](FAST)).strip() == FAST.strip()


LINES = st.sampled_from(
    [
        'puts("<think>");',
        'puts("</think>");',
        "// a ``` b",
        '  auto s = R"(```)";',
        "vector<map<int, int>> v; // x && y",
        "#define rep(i, n) for (int i = 0; i < (n); i++)",
        "rep(i, n) { a[i] = b[i]; }",
        "",
        "\t// é 雪 \x0c \u2028 end",
        "struct T { int main; };",
        "// ... and so on",
        "=======",
        "int f() { return 3; }",
        "x = a<b> (c);",
        'puts("&lt;b&gt; &amp;");',
    ]
)
PROGRAMS = st.tuples(st.lists(LINES), st.lists(LINES)).map(
    lambda parts: "\n".join(["#include <x>", *parts[0], "int main(int c, char **v) {", *parts[1], "}", ""])
)
SAFE = [name for name in SHAPES if name != "end glued to code"]


@settings(deadline=None)
@given(text=PROGRAMS, shape=st.sampled_from(SAFE))
def test_any_program_is_read_back_exactly(text: str, shape: str) -> None:
    found = text_of(SHAPES[shape](text), Program({"a.cpp": text}))
    assert found == text or (shape.startswith("no fence") and found.strip() == text.strip())


@settings(deadline=None)
@given(text=st.text(alphabet="`~ab \n#", max_size=60), tag=st.sampled_from(["cpp", "", "C"]))
def test_what_a_longer_fence_holds_is_read_exactly(text: str, tag: str) -> None:
    body = f"int main() {{}}\n{text}\n"
    assert text_of(f"words\n{fenced(body, tag)}\nmore") == body


FRAGMENTS = [
    "```",
    "```cpp",
    "~~~",
    "<think>",
    "</think>",
    "int main() {",
    "}",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
]


@pytest.mark.heavy
@settings(deadline=None)
@given(
    text=st.text(st.characters(), max_size=80)
    | st.lists(st.sampled_from(FRAGMENTS) | st.text(st.characters(exclude_categories=()), max_size=8)).map("\n".join),
    answer=st.sampled_from(["whole", "edits"]),
    language=st.sampled_from(["cpp", "c", "python"]),
)
def test_no_text_makes_reading_fail(text: str, answer: Answer, language: str) -> None:
    found = read(text, ORIGINAL, language, answer)
    if isinstance(found, Unread):  # quoted lines of the program may follow the sentence
        assert 0 < len(found.reason.split("\n")[0]) < 250
    if isinstance(found, Program):
        assert found.files.keys() == ORIGINAL.files.keys()
        found.files["slow.cpp"].encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("completion", "why"),
    [
        ("", "no answer"),
        ("<think>so long", "no answer after its reasoning"),
        ("I cannot make this faster.", "no code block"),
        (block("int f() { return 1; }\n"), r"defines main\(\)"),
        (block("// int main() {}\nint f() { return main(1); }\n"), r"defines main\(\)"),
        (block("print(1)\n", "python"), "no code block is cpp"),
        (f"```cpp\n{FAST[:60]}", "the answer was cut"),
        (f"{block(FAST)}\nEven better:\n```cpp\n#include <cstdio>\nint ma", "the answer was cut"),
        (f"```markdown\n```cpp\n{FAST[:60]}", "the answer was cut"),
        ("```diff\n-int main() { return 0; }\n+int main() { return 1; }\n```", "diff"),
        (block("--- a/x.cpp\n+++ b/x.cpp\n@@ -1 +1 @@\n-int main() {}\n+int main() { }\n"), "diff"),
        (block("int main() {\n    // ... existing code ...\n}\n"), "left out .*existing code"),
        (block("int main() {\n    /* rest of the code unchanged */\n}\n"), "left out"),
        (f"Here it is:\n{FAST}", "no code block"),
    ],
)
def test_what_is_no_whole_program_says_why(completion: str, why: str) -> None:
    assert re.search(why, reason(completion))


def test_a_cut_answer_says_so_to_whoever_asks() -> None:
    assert read(f"```cpp\n{FAST[:60]}", ORIGINAL, "cpp") == Unread(
        "the last code block is never closed: the answer was cut", cut=True
    )


def test_an_open_last_block_is_whole_if_the_model_ended_by_itself() -> None:
    found = read(f"Here:\n```cpp\n{FAST}", ORIGINAL, "cpp", complete=True)
    assert isinstance(found, Program) and found.text == FAST
    assert isinstance(read(f"```cpp\n{FAST[:60]}", ORIGINAL, "cpp", complete=True), Unread), "half a program is none"
    assert isinstance(read(f"Here:\n```cpp\n{FAST}", ORIGINAL, "cpp"), Unread)


def test_a_python_program_must_parse_and_read_its_input() -> None:
    assert text_of(block("print(int(input()) + 1)\n", "py"), PYTHON, "python") == "print(int(input()) + 1)\n"
    fast = "def main():\n    '''\n```python\nmain()\n```\n    '''\n    print(int(input()) + 1)\nmain()\n"
    assert text_of(block(fast, "python3"), PYTHON, "python") == fast
    assert "not Python: see its line 1" in reason(block("print(1\n", "python"), PYTHON, "python")
    assert "reads the input" in reason(block("print(best)\n", "python"), PYTHON, "python")


def test_indented_python_keeps_its_own_indentation() -> None:
    fast = "if True:\n    print(input())\n"
    indented = "".join(f"    {line}\n" for line in block(fast, "python").split("\n"))
    assert text_of(f"1. So:\n\n{indented}", PYTHON, "python") == fast


def test_a_function_is_a_block_that_defines_it() -> None:
    original = Program({"gemm.c": GEMM})
    fast = GEMM.replace("i++", "++i")
    completion = f"{block(fast, 'c')}\nCalled as\n{block('int main() { gemm(n, C); }', 'c')}\n"
    assert read(completion, original, "c", entry="gemm") == Program({"gemm.c": fast})
    assert "defines gemm()" in reason(block("void gemm(int n, double *C);\n", "c"), original, "c", entry="gemm")


def test_a_main_that_a_macro_writes_is_believed_where_the_program_has_it() -> None:
    original = Program({"a.cpp": "#define RUN int main() { return go(); }\nRUN\n"})
    assert text_of(block("#define RUN int main() { go(); }\nRUN\n"), original).endswith("RUN\n")
    assert "defines main()" in reason(block("int go();\n"), original)


@pytest.mark.parametrize(
    "named",
    [
        "```cpp:src/util.h\n%s```",
        '```cpp title="util.h"\n%s```',
        "### `src/util.h`\n```cpp\n%s```",
        "**util.h**:\n\n```cpp\n%s```",
        "```cpp\n// util.h\n%s```",
    ],
)
def test_a_block_names_its_file_in_several_ways(named: str) -> None:
    found = read(f"{block(TWO.files['src/main.cpp'])}\n\n{named % ('int g(int);' + chr(10))}", TWO, "cpp")
    assert isinstance(found, Program)
    assert found.files["src/main.cpp"] == TWO.files["src/main.cpp"]
    assert "int g(int);" in found.files["src/util.h"]


def test_files_that_are_not_given_stay() -> None:
    found = read(block(FAST), TWO, "cpp")
    assert found == Program({**TWO.files, "src/main.cpp": FAST})


def test_line_ends_are_those_of_the_program() -> None:
    original = Program({"a.cpp": SLOW.replace("\n", "\r\n")})
    assert text_of(block(FAST), original) == FAST.replace("\n", "\r\n")


def test_halves_of_letters_become_something_that_can_be_written() -> None:
    assert "\ufffd" in text_of(block(f"// \ud83d\n{FAST}"))


# --------------------------------------------------------------------------------------------------------------- edits


def edit(search: str, replacement: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replacement}\n>>>>>>> REPLACE".replace("=\n\n>", "=\n>")


ONE = edit('    printf("%d\\n", n + 1);', '    printf("%d\\n", ++n);')


@pytest.mark.parametrize(
    "completion",
    [
        ONE,
        f"One addition less.\n\n```cpp\n{ONE}\n```\nDone.",
        f"```\nslow.cpp\n{ONE}\n```",
        f"<think>{edit('x', 'y')}</think>\n{ONE}",
        ONE.replace("\n", "\r\n"),
        html.escape(ONE),
        ONE.replace("SEARCH\n", "SEARCH\n```cpp\n").replace("\n====", "\n```\n====").replace("====\n", "====\n```\n")
        .replace("\n>>>", "\n```\n>>>"),
        ONE.replace("<<<<<<< SEARCH", "------- SEARCH").replace(">>>>>>> REPLACE", "+++++++ REPLACE"),
        ONE.replace("1);", "1);  "),
        ONE.replace("    printf", "printf"),
        ONE.replace("    printf", "\n        printf"),
        edit("    int n;", "    int m;") + "\n" + edit("    int m;", "    int n;") + "\n" + ONE,
    ],
)  # fmt: skip
def test_an_edit_is_applied_in_every_shape(completion: str) -> None:
    assert text_of(completion, answer="edits") == FAST


@settings(deadline=None)
@given(data=st.data())
def test_edits_made_from_a_difference_are_applied_exactly(data: st.DataObject) -> None:
    words = st.sampled_from(["a", "b", " a", "a ", "", "}", "=======", "```", "c", "\tc", "#include"])
    before = data.draw(st.lists(words, min_size=1, max_size=12))
    after = data.draw(st.lists(words, max_size=12))
    assume(before != after)
    completion, now = [], list(before)
    for kind, i, j, k, m in reversed(difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()):
        if kind == "equal":
            continue
        start, end = widened(now, i, j)
        search, put = now[start:end], now[start:i] + after[k:m] + now[j:end]
        assume(start < end and any(line.strip() for line in search))
        assume(places(now, search) == 1 and "=======" not in [*search, *put])
        completion.append("\n".join(["<<<<<<< SEARCH", *search, "=======", *put, ">>>>>>> REPLACE"]))
        now[start:end] = put
    assert now == after
    found = read("\n\n".join(completion), Program({"a.cpp": "\n".join(before)}), "cpp", "edits")
    assert found == Program({"a.cpp": "\n".join(after)})


def places(lines: list[str], search: list[str]) -> int:
    return sum(lines[at : at + len(search)] == search for at in range(len(lines)))


def widened(lines: list[str], start: int, end: int) -> tuple[int, int]:
    while (start > 0 or end < len(lines)) and (
        places(lines, lines[start:end]) != 1 or not any(line.strip() for line in lines[start:end])
    ):
        start, end = max(0, start - 1), min(len(lines), end + 1)
    return start, end


def test_a_replacement_moves_with_its_lines() -> None:
    assert text_of(edit("int n;", "int n;\nif (n) {\n    n++;\n}"), answer="edits") == SLOW.replace(
        "    int n;", "    int n;\n    if (n) {\n        n++;\n    }"
    )


def test_a_divider_in_the_program_is_told_apart() -> None:
    original = Program({"a.py": "def f():\n    '''\nTitle\n=======\n    '''\n"})
    found = read(edit("Title\n=======\n    '''", "    '''"), original, "python", "edits")
    assert found == Program({"a.py": "def f():\n    '''\n    '''\n"})


def test_edits_keep_the_line_ends_of_the_program() -> None:
    original = Program({"a.cpp": SLOW.replace("\n", "\r\n")})
    assert text_of(ONE, original, answer="edits") == FAST.replace("\n", "\r\n")


def test_an_edit_finds_its_file_or_is_told_it() -> None:
    both = Program({"a.cpp": "int x;\nint a;\n", "b.h": "int x;\n"})
    assert read(edit("int a;", "int b;"), both, "cpp", "edits") == Program({**both.files, "a.cpp": "int x;\nint b;\n"})
    named = read(f"b.h\n```cpp\n{edit('int x;', 'int y;')}\n```", both, "cpp", "edits")
    assert named == Program({**both.files, "b.h": "int y;\n"})
    assert "occur 2 times" in reason(edit("int x;", "int y;"), both, answer="edits")


@pytest.mark.parametrize(
    ("completion", "why"),
    [
        (
            f"{ONE}\n{edit('no such line', 'x')}",
            "block 2: its SEARCH lines are not in the program (they begin with `no",
        ),
        (edit("", "int x;"), "block 1: its SEARCH part is empty"),
        (edit("    int n;", "    int n;"), "nothing changed"),
        (f"{ONE}\n<<<<<<< SEARCH\n    int n;\n====", "block 2 is never closed: the answer was cut"),
        (
            f"{ONE.removesuffix('>>>>>>> REPLACE')}{edit('    int n;', '    long n;')}",
            "block 1 has no line `>>>>>>> REP",
        ),
        ("I would change the loop.", "no SEARCH/REPLACE block"),
        ("```cpp\nint main() {", "the answer was cut"),
    ],
)
def test_edits_that_cannot_be_applied_say_which_and_why(completion: str, why: str) -> None:
    assert why in reason(completion, answer="edits")


def test_a_program_that_holds_such_markers_can_be_edited() -> None:
    holds = Program({"a.cpp": f"/*\n<<<<<<< SEARCH\n*/\n{SLOW}"})
    assert text_of(edit("<<<<<<< SEARCH\n*/", "*/"), holds, answer="edits") == f"/*\n*/\n{SLOW}"


def test_lines_that_differ_in_indentation_only_are_not_guessed() -> None:
    original = Program({"a.cpp": "  x();\n    x();\nint main() {}\n"})
    assert "occur 2 times" in reason(edit("x();", "y();"), original, answer="edits")


def test_the_other_form_of_answer_is_read_too() -> None:
    assert text_of(block(FAST), answer="edits") == FAST
    assert text_of(f"```cpp\n{ONE}\n```") == FAST


def test_a_model_that_repeats_itself_without_end_has_left_nothing_out() -> None:
    endless = f"// rest of the {'code ' * 20_000} unchanged\n"  # to look at all of it takes minutes
    assert text_of(block(endless + FAST)) == endless + FAST


def test_a_last_line_that_both_parts_cut_at_one_place_is_context() -> None:
    program = Program(
        {"main.cpp": "int f() {\n    int n = 0;\n    while ((n + 1) < 9)\n        n++;\n    return n;\n}\n"}
    )
    block = "<<<<<<< SEARCH\n    int n = 0;\n    while ((n\n=======\n    int n = 5;\n{0}\n>>>>>>> REPLACE\n"
    found = read(block.replace("{0}", "    while ((n"), program, "cpp", "edits")
    assert isinstance(found, Program) and "int n = 5;\n    while ((n + 1) < 9)\n" in found.files["main.cpp"]
    for other in ("    while ((m", "    while ((n + 2"):  # the rest of the line would not fit
        refused = read(block.replace("{0}", other), program, "cpp", "edits")
        assert isinstance(refused, Unread) and "are not in the program" in refused.reason
