"""Tables of TOML files become values, or an error says in the words of the file what is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from maxcode.core.toml_tables import converted
from maxcode.errors import InputError


@dataclass
class Inner:
    steps: int = 1
    flags: list[str] | None = None


@dataclass
class Outer:
    needed: str
    inner: Inner = field(default_factory=Inner)
    other: Inner | None = None
    more: tuple[Inner, ...] = ()
    place: Path = Path()
    kind: Literal["one", "two"] = "one"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "`needed` is missing"),
        ({"needed": 1, "inner": {}}, "`needed`: expected a text, got a whole number"),
        (
            {"needed": "", "inner": 2.5},
            "`inner`: expected a table, got a number; write its keys in braces, { key = value }",
        ),
        (
            {"needed": "", "more": [{}, 3]},
            "`more[1]`: expected a table, got a whole number; write its keys in braces, { key = value }",
        ),
        ({"needed": "", "inner": {"steps": True}}, "`inner.steps`: expected a whole number, got true or false"),
        ({"needed": "", "inner": {"flags": "-O3"}}, "`inner.flags`: expected a list, got a text"),
        ({"needed": "", "kind": "a - at b"}, "`kind`: invalid enum value 'a - at b'"),
    ],
)
def test_a_wrong_type_is_told_in_words_of_toml(table: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as wrong:
        converted(table, Outer, "a.toml")
    assert str(wrong.value) == f"a.toml: {said}"


@pytest.mark.parametrize(
    ("table", "where", "near"),
    [
        ({"neded": ""}, "a.toml", "needed"),
        ({"needed": "", "inner": {"step": 1}}, "[inner] of a.toml", "steps"),
        ({"needed": "", "more": [{}, {"flag": []}]}, "[more] of a.toml", "flags"),
        ({"needed": "", "other": {"flag": []}}, "[other] of a.toml", "flags"),
    ],
)
def test_a_key_that_no_field_has_is_told_with_the_nearest_one(table: dict[str, object], where: str, near: str) -> None:
    with pytest.raises(InputError, match=rf"^unknown key in {re.escape(where)}: '\w+'; did you mean '{near}'"):
        converted(table, Outer, "a.toml")


def test_a_table_becomes_a_value() -> None:
    table = {"needed": "", "more": [{"steps": 2}], "place": "b/c"}
    assert converted(table, Outer, "a.toml") == Outer("", more=(Inner(2),), place=Path("b/c"))
