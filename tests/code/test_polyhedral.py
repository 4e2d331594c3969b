"""Dependences between iterations: what is said to be impossible never happens, and what is plain is known exactly."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from maxcode.code.polyhedral.dependences import Access, Level, Pair, Vector, delinearised, pairs, vectors
from maxcode.code.polyhedral.emptiness import is_empty
from maxcode.code.polyhedral.polynomials import Poly, added, number, polynomial, written_out

SIZES = range(1, 6)


def poly(text: str) -> Poly:
    found = polynomial(text)
    assert found is not None, text
    return found


def level(head: str) -> Level:
    """``0 <= i < n`` as a loop."""
    low, var, high = head.replace("<=", "<").split("<")
    return Level(var.strip(), (poly(low),), (poly(high),), number(1))


def accesses(heads: list[str], *indices: str) -> list[Access]:
    """A write of the first element and reads of the others, as one statement in loops."""
    levels = tuple(level(head) for head in heads)
    return list(
        delinearised(Access("A", (poly(text),), "" if place else "=", levels, 1) for place, text in enumerate(indices))
    )


def value(index: Poly, known: dict[str, int]) -> int:
    total = 0
    for names, factor in index.items():
        for word in names:
            factor *= known[word]
        total += factor
    return total


def iterations(levels: tuple[Level, ...], known: dict[str, int]) -> list[dict[str, int]]:
    found = [known]
    for one in levels:
        found = [
            {**here, one.var: k}
            for here in found
            for k in range(max(value(b, here) for b in one.lows), min(value(b, here) for b in one.highs))
        ]
    return found


def met(found: list[Access], n: int) -> set[Vector]:
    """The direction vectors that occur for one size, by trying all iterations."""
    seen: set[Vector] = set()
    levels = found[0].levels
    runs = iterations(levels, {"n": n})
    for one, other in product(found, repeat=2):
        if not one.op and not other.op:
            continue
        places = [value(other.index[0] or {}, run) for run in runs]
        for k, first in enumerate(runs):
            here = value(one.index[0] or {}, first)
            for place, second in zip(places[k + 1 :], runs[k + 1 :], strict=True):
                if place == here:
                    ways = ((first[lv.var], second[lv.var]) for lv in levels)
                    seen.add(tuple("<" if a < b else "=" if a == b else ">" for a, b in ways))
    return seen


def drawn(random: Random) -> tuple[list[str], list[str]]:
    """The heads of two or three loops, triangles among them, and the indices of two to four accesses."""
    names = "ijk"[: random.randint(2, 3)]
    heads = []
    for place, var in enumerate(names):
        around = list(names[:place])
        low = random.choice(["0", "0", "1", *around, *(f"{one} + 1" for one in around)])
        high = random.choice(["n", "n", "n - 1", *around, *(f"{one} + 1" for one in around)])
        heads.append(f"{low} <= {var} < {high}")
    indices = []
    for _ in range(random.randint(2, 4)):
        row, column = (
            f"({random.choice(['', '', '2 * ', '-'])}{random.choice([*names, '1'])} + {random.randint(-1, 1)})"
            for _ in range(2)
        )
        indices.append(random.choice([f"{row} * n + {column}", f"{row} + {column}", row]))
    return heads, indices


@pytest.mark.parametrize("seed", range(8))
def test_no_dependence_of_random_loops_is_missed(seed: int) -> None:
    random = Random(seed)
    exact = 0
    for _ in range(40):
        heads, indices = drawn(random)
        found = accesses(heads, *indices)
        told = vectors(pairs(found), 0, len(heads))
        real = set().union(*(met(found, n) for n in SIZES))
        assert real <= told, (heads, indices, real - told)
        exact += told == real
    assert exact >= 20, "it is of no use if it knows too little"


@pytest.mark.parametrize(
    ("heads", "indices", "expected"),
    [
        (["0 <= i < n", "0 <= j < n"], ["i * n + j", "i * n + j"], set()),
        (["1 <= i < n - 1", "1 <= j < n - 1"], ["i * n + j", "(i - 1) * n + j + 1"], {"<>"}),
        (["0 <= i < n", "0 <= j < n"], ["i * n + j", "j * n + i"], {"<>"}),
        (["0 <= i < n", "0 <= j < n"], ["j", "j"], {"<="}),
        (["0 <= i < n", "0 <= j < i"], ["i * n + j", "j * n + i"], set()),  # below the diagonal, and above it
        (["0 <= i < n", "0 <= j < n"], ["2 * i", "2 * j + 1"], {"=<"}),
        (["0 <= i < n", "0 <= j < n"], ["i * m + j", "i * m + j"], {"<<", "<=", "<>"}),  # m may be less than n
        (
            ["0 <= i < n", "i + 1 <= j < n", "0 <= k < i"],
            ["i * n + j", "i * n + k", "k * n + j"],
            {"==<", "<=<"},
        ),
    ],
)
def test_the_directions_of_plain_loops_are_exact(heads: list[str], indices: list[str], expected: set[str]) -> None:
    found = vectors(pairs(accesses(heads, *indices)), 0, len(heads))
    assert {"".join(vector) for vector in found} == expected


def test_loops_in_steps_and_downwards_have_their_own_distances() -> None:
    step = Level("i", (number(0),), (poly("n"),), number(4))
    found = [Access("A", (poly(f"i + {k}"),), "=", (step,), k) for k in range(4)]
    assert vectors(pairs(found), 0, 1) == frozenset()
    down = [Level(v, (number(1),), (poly("n - 1"),), number(1), down=v == "j") for v in "ij"]
    moved = [Access("A", (poly("i"), poly("j")), "=", tuple(down), 1)]
    moved.append(Access("A", (poly("i - 1"), poly("j - 1")), "", tuple(down), 1))
    assert vectors(pairs(moved), 0, 2) == frozenset({("<", ">")})


def test_pieces_of_a_loop_do_not_overlap() -> None:
    outer = Level("i0", (number(0),), (poly("n"),), poly("TILE"))
    inner = Level("i", (poly("i0"),), (poly("i0 + TILE"), poly("n")), number(1))
    found = list(delinearised([Access("A", (poly("i"),), "=", (outer, inner), 1)]))
    assert vectors(pairs(found), 0, 1) == frozenset()


def test_sums_are_left_out_where_their_order_may_change() -> None:
    levels = (level("0 <= i < n"),)
    adds = [Access("s", (), "+=", levels, 1), Access("s", (), "-=", levels, 2)]
    assert vectors(pairs(adds), 0, 1) == {("<",)}
    assert vectors(pairs(adds, sums=False), 0, 1) == frozenset()
    assert vectors(pairs([*adds, Access("s", (), "", levels, 3)], sums=False), 0, 1) == {("<",)}


def test_unknown_subscripts_may_be_any_element() -> None:
    levels = (level("0 <= i < n"),)
    found = [Access("A", (poly("i"),), "=", levels, 1), Access("A", (None,), "", levels, 1)]
    assert vectors(pairs(found), 0, 1) == {("<",)}


def test_directions_for_more_loops_than_are_common_are_an_error() -> None:
    one, other = (Access("A", (), "=", (level(f"0 <= {var} < n"),), 1) for var in "ij")
    with pytest.raises(ValueError, match="1 directions for 0 common loops"):
        Pair(one, other).exists(("=",))


def test_constraints_without_an_integer_are_empty() -> None:
    assert is_empty([poly("x - 1"), poly("0 - x")])
    assert is_empty([], [poly("2 * x - 4 * y - 1")])
    assert is_empty([poly("2 * x - 1"), poly("1 - 2 * x")])  # x is a half
    assert is_empty([poly("x - y - 1"), poly("y - z"), poly("z - x")])
    assert not is_empty([poly("x - y"), poly("y - x")], [poly("x - 3")])


def test_polynomials_are_read_and_written() -> None:
    assert written_out(poly("(i + 1) * n - (j - 2)")) == "i * n - 1 * j + n + 2"
    assert polynomial("010") is None
    assert polynomial("a / 2") is None
    assert added(poly("a"), poly("a"), -1) == {}
