"""Which values an argument may have, in the words of problem.toml."""

from __future__ import annotations

import math

import pytest

from maxcode.code.domains import Domain, domain_of
from maxcode.errors import InputError


@pytest.mark.parametrize(
    ("text", "whole", "found"),
    [
        ("any", False, Domain("any")),
        (" positive ", True, Domain("positive")),
        ("0..n-1", True, Domain("between", 0, 6)),
        ("-n..2*n", True, Domain("between", -7, 14)),
        ("0..1", False, Domain("between", 0.0, 1.0)),
        ("[-1, 1]", False, Domain("between", -1.0, 1.0)),
        ("(0, 1e3)", False, Domain("between", math.nextafter(0.0, 1.0), math.nextafter(1000.0, 0.0))),
        ("[0, n)", True, Domain("between", 0, 6)),
        ("(0, 5]", True, Domain("between", 1, 5)),
    ],
)
def test_words_become_a_domain(text: str, whole: bool, found: Domain) -> None:
    assert domain_of(text, {"n": 7}, whole) == found


@pytest.mark.parametrize(
    ("text", "whole", "words"),
    [
        ("small", True, "cannot be read; write any, drawn"),
        ("0..0.5", True, "'0.5' is no whole number"),
        ("0..k", True, "cannot compute 'k'"),
        ("1..0", False, "holds no value"),
        ("(0, 1)", True, "holds no value"),
    ],
)
def test_words_that_name_no_domain_are_refused_with_what_to_write(text: str, whole: bool, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        domain_of(text, {"n": 7}, whole)
