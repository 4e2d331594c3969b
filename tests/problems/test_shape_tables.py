"""Tables of shapes: read as they were written, below what the user says, refused with a cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxcode.errors import InputError
from maxcode.problems.shape_tables import OURS, Shapes, SmallShape, read_shapes, with_constants, write_shapes
from maxcode.problems.small_shapes import shaped, shrink_sources
from maxcode.problems.suite import sha256
from tests.support.kernelbench_help import HALF, OTHER

SMALL = SmallShape("1_Half.py", {"batch_size": 64, "dim": 32})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    write_shapes(tmp_path / "table.toml", Shapes(4, {sha256(HALF): SMALL}))
    return tmp_path / "table.toml"


@pytest.fixture
def half(tmp_path: Path) -> Path:
    (tmp_path / "half.py").write_text(HALF)
    return tmp_path / "half.py"


def test_a_table_is_read_as_it_was_written(table: Path) -> None:
    found = read_shapes(table)
    assert found.of(HALF) == SMALL
    assert found.of(OTHER) is None


def test_a_place_in_a_tuple_is_a_key_like_another(tmp_path: Path) -> None:
    shape = SmallShape("x.py", {"input_shape[0]": 512})
    write_shapes(tmp_path / "t.toml", Shapes(4, {sha256("x"): shape}))
    assert read_shapes(tmp_path / "t.toml").of("x") == shape


def test_our_own_table_can_be_read() -> None:
    found = read_shapes(OURS)
    assert found.limit_mb == 4
    assert all(len(key) == 64 and shape.constants for key, shape in found.problems.items())


def test_the_table_gives_the_constants_and_the_user_wins(half: Path, table: Path) -> None:
    given = {"module": {"device": "cpu", "constants": {"dim": 8}}}
    assert shaped(half, None, given, str(table)) == {
        "module": {"device": "cpu", "constants": {"batch_size": 64, "dim": 8}}
    }
    assert shaped(half, None, given, "") is given
    assert with_constants({}, SMALL) == {"module": {"constants": SMALL.constants}}


@pytest.mark.parametrize(
    ("content", "cure"),
    [
        ("limit_mb = 'four'", "maxcode problems shrink"),
        ("", "maxcode problems shrink"),
        ("limit_mb = 4\n", "has no shapes for half"),
        (None, "table of shapes .* does not exist"),
    ],
)
def test_a_table_that_will_not_do_is_refused_with_the_command_that_makes_it(
    half: Path, tmp_path: Path, content: str | None, cure: str
) -> None:
    path = tmp_path / "other.toml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=cure):
        shaped(half, None, {}, str(path))


def test_a_program_has_no_shapes(tmp_path: Path, table: Path) -> None:
    (tmp_path / "slow.cpp").write_text("int main() {}\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "1.in").write_text("")
    (tmp_path / "tests" / "1.out").write_text("")
    with pytest.raises(InputError, match="leave it out"):
        shaped(tmp_path / "slow.cpp", tmp_path / "tests", {}, str(table))


def test_what_a_table_holds_is_not_looked_for_again(half: Path, table: Path) -> None:
    shapes, rows = shrink_sources([half], table, say=lambda row: None)
    assert [(row.shape, row.found) for row in rows] == [(SMALL, None)]
    assert shapes.of(HALF) == SMALL
    with pytest.raises(InputError, match="choose another --out"):
        shrink_sources([half], table, limit_mb=8, say=lambda row: None)
