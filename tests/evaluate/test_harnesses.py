"""Every kind of problem has a harness and traits, and no room but these asks which kind it has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import maxcode
from maxcode.core.types import KINDS, Kind
from maxcode.evaluate.harness import HARNESSES

ROOT = Path(maxcode.__file__).parent
HOME = {
    "core/types/problem.py": "the value itself",
    "evaluate/function/glue.py": "what is compiled around a function, and nothing around a program",
    "problems/": "reads and writes the table of a kind; shapes are those of modules",
    "run/certificate/claim.py": "writes down what a problem says",
}


def test_every_kind_has_a_harness_and_traits() -> None:
    assert set(HARNESSES) == set(KINDS) == set(get_args(Kind))


def test_no_room_asks_which_kind_a_problem_has() -> None:
    asked = {str(path.relative_to(ROOT)): [*questions(path)] for path in sorted(ROOT.rglob("*.py"))}
    found = {name: lines for name, lines in asked.items() if lines and not name.startswith(tuple(HOME))}
    assert found == {}, "give the kind a row in KINDS, HARNESSES or PROGRAM_KINDS, or a method of the protocol"


def questions(path: Path) -> Iterator[int]:
    """Lines that compare a kind with a word, ask for the class of an evaluator, or whether a spec is there."""
    text = path.read_text()
    if not re.search(r"\bkind\b|spec\.(function|module)|Evaluator", text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            words = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
            named = {ast.unparse(one) for one in (node.left, *node.comparators)}
            by_kind = any(name.endswith(".kind") for name in named) and {*words} & set(get_args(Kind))
            by_spec = any(name.endswith(("spec.function", "spec.module")) for name in named) and None in words
            if by_kind or by_spec:
                yield node.lineno
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            classes = ast.unparse(node.args[1]).split(" | ")
            yield from [node.lineno] * any(name.endswith("Evaluator") for name in classes)
