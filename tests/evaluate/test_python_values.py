"""Values that a Python function takes and gives: written and read again, and compared as a caller would see them."""

from __future__ import annotations

import collections
import copy
import dataclasses
import decimal
import enum
import fractions
import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse

import maxcode
from maxcode.evaluate.python.comparing import Comparison
from maxcode.evaluate.python.nodes import Reader, Unreadable, parts_of

INSIDE = Path(maxcode.__file__).parent / "evaluate" / "python" / "inside"


def loaded(name: str) -> ModuleType:
    spec: Any = importlib.util.spec_from_file_location(name, INSIDE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


codec_memory, codec, decoder = loaded("codec_memory"), loaded("codec"), loaded("decoder")


def written(*values: Any, given: tuple[Any, ...] = ()) -> bytes:
    """A message with these values, where ``given`` are objects of the arguments."""
    encoder = codec.Encoder()
    encoder.begin({id(one): number for number, one in enumerate(given)}, [])
    for value in values:
        encoder.node(value)
    return bytes(codec.whole(encoder))


def read(message: bytes) -> Any:
    return decoder.Decoder(decoder.parts_of(memoryview(bytearray(message)))).node()


def difference(want: bytes, got: bytes, count: int = 1) -> str:
    comparison = Comparison(Reader().open(parts_of(memoryview(want))), Reader().open(parts_of(memoryview(got))))
    pairs = [(comparison.wanted.node(), comparison.given.node()) for _ in range(count)]
    return next((why for one, other in pairs if (why := comparison.difference(one, other, "it"))), "")


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Line:
    start: Point
    names: list[str]


@dataclasses.dataclass
class Kept:
    """It holds more than its field."""

    words: list[str]

    def __post_init__(self) -> None:
        self.count = len(self.words)


@dataclasses.dataclass(frozen=True)
class Place:
    """It cannot be changed, but perhaps what it holds."""

    name: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Itself:
    """Two of them are never equal."""

    name: str


@dataclasses.dataclass(unsafe_hash=True)
class Nothing:
    """It has a hash, and can be changed."""


def holding(**more: Any) -> Kept:
    """One that holds so much more; None takes a name away."""
    found = Kept(["a", "b"])
    vars(found).update(more)
    for name in [name for name, one in more.items() if one is None]:
        delattr(found, name)
    return found


class Colour(enum.Enum):
    RED = 1


SHARED = [1, 2]
GRID = np.arange(600.0).reshape(20, 30)
TURN = np.linalg.qr(np.random.default_rng(1).normal(size=(90, 90)))[0]
WAVES = np.exp(-2j * np.pi * (np.outer(np.arange(512), np.arange(512)) % 512) / 512)
WAVE = WAVES[8].imag.copy()  # one frequency: all others of its transform are what rounding leaves
VALUES = [
    None, True, 0, -(1 << 63), 1 << 63, -(1 << 200), 1.5, math.inf,
    2 + 3j, "", "a\u00e9\ud800", b"\0x", bytearray(b"ab"),
    [], [1, 2, 3], [1, 2.0, "three", None], list(range(1000)),
    [1 << 80, 1], [0.5] * 300, [True, False], ["ab", "", "c"],
    [None] * 3, (), (1, (2, [3])), [(1, 2.0, "x")] * 20, [[1,
    2], [3], []], [[0.0] * 5 for _ in range(50)], {}, {"a": [1]},
    {1: "x", (2, 3): None}, {1, 2, 3}, {"p", "q"}, frozenset({1}), range(3, 30, 4), [SHARED, SHARED],
    collections.Counter("abca"), collections.OrderedDict(a=1), collections.deque([1, 2], 5), decimal.Decimal("1.10"),
    fractions.Fraction(1, 3), Point(1.0, 2.0), Place("a"), Line(Point(0.0,
    1.0), ["a"]), Colour.RED, [{"k": i} for i in range(20)],
]  # fmt: skip
ARRAYS = [
    GRID, np.asfortranarray(GRID), GRID[:, ::2], GRID.astype(np.float32),
    np.zeros((0, 3)), np.array(3), np.array(["a", "bc"]),
    np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), np.arange(5, dtype=">i4"), GRID > 3, GRID + 1j,
    np.array(["2020-01-01"], dtype="M8[D]"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    found = read(written(value))
    assert found == value and type(found) is type(value)
    assert not difference(written(value), written(value))


@pytest.mark.parametrize("value", ARRAYS, ids=lambda value: f"{value.dtype} {value.shape}")
def test_an_array_comes_back_with_its_type_shape_and_order(value: Any) -> None:
    found = read(written(value))
    assert found.dtype == value.dtype and found.shape == value.shape and np.array_equal(found, value)
    assert found.flags.f_contiguous == value.flags.f_contiguous or not value.flags.contiguous
    assert not difference(written(value), written(value.copy("K")))


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia", "lil"])
def test_a_sparse_matrix_comes_back_in_its_layout(layout: str) -> None:
    value = scipy.sparse.random(40, 30, 0.1, random_state=1).asformat(layout)
    found = read(written(value))
    assert type(found) is type(value) and (found != value).nnz == 0


def test_a_list_that_holds_itself_comes_back() -> None:
    value: list[Any] = [1]
    value.append(value)
    found = read(written(value))
    assert found[1] is found
    assert not difference(written(value), written(value))


def test_one_object_in_two_places_comes_back_as_one() -> None:
    found = read(written([SHARED, SHARED]))
    assert found[0] is found[1]


class Own(list[int]):
    pass


class OwnFloat(float):
    pass


@dataclasses.dataclass
class Lazy:
    value: int

    def __getattribute__(self, name: str) -> Any:
        return 5 if name == "value" else object.__getattribute__(self, name)


@pytest.mark.parametrize(
    "value", [Own([1]), OwnFloat(1.0), np.matrix([[1]]), object(), print, [Own()], np.ma.array([1])]
)
def test_what_could_work_when_it_is_looked_at_is_refused(value: Any) -> None:
    with pytest.raises(codec.Refused):
        written(value)


def test_the_fields_of_a_dataclass_are_those_it_holds() -> None:
    assert "5" not in repr(vars(read(written(Lazy(7))))["value"])


DIFFERENT: list[tuple[Any, Any, str]] = [
    (1, 2, "int 2 in place of int 1"), (1, True, "True in place of int 1"), (1, 1.0, "float 1.0 in place of int 1"),
    (1.0, 1.1, "beyond the tolerance"), ([1, 2], (1, 2), "tuple in place of list"), ([1, 2], [1, 2, 3], "3 items"),
    ([1, 2], [1, 3], "[1] is int 3"), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "keys"), ({1, 2}, {1, 3}, "other items"),
    (math.nan, 1.0, "beyond"), ([1.0, math.nan], [1.0, 2.0], "off"), ("ab", "ac", "str 'ac'"), (b"a", "a", "str"),
    (GRID, GRID + 1e-3, "off"), (GRID, GRID.astype(np.float32), "dtype"), (GRID, GRID.ravel(), "shape"),
    (GRID, GRID.tolist(), "list in place of ndarray"), (np.float64(1),
    1.0, "float"), (np.float64(1), np.float32(1), "numpy"),
    (np.ones((9, 9)), np.broadcast_to(1.0, (9, 9)), "array"), ([[1], [1]], [SHARED[:1]] * 2, "same object"),
    (Point(1.0, 2.0), (1.0, 2.0), "tuple in place of named tuple"), (Point(1.0, 2.0), Point(1.0, 3.0), "off"),
    (iter([1, 2]), [1, 2], "list in place of iterator"), ([0.0, 1.0], [0.1, 1.0], "off"), ({1: 2.0}, {1: 2.1}, "off"),
    (decimal.Decimal("1.1"), decimal.Decimal("1.10"), "'1.10'"), ([1e18, 5.0, 7.0], [1e18, 0.0, 7.0], "off"),
    (np.array([1e18, 5.0]), np.array([1e18, 5.1]), "off"),
    (np.array([1e9, 5.0], "f4"), np.array([1e9, 6.0], "f4"), "off"),
    ([math.inf, 1e18, 5.0], [math.inf, 1e18, 0.0], "off"), (np.array([1e18, 5j]), np.array([1e18, 6j]), "off"),
    ([[0.5] * 3] * 0 + [[0.5] * 3, [0.5]], [[0.5] * 2, [0.5]], "it"),
]  # fmt: skip


@pytest.mark.parametrize(("want", "got", "words"), DIFFERENT)
def test_a_difference_that_a_caller_would_see_is_told(want: Any, got: Any, words: str) -> None:
    found = difference(written(want), written(got))
    assert words in found, found


SAME: list[tuple[Any, Any]] = [
    (1.0, 1.0 + 1e-12), (math.nan, math.nan), ([1.0, math.nan], [1.0 + 1e-12, math.nan]), (GRID, GRID * (1 + 1e-12)),
    (GRID, np.asfortranarray(GRID)), ({"p", "q", "r"}, {"r", "q", "p"}), ([SHARED, SHARED], [[1, 2], [1, 2]]),
    (GRID.astype(np.float32), GRID.astype(np.float32) * np.float32(1 + 1e-6)),
    ([math.inf, 1.0], [math.inf, 1.0 + 1e-12]),
    (TURN @ TURN.T, np.eye(90)), (np.fft.fft(WAVE), WAVES @ WAVE),
    (iter([1, 2]), (one for one in (1, 2))), (GRID + 1j,
    (GRID + 1j) * (1 + 1e-12)), ([[1.0], [2.0, 3.0]], [[1.0], [2.0, 3.0]]),
]  # fmt: skip


@pytest.mark.parametrize(("want", "got"), SAME)
def test_what_no_caller_could_tell_apart_is_the_same(want: Any, got: Any) -> None:
    assert not difference(written(want), written(got))


NEAR = 1 + 1e-12
SUMS = [n * 0.1 for n in range(-400, 400)]
PLACES = [(math.cos(n), math.sin(n), n % 3) for n in range(1, 300)]
CROSSED = {(0.5, 3), (0.5 * NEAR, 1), (0.5 / NEAR, 2), (7.5, 2)}


@pytest.mark.parametrize(
    ("want", "got"),
    [
        (set(SUMS), {one * NEAR for one in SUMS}),
        (set(PLACES), {(x * NEAR, y / NEAR, n) for x, y, n in PLACES}),
        (frozenset(CROSSED), frozenset({(0.5, 1), (0.5, 2), (0.5, 3), (7.5, 2)})),
        ({1.0, "a", None, (2.0, 3j)}, {(2.0 * NEAR, 3j * NEAR), None, "a", NEAR}),
        ({np.float64(1), np.float32(2)}, {np.float32(2), np.float64(NEAR)}),
        ({math.inf, -math.inf, 1.0, -1.0}, {-NEAR, -math.inf, NEAR, math.inf}),
        ({0.0, 1.0, 2.0}, {1e-17, 1.0, 2.0}),
        ({1.0: {2.0}, 3.0: 4}, {NEAR: {2.0 * NEAR}, 3.0: 4}),
    ],
)
def test_real_numbers_in_sets_and_keys_have_the_tolerance_of_others(want: Any, got: Any) -> None:
    assert difference(written(want), written(got)) == ""
    assert difference(written(got), written(want)) == ""


@pytest.mark.parametrize(
    ("want", "got"),
    [
        (set(SUMS), {*SUMS[1:], -40.000001}),
        (set(PLACES), {*PLACES[1:], (PLACES[0][0], PLACES[0][1] + 1e-6, 1)}),
        (CROSSED, {(0.5, 1), (0.5, 2), (7.5, 3), (7.5, 2)}),
        ({1.0, 2.0}, {1.0, NEAR}),
        ({1.0, 2.0}, {1, 2}),
        ({1.0, 2.0}, {1.0, 2.0, 2.0 * NEAR}),
        ({frozenset({1.0})}, {frozenset({1.1})}),
        ({1.0, math.nan}, {1.0, 2.0}),
        ({"1.0"}, {"1.1"}),
        ({n * 1e-9 for n in range(100)}, {n * 1e-9 + 5e-8 for n in range(100)}),
    ],
)
def test_other_real_numbers_in_sets_are_told(want: Any, got: Any) -> None:
    assert difference(written(want), written(got))
    assert difference(written(got), written(want))


def test_a_result_that_is_an_argument_must_be_one_for_the_original() -> None:
    argument = [1, 2]
    apart, shared = written([1, 2]), written(argument, given=(argument,))
    assert "the memory of an argument" in difference(apart, shared)
    assert not difference(shared, apart), "a copy in its place harms nobody"


def test_a_result_that_is_an_earlier_result_must_be_one_for_the_original() -> None:
    one = [1]
    assert "same object" in difference(written([1], [1]), written(one, one), 2)


LISTS = [[n, n + 0.5] for n in range(20)]
OTHERS = [[n, n + 0.5] for n in range(20)]
INNER = frozenset({1})


@pytest.mark.parametrize(
    ("want", "got", "is_same"),
    [
        ((LISTS, LISTS[3]), (OTHERS, OTHERS[4]), False),
        ((LISTS, LISTS[3]), (OTHERS, OTHERS[3]), True),
        ((LISTS, LISTS[3]), (OTHERS, list(OTHERS[3])), True),
        ((LISTS[:3], LISTS[:3][1]), (OTHERS[:3], OTHERS[:3][2]), False),
        ((LISTS[0], LISTS[0], LISTS[1], LISTS[1]), (OTHERS[0], list(OTHERS[0]), OTHERS[1], OTHERS[0]), False),
        ((LISTS[0], LISTS[0], LISTS[1], LISTS[1]), (OTHERS[0], list(OTHERS[0]), OTHERS[1], OTHERS[1]), True),
        ((INNER, {INNER, 7}), (INNER, {INNER, 7}), True),
        ((INNER, {INNER, 7}), (INNER, {INNER, 8}), False),
    ],
)
def test_what_stands_in_a_second_place_counts_and_not_its_number(want: Any, got: Any, is_same: bool) -> None:
    assert (not difference(written(want), written(got))) is is_same


def test_lists_that_hold_themselves_at_any_depth_are_compared_to_their_end() -> None:
    def chain(last: int) -> list[Any]:
        first: list[Any] = []
        here = first
        for n in range(60):
            here.append([n])
            here = here[-1]
        here += [first, last]
        return first

    assert not difference(written(chain(1)), written(chain(1)))
    assert "int 2" in difference(written(chain(1)), written(chain(2)))


def test_a_class_comes_from_a_module_that_is_loaded_or_the_programs_own() -> None:
    message = written(Colour.RED).replace(__name__.encode(), b"x" * len(__name__))
    with pytest.raises(TypeError, match="neither loaded nor"):
        decoder.Decoder(decoder.parts_of(memoryview(bytearray(message))), lambda _: False).node()


def test_an_array_shows_no_memory_that_nobody_wrote() -> None:
    message = written(np.zeros((0, 3))).replace(
        np.uint64(0).tobytes() + np.uint64(3).tobytes(), np.uint64([9, 3]).tobytes()
    )
    with pytest.raises(TypeError, match="in 0 bytes"):
        read(message)


@pytest.mark.parametrize(
    "spoil", [lambda m: m[:40], lambda m: m[:8] + b"\xff" * 8 + m[16:], lambda m: m[:64] + b"?" * 64]
)
def test_a_message_that_is_none_is_told_as_such(spoil: Callable[[bytes], bytes]) -> None:
    message = spoil(written([1, 2.0, "x"]))
    try:
        reader = Reader().open(parts_of(memoryview(message)))
        with pytest.raises(Unreadable):
            reader.node()
    except Unreadable:
        pass


@pytest.mark.parametrize(
    ("want", "got", "why"),
    [
        (holding(), holding(count=None), "does not hold count"),
        (holding(), holding(count=3), "count is int 3"),
        (holding(more=[len]), holding(more=[1]), "in place of object of the class"),
    ],
)
def test_what_a_dataclass_holds_beside_its_fields_is_compared(want: Kept, got: Kept, why: str) -> None:
    assert why in difference(written(want, want), written(got, got), 2)


@pytest.mark.parametrize("got", [holding(), holding(more=1), holding(more=[SHARED, len], and_more=SHARED)])
def test_what_only_a_candidates_dataclass_holds_harms_nobody(got: Kept) -> None:
    assert difference(written(holding(), SHARED, SHARED), written(got, list(SHARED), SHARED), 2) == ""
    assert vars(read(written(holding(more=[1], other=len)))) == {"words": ["a", "b"], "count": 2, "more": [1]}


def test_arrays_that_have_an_element_in_common_are_marked_and_columns_are_not() -> None:
    columns, rows, own = list(GRID.T), list(GRID), [row.copy() for row in GRID]
    assert difference(written(own, own), written(rows, rows), 2) == ""
    assert difference(written([one.copy() for one in columns]), written(columns)) == ""
    assert "memory of another part" in difference(written([own[0], own[0].copy()]), written([GRID[0], GRID[0, :30]]))
    assert difference(written([GRID[0], GRID[0, :30]]), written([own[0], own[0].copy()])) == ""
    later = [one[:] for one in columns]
    assert "memory of another part" in difference(written(own, columns, columns), written(own, columns, later), 3)


def sets_in_sets(last: int) -> set[Any]:
    """A set of forty in one another, each twice: written out they have 2^40 items."""
    found: Any = frozenset([last])
    for _ in range(40):
        found = frozenset([(found, 0), (found, 1)])
    return {found}


def test_sets_in_sets_are_compared_in_no_time_and_in_any_order() -> None:
    assert difference(written(sets_in_sets(1)), written(sets_in_sets(1))) == ""
    assert "other items" in difference(written(sets_in_sets(1)), written(sets_in_sets(2)))
    one, other = (frozenset(map(str, order)) for order in (range(99), reversed(range(99))))
    assert difference(written({one}), written({other})) == ""


@pytest.mark.parametrize(
    "value",
    [
        fractions.Fraction(1, 3), np.float64(2), range(3), frozenset("ab"), Colour.RED, Point(1.0, 2.0),
        Point((Colour.RED, Point(0, "a")), Colour.RED), Place(Point(1, 2)), Place(((1, "a"),) * 9),
        frozenset([1, "a", (2, Colour.RED)]),
    ],
)  # fmt: skip
def test_what_nobody_can_change_may_be_one_object_or_several(value: Any) -> None:
    other = read(written(value))
    assert difference(written([value, other]), written([value, value])) == ""
    assert difference(written([value, value]), written([value, other])) == ""


@pytest.mark.parametrize(
    "value",
    [
        [1], bytearray(b"a"), frozenset([Nothing()]), np.zeros(1, "i4, i4")[0], Point([1], 2), Point(((1, []),) * 9, 2),
        Place([1]), Place(Nothing()), Place(([1],) * 9), Itself("a"), Nothing(),
    ],
)  # fmt: skip
def test_what_somebody_can_change_is_one_object_only_where_the_original_s_is(value: Any) -> None:
    other = copy.deepcopy(value)
    assert "same object" in difference(written([value, other]), written([value, value]))


def test_a_bytearray_and_an_array_over_it_are_the_same_memory() -> None:
    data, other = bytearray(b"ab"), bytearray(b"ab")
    own, shared = np.frombuffer(other, np.uint8), np.frombuffer(data, np.uint8)
    assert difference(written([data, own]), written([data, own])) == ""
    for value in ([data, shared], [shared, data]):
        alone = [own if one is shared else one for one in value]
        assert "is the memory of another part" in difference(written(alone), written(value))
        assert difference(written(value), written(alone)) == ""


def rounds_of(results: list[Any]) -> list[bytes]:
    """What is written of them, each the only result of its round."""
    past, found = codec_memory.Past(), []
    for result in results:
        encoder = codec.Encoder()
        past.begin(encoder, [memoryview(bytes(8))], 1)
        past.look(encoder)
        encoder.node(result)
        past.hold(encoder, result)
        found.append(bytes(codec.whole(encoder)))
    return found


@pytest.mark.parametrize("make", [lambda: [1.5], lambda: [[n] for n in range(99)], lambda: {"a": np.ones(9)}])
def test_a_result_that_is_the_memory_of_an_earlier_round_s_is_marked(make: Callable[[], Any]) -> None:
    table = make()
    again, fresh = (rounds_of(results)[1] for results in ([table, table], [table, make()]))
    assert "is the memory of another part" in difference(fresh, again)
    assert difference(again, fresh) == "" == difference(again, again)


@pytest.mark.parametrize("value", [fractions.Fraction(1, 3), np.float64(2), range(3), frozenset("ab"), (1, "a")])
def test_what_nobody_can_change_may_be_of_an_earlier_round(value: Any) -> None:
    again, fresh = (rounds_of(results)[1] for results in ([value, value], [0, copy.deepcopy(value)]))
    assert difference(fresh, again) == ""


def test_results_of_earlier_rounds_are_few_and_live_until_the_round_is_over() -> None:
    alone = written([[1]])
    assert all(one == alone for one in rounds_of([[[1]] for _ in range(300)]))
