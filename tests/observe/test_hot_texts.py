"""Which texts of a large repository stand beside its profile: by the files that a profile names, not by chance."""

from __future__ import annotations

from maxcode.code.definitions import identifiers
from maxcode.core.types import HotFunction, Problem, Program, ProgramSpec, RepoSpec
from maxcode.evaluate.repo.own_functions import Costs, Function
from maxcode.observe.hot_texts import hot_texts
from maxcode.observe.repository import hot_lines_of

LEXER = '''from lib.words import consume, Token


class Lexer:
    def __init__(self):
        self.seen = 0

    def process(self, stream):
        """Process the stream. If it is a Statement, it ends."""
        for one in sorted(stream, key=lambda one: one.rank):
            yield Token(consume(one), one.group())  # a Comment

    def run(self, stream):
        return list(self.process(stream))
'''
WORDS = """class Token:
    __slots__ = ("kind", "value")
    LEVEL = 3

    def __init__(self, kind, value):
        self.kind = kind

    def process(self, stream):
        return stream


class Statement:
    KIND = 1


class Comment:
    KIND = 2


def consume(one):
    return one


def group(one):
    return one
"""
OTHER = """class Filter:
    def __init__(self):
        pass

    def process(self, stream):
        return stream


def run(lexer):
    return lexer
"""
FILES = {"lib/lexer.py": LEXER, "lib/words.py": WORDS, "lib/other.py": OTHER}
LEXED = HotFunction("lib/lexer.py", "process", 8, 0.5, ("run", "__init__", "process"))


def shown(*hot: HotFunction) -> list[str]:
    return told(FILES, *hot)


def told(files: dict[str, str], *hot: HotFunction) -> list[str]:
    repo = RepoSpec("/nowhere", "0" * 40, ("lib/**",), "./bench")
    program = Program(files)
    given = Problem("lexer", "repo", "python", program, ProgramSpec(repo=repo))
    return [text.partition(":\n")[0] for text in hot_texts(hot, program, given)]


def test_names_of_many_functions_are_left_out_and_what_the_hot_one_calls_is_shown() -> None:
    assert shown(LEXED) == [
        "lib/lexer.py, lines 8 to 11",
        "lib/words.py, lines 20 to 21",  # consume, which it calls; group is a method of Python's own
        "lib/lexer.py, lines 13 to 14",  # run, in the file of the hot function
        "lib/words.py, lines 1 to 3",  # the fields of Token; words of comments and strings name no type
    ]


def test_the_file_of_a_caller_decides_where_a_profile_names_it() -> None:
    hot = HotFunction("lib/words.py", "consume", 20, 0.5, ("run", "process"), called_from=("lib/other.py", ""))
    assert shown(hot) == ["lib/words.py, lines 20 to 21", "lib/other.py, lines 9 to 10"]


def test_of_a_lambda_the_function_around_it_is_shown() -> None:
    assert shown(HotFunction("lib/lexer.py", "<lambda>", 10, 0.5))[0] == "lib/lexer.py, lines 8 to 11"


def test_no_line_is_shown_twice_and_a_long_function_of_little_time_waits() -> None:
    outer = "def outer():\n    def inner():\n        return used()\n    return inner\n\n\ndef used():\n    return 1\n"
    rare = "def rare():\n" + "    print('a text of some words')\n" * 120
    hot = [
        HotFunction("a.py", "inner", 2, 0.5),
        HotFunction("b.py", "rare", 1, 0.03),
        HotFunction("a.py", "outer", 1, 0.02),
    ]
    assert told({"a.py": outer, "b.py": rare}, *hot) == [
        "a.py, lines 1 to 4",
        "a.py, lines 7 to 8",
        "b.py, lines 1 to 121",
    ]


def test_a_profile_tells_the_files_of_callers() -> None:
    costs, called = Costs(), Function("a.py", "match")
    for cost, caller in ((1.0, Function("b.py", "run")), (3.0, Function("c.py", "run"))):
        costs.add_call(called, caller, cost)
    assert costs.most_callers(called, 3) == (Function("c.py", "run"), Function("b.py", "run"))


def test_nothing_is_said_of_tests_of_a_name_that_others_have() -> None:
    lines = hot_lines_of((HotFunction("a.py", "match", 1, 0.5, tests=None), HotFunction("a.py", "imt", 9, 0.2)), "base")
    assert "test" not in lines[1] and lines[2].endswith("; no test names it")


def test_a_bound_says_what_it_counts_beside_the_share() -> None:
    head, line = hot_lines_of((HotFunction("a.c", "f", 1, 0.17, uncounted=0.049),), "base")
    assert head.endswith("in base (at most: if it and the 4.9% of no known caller took no time):")
    assert " 17.0% a.c:1 f (at most 1.28x)" in line
    assert hot_lines_of((HotFunction("a.c", "f", 1, 0.2),), "base")[0].endswith("that it calls, in base:")


def test_the_names_that_a_text_uses_are_those_outside_of_comments_and_strings() -> None:
    assert identifiers("python", '    def f(self):\n        """If x"""\n        return self.g(T.A)  # For\n') == [
        "f", "self", "g", "T", "A",
    ]  # fmt: skip
    assert identifiers("c", "int f(struct vec *a) { return a->n; /* old */ }") == ["f", "vec", "a", "n"]
    assert identifiers("go", "func f(n int) int {") == ["func", "f", "n", "int"]
