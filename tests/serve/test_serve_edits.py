"""SEARCH/REPLACE answers apply exactly, whoever reads them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maxcode.code.source import fences
from maxcode.core.types import Program
from maxcode.llm.clients import Message
from maxcode.llm.completion import read
from maxcode.serve.answer import MODELS, answer
from maxcode.serve.edits import edits
from maxcode.serve.evolve import kept
from tests.support.serve_help import PRODUCT, READS

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCES = sorted([*EXAMPLES.glob("*/slow.c*"), *(EXAMPLES / name / f"{name}.c" for name in ("gemm", "stencil"))])
BLOCK = re.compile(r"^<<<<<<< SEARCH\n(.*?)^=======\n(.*?)^>>>>>>> REPLACE$", re.MULTILINE | re.DOTALL)


def first_match(before: str, told: str) -> str:
    """A naive reader's result: each SEARCH replaced where it is found first."""
    for search, replace in BLOCK.findall(told):
        assert search in before
        before = before.replace(search, replace, 1)
    return before


def stripping(before: str, told: str) -> str:
    """The result of a reader that strips the ends of both parts and compares lines without blanks at their ends."""
    lines = before.split("\n")
    for search, replace in BLOCK.findall(told):
        wanted = [line.rstrip() for line in search.rstrip().split("\n")]
        at = next(n for n in range(len(lines)) if [line.rstrip() for line in lines[n : n + len(wanted)]] == wanted)
        lines[at : at + len(wanted)] = replace.rstrip().split("\n")
    return "\n".join(lines)


LINE = st.sampled_from(["a", "b", "c", "", "  a", "}", "  }", "x = 1;", "\tb"])
TEXT = st.lists(LINE, min_size=1, max_size=14).map(lambda lines: "".join(f"{line}\n" for line in lines))


@settings(max_examples=400, deadline=None)
@given(TEXT, TEXT)
@example("a\n", "b\n")
@example("a\nb\na\nb\n", "a\nb\nb\na\nb\n")
@example("}\n}\n}\n", "}\n}\n")
@example("a\nc\nb\nc\n", "\tb\nc\na\nc\nb\n")  # what the second block looks for stands in what the first one brings
def test_blocks_turn_any_text_into_any_other(before: str, after: str) -> None:
    told = edits(before, after)
    if told is None:
        assert not before.strip()
        return
    assert first_match(before, told) == after
    if before != after:
        assert read(told, Program({"p": before}), "cpp", "edits") == Program({"p": after})


def test_a_line_that_looks_like_a_marker_cannot_be_said_in_blocks() -> None:
    before = "int a;\n// =======\nint b;\n"
    assert edits(before, before.replace("int a", "long a")) is None
    far = "int a;\n" + "".join(f"int v{number};\n" for number in range(20)) + "// =======\nint b;\n"
    told = edits(far, far.replace("int a", "long a"))
    assert told is not None and first_match(far, told) == far.replace("int a", "long a")


def test_each_search_occurs_once_even_without_indentation() -> None:
    before = "".join(
        f"if (x) {{\n{blanks}work();\n}}\nint v{number};\n" for number, blanks in enumerate(["  ", "    "])
    )
    after = before.replace("    work();", "    faster();")
    told = edits(before, after)
    assert told is not None
    ((search, _),) = BLOCK.findall(told)
    bare = "\n".join(line.strip() for line in before.split("\n"))
    assert bare.count("\n".join(line.strip() for line in search.strip("\n").split("\n"))) == 1


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}")
def test_proposals_for_real_programs_apply_exactly_as_blocks(path: Path) -> None:
    before = path.read_text()
    tag = "c" if path.suffix == ".c" else "cpp"
    whole = f"# Current Program\n```{tag}\n{before}```\nMake it faster.\n"
    blocks = f"{whole}\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"
    changed = 0
    for model in MODELS:
        for draw in range(4):
            after = fences(answer(model, (Message("user", whole),), draw, 1.0))[0].body
            told = answer(model, (Message("user", blocks),), draw, 1.0)
            assert first_match(before, told) == after
            assert stripping(before, told) == after
            changed += after != before
    assert changed > 0


def test_equal_programs_give_one_block_that_changes_nothing() -> None:
    told = edits(READS, READS)
    assert told is not None and first_match(READS, told) == READS


def test_lines_added_above_an_evolve_block_move_into_it() -> None:
    before = f"// head\n// EVOLVE-BLOCK-START\n{PRODUCT}// EVOLVE-BLOCK-END\n// tail\n"
    after = "#include <math.h>\n" + before.replace("0.0", "0")
    assert kept(before, after) == before.replace("START\n", "START\n#include <math.h>\n").replace("0.0", "0")


def test_changes_outside_evolve_blocks_are_refused() -> None:
    before = f"// head\n// EVOLVE-BLOCK-START\n{PRODUCT}// EVOLVE-BLOCK-END\n// tail\n"
    assert kept(before, before.replace("tail", "end")) is None
    assert kept(before, before.replace("head", "top")) is None
    assert kept(before, before.replace("// EVOLVE-BLOCK-END\n", "")) is None
    assert kept(before, before.replace("double", "float")) == before.replace("double", "float")


def test_a_program_without_evolve_blocks_may_change_anywhere() -> None:
    assert kept("int a;\n", "int b;\n") == "int b;\n"
    assert kept("// EVOLVE-BLOCK-START\nint a;\n", "int b;\n") == "int b;\n"
