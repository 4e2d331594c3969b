"""Formats are understood only where every given input shows them, and nothing is made that they do not show."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxcode.evaluate.inputs.edges import edge_words
from maxcode.evaluate.inputs.enlarge import larger
from maxcode.evaluate.inputs.format_model import Understood, understand
from maxcode.evaluate.inputs.grammar import Count, Repetition, Tail, TokenRow, lines_of, tree_of, written
from maxcode.evaluate.inputs.inference import explanations
from maxcode.evaluate.inputs.invariants import facts_of, is_new
from maxcode.evaluate.inputs.mutate import draft

Format = Callable[[random.Random], str]


def line(numbers: list[int]) -> str:
    return " ".join(map(str, numbers)) + "\n"


def drawn(rng: random.Random, n: int, low: int = -50, high: int = 50) -> list[int]:
    return [rng.randint(low, high) for _ in range(n)]


def a_list(rng: random.Random) -> str:
    n = rng.randint(1, 30)
    return f"{n}\n" + line(drawn(rng, n))


def a_list_on_its_counts_line(rng: random.Random) -> str:
    n = rng.randint(1, 30)
    return line([n, *drawn(rng, n)])


def numbers_on_lines(rng: random.Random) -> str:
    n = rng.randint(1, 30)
    return f"{n}\n" + "".join(map(line, ([x] for x in drawn(rng, n))))


def a_matrix(rng: random.Random) -> str:
    n, m = rng.randint(1, 9), rng.randint(1, 9)
    return f"{n} {m}\n" + "".join(line(drawn(rng, m)) for _ in range(n))


def cases(rng: random.Random) -> str:
    sizes = [rng.randint(1, 6) for _ in range(rng.randint(1, 6))]
    return f"{len(sizes)}\n" + "".join(f"{n}\n" + line(drawn(rng, n)) for n in sizes)


def a_graph(rng: random.Random) -> str:
    n, m = rng.randint(2, 15), rng.randint(1, 40)
    return f"{n} {m}\n" + "".join(line([*drawn(rng, 2, 1, n), rng.randint(1, 99)]) for _ in range(m))


def graphs_with_a_source(rng: random.Random) -> str:
    found = [f"{rng.randint(3, 4)}\n"]
    for _ in range(int(found[0])):
        n = rng.randint(12, 15)
        pairs = rng.sample([(a, b) for a in range(1, n + 1) for b in range(1, a)], 40)
        found.append(f"{n} {len(pairs)} {rng.randint(1, n)}\n")
        found += [line([*pair, rng.randint(1, 1000)]) for pair in pairs]
    return "".join(found)


def a_tree(rng: random.Random) -> str:
    n = rng.randint(2, 30)
    return f"{n}\n" + "".join(line([rng.randint(1, i - 1), i]) for i in range(2, n + 1))


def a_sorted_list_with_queries(rng: random.Random) -> str:
    n, q = rng.randint(1, 30), rng.randint(1, 30)
    return f"{n} {q}\n" + line(sorted(drawn(rng, n))) + "".join(line([x]) for x in drawn(rng, q))


def a_permutation(rng: random.Random) -> str:
    n = rng.randint(1, 30)
    return f"{n}\n" + line(rng.sample(range(1, n + 1), n))


def intervals(rng: random.Random) -> str:
    n, q = rng.randint(1, 30), rng.randint(1, 30)
    ends = [sorted(drawn(rng, 2, 1, n)) for _ in range(q)]
    return f"{n} {q}\n" + line(drawn(rng, n)) + "".join(map(line, ends))


def names(rng: random.Random) -> str:
    n = rng.randint(1, 30)
    return f"{n}\n" + "".join(f"name{rng.randrange(10**6)} {rng.randint(1, 99)}\n" for _ in range(n))


FORMATS: list[Format] = [
    a_list,
    a_list_on_its_counts_line,
    numbers_on_lines,
    a_matrix,
    cases,
    a_graph,
    a_tree,
    a_sorted_list_with_queries,
    a_permutation,
    intervals,
    names,
]


def given_by(make: Format, seed: int, count: int = 10) -> Understood:
    rng = random.Random(seed)
    return understand([make(rng) for _ in range(count)])


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (a_list, (TokenRow(1), Tail(0, Count(0)))),
        (a_list_on_its_counts_line, (Tail(1, Count(0)),)),
        (numbers_on_lines, (TokenRow(1), Repetition(Count(0), (TokenRow(1),)))),
        (a_matrix, (TokenRow(2), Repetition(Count(0), (Tail(0, Count(1)),)))),
        (cases, (TokenRow(1), Repetition(Count(0), (TokenRow(1), Tail(0, Count(1)))))),
        (a_graph, (TokenRow(2), Repetition(Count(1), (TokenRow(3),)))),
        (a_tree, (TokenRow(1), Repetition(Count(0, -1), (TokenRow(2),)))),
        (intervals, (TokenRow(2), Tail(0, Count(0)), Repetition(Count(1), (TokenRow(2),)))),
    ],
)
def test_a_format_is_understood_from_ten_inputs(make: Format, shape: tuple[object, ...]) -> None:
    assert [one.shape for one in given_by(make, 1).shapes] == [shape]


@pytest.mark.heavy
@pytest.mark.parametrize("make", FORMATS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_what_is_made_reads_by_the_same_shapes_and_shows_nothing_new(make: Format, seed: int) -> None:
    known = given_by(make, seed)
    made = draft(known, str(seed))
    if made is None:
        return
    assert made.text not in known.texts
    for one in known.shapes:
        tree = tree_of(one.shape, made.text)
        assert tree is not None
        assert written(one.shape, tree) == made.text
        assert not list(one.new_in(tree))
        assert not [key for key, fact in facts_of(one.shape, tree) if is_new(one.facts, key, fact)]


def numbers_of(text: str) -> list[list[int]]:
    return [[int(token) for token in words.split()] for words in text.splitlines()]


@pytest.mark.slow
@pytest.mark.heavy
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_a_made_graph_has_its_edges_among_its_nodes(seed: int) -> None:
    made = draft(given_by(a_graph, seed), str(seed))
    if made is not None:
        (n, m), *edges = numbers_of(made.text)
        assert len(edges) == m
        assert all(1 <= a <= n and 1 <= b <= n and 1 <= weight <= 99 for a, b, weight in edges)


@pytest.mark.heavy
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_edges_of_a_graph_are_never_drawn_anew(seed: int) -> None:
    known = given_by(a_graph, seed)
    made = draft(known, str(seed))
    if made is not None:
        edges = {tuple(edge[:2]) for edge in numbers_of(made.text)[1:]}
        assert any(edges <= {tuple(edge[:2]) for edge in numbers_of(text)[1:]} for text in known.texts)


@pytest.mark.heavy
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_sorted_lists_stay_sorted_permutations_stay_such_and_intervals_do_not_turn_round(seed: int) -> None:
    if (made := draft(given_by(a_sorted_list_with_queries, seed), str(seed))) is not None:
        assert numbers_of(made.text)[1] == sorted(numbers_of(made.text)[1])
    if (made := draft(given_by(a_permutation, seed), str(seed))) is not None:
        (n,), numbers = numbers_of(made.text)
        assert sorted(numbers) == list(range(1, n + 1))
    if (made := draft(given_by(intervals, seed), str(seed))) is not None:
        (n, _), _, *ends = numbers_of(made.text)
        assert all(1 <= low <= high <= n for low, high in ends)


def two_convex_lists(rng: random.Random) -> str:
    sizes = rng.randint(1, 20), rng.randint(1, 20)
    lists = [[*accumulate(sorted(drawn(rng, n - 1)), initial=rng.randint(0, 400))] for n in sizes]
    return line([*sizes]) + "".join(map(line, lists))


def supply_and_demand(rng: random.Random) -> str:
    n = rng.randint(2, 9)
    wanted = drawn(rng, n, 1, 50)
    return f"{n}\n" + line(rng.sample(wanted, n)) + line(wanted)


def a_tree_with_rings(rng: random.Random) -> str:
    return a_random_tree(rng, rings=True)


def a_random_tree(rng: random.Random, rings: bool = False) -> str:
    n = rng.randint(8, 40)
    rows = [[rng.randint(1, at), at + 1] for at in range(1, n)]
    rows = [row if rng.random() < 0.5 else row[::-1] for row in rows]
    rows += [[1, n], [n, 1]] if rings else []
    return f"{n} {len(rows)}\n" + "".join(map(line, rng.sample(rows, len(rows))))


def bookings(rng: random.Random) -> str:
    n = rng.randint(3, 12)
    ends = sorted(rng.sample(range(1000), 2 * n))
    return f"{n}\n" + "".join(line([*row]) for row in zip(ends[::2], ends[1::2], strict=True))


def bends(numbers: list[int]) -> list[int]:
    steps = [b - a for a, b in pairwise(numbers)]
    return [b - a for a, b in pairwise(steps)]


def test_promises_on_whole_lists_and_rows_are_kept() -> None:
    made = 0
    for seed in range(12):
        if (found := draft(given_by(two_convex_lists, seed), f"{seed}")) is not None:
            made += 1
            assert all(bend >= 0 for numbers in numbers_of(found.text)[1:] for bend in bends(numbers))
        if (found := draft(given_by(supply_and_demand, seed), f"{seed}")) is not None:
            _, one, other = numbers_of(found.text)
            assert sum(one) == sum(other)
        if (found := draft(given_by(bookings, seed), f"{seed}")) is not None:
            rows = numbers_of(found.text)[1:]
            assert all(before[1] < after[0] for before, after in pairwise(rows))
    assert made >= 6, "other convex lists can be made"


def test_a_forest_gets_no_ring_and_a_graph_that_hangs_together_stays_so() -> None:
    ring = {"forest": "no", "connected": "yes", "acyclic": "no"}
    assert edge_words([(1, 2), (2, 3), (3, 1)]) == ring
    assert edge_words([(1, 2), (1, 3), (2, 4)]) == {"forest": "yes", "connected": "yes", "acyclic": "yes"}
    assert edge_words([(1, 2), (3, 4), (1, 2)]) == {"forest": "no", "connected": "no", "acyclic": "yes"}
    for seed in range(8):
        for make, forest in ((a_random_tree, "yes"), (a_tree_with_rings, "no")):
            if (found := draft(given_by(make, seed), f"{seed}")) is not None:
                words = edge_words([(a, b) for a, b in numbers_of(found.text)[1:]])
                assert (words["connected"], words["forest"]) == ("yes", forest)


def test_every_format_with_freedom_gives_inputs_and_the_same_seed_the_same_ones() -> None:
    for make in (a_list, a_matrix, cases, a_graph, a_sorted_list_with_queries, a_permutation, intervals, names):
        known = given_by(make, 3)
        first = [draft(known, f"{seed}") for seed in range(8)]
        assert [one is not None for one in first].count(True) >= 4, make
        assert first == [draft(known, f"{seed}") for seed in range(8)]


def test_numbers_that_share_a_factor_go_on_sharing_it() -> None:
    known = understand([f"{n}\n" for n in (8, 12, 16, 1000, 1004, 1008, 220_000_000, 224_000_000)])
    made = {draft(known, f"{seed}") for seed in range(20)} - {None}
    assert len(made) > 5
    assert all(int(one.text) % 4 == 0 and 8 <= int(one.text) <= 224_000_000 for one in made if one is not None)


@pytest.mark.parametrize(
    "numbers",
    [(2, 3, 5, 7, 11, 101, 9973), (1, 2, 4, 8, 64, 1024), (1, 4, 9, 16, 25, 144)],
    ids=["prime", "2^k", "k^2"],
)
def test_numbers_of_a_kind_are_not_drawn_anew(numbers: tuple[int, ...]) -> None:
    known = understand([f"{n}\n" for n in numbers])
    assert known.shapes
    assert all(draft(known, f"{seed}") is None for seed in range(10))


COMMANDS = "5\n1 7\n1 9\n2 0\n1 3\n2 0\n"


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["1\n5\n", "2\n1 2\n"], "the format is read from 3 or more different tests, and there are 2"),
        (["3\na  b\n", "3\na b\n", "4\nc d\n"], "single spaces"),
        (["1\r\n2\r\n", "2\r\n2 3\r\n", "3\r\n1 2 3\r\n"], "single spaces"),
        (["it was\na dark and\nstormy\n", "night\nthe rain fell in\n", "x\ny z\nu\nv w\nq\n"], "no simple format"),
        (["2\n1 2\n", "3\n1 2 3\n", "2\n1 2 3\nand more\n"], "no simple format"),
    ],
)
def test_a_format_that_not_every_input_shows_is_refused_and_it_is_said_why(texts: list[str], why: str) -> None:
    known = understand(texts)
    assert known.shapes == ()
    assert why in known.why
    assert draft(known, "1") is None


@pytest.mark.heavy
def test_commands_by_number_and_grids_of_letters_are_left_in_their_order() -> None:
    rng = random.Random(5)
    commands = []
    for _ in range(8):
        n = rng.randint(8, 20)
        commands.append(f"{n}\n" + "".join(line([rng.randint(1, 3), rng.randint(1, 99)]) for _ in range(n)))
    grids = []
    for _ in range(8):
        n, m = rng.randint(3, 12), rng.randint(3, 12)
        rows = "".join(" ".join(rng.choices("#.", k=m)) + "\n" for _ in range(n))
        grids.append(f"{n} {m}\n{rows}")
    for texts in (commands, grids):
        known = understand(texts)
        made = [draft(known, f"{seed}") for seed in range(10)]
        assert all("permuted" not in one.how for one in made if one is not None)


def test_adjacent_nodes_are_neither_drawn_nor_left_out() -> None:
    rng = random.Random(2)
    texts = []
    for _ in range(10):
        n = rng.randint(2, 12)
        degrees = (rng.randint(0, 4) for _ in range(n))  # each drawn just before its nodes
        texts.append(f"{n}\n" + "".join(line([k, *drawn(rng, k, 1, n)]) for k in degrees))
    known = understand(texts)
    assert known.shapes
    assert all(draft(known, f"{seed}") is None for seed in range(10))


def test_two_shapes_that_explain_everything_must_both_explain_what_is_made() -> None:
    texts = ["2 2\n1 2\n3 4\n", "3 3\n1 2 3\n4 5 6\n", "4 4\n5 4 3 2\n9 9 8 1\n", "1 1\n7\n8\n"]
    split = [lines for text in texts if (lines := lines_of(text)) is not None]
    assert len(explanations(split)) > 1
    known = understand(texts)
    for seed in range(20):
        if (made := draft(known, f"{seed}")) is not None:
            (n, m), *rest = numbers_of(made.text)
            assert n == m
            assert [len(row) for row in rest] == [n, n]


# ------------------------------------------------------------------------------------------------------------- larger


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), factor=st.sampled_from([2, 4, 16]))
def test_cases_and_lists_are_made_larger_with_their_counts(seed: int, factor: int) -> None:
    known = given_by(cases, seed)
    base = max(known.texts, key=len)
    text = larger(known, base, factor)
    assert text is not None
    assert int(text.split()[0]) == factor * int(base.split()[0])
    assert tree_of(known.shapes[0].shape, text) is not None


def test_larger_inputs_of_many_graphs_repeat_none_of_them() -> None:
    known = given_by(graphs_with_a_source, 4)
    base = max(known.texts, key=len)
    rows = numbers_of(larger(known, base, 8, "seed") or "")
    graphs = []
    at = 1
    while at < len(rows):
        n, m, _ = rows[at]
        edges = rows[at + 1 : at + 1 + m]
        assert all(1 <= b < a <= n for a, b, _ in edges)
        assert len({(a, b) for a, b, _ in edges}) == m  # no pair twice, as in the given ones
        graphs.append(tuple(sorted(map(tuple, edges))))
        at += 1 + m
    assert len(graphs) == rows[0][0] == 8 * numbers_of(base)[0][0]
    assert len(set(graphs)) == len(graphs)


def test_a_larger_graph_keeps_its_nodes_and_a_larger_tree_or_permutation_cannot_be_made() -> None:
    graphs = given_by(a_graph, 4)
    text = larger(graphs, max(graphs.texts, key=len), 8)
    assert text is not None
    (n, m), *edges = numbers_of(text)
    assert len(edges) == m
    assert all(1 <= a <= n and 1 <= b <= n for a, b, _ in edges)
    for make in (a_tree, a_permutation):
        known = given_by(make, 4)
        assert larger(known, max(known.texts, key=len), 8) is None
