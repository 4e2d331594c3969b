"""What the given inputs show of a graph stays true of made ones: every node has an edge, and what a node names is still
there under its number."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from maxcode.evaluate.inputs.enlarge import larger
from maxcode.evaluate.inputs.format_model import Understood, understand
from maxcode.evaluate.inputs.mutate import Draft, draft
from maxcode.evaluate.inputs.unusual import habit, wider

Text = Callable[[random.Random], str]


def line(numbers: list[int]) -> str:
    return " ".join(map(str, numbers)) + "\n"


def numbers(text: str) -> list[list[int]]:
    return [[int(token) for token in row.split()] for row in text.splitlines()]


def weighted_nodes(rng: random.Random, connected: bool = True) -> str:
    """`n m`, n weights of nodes, m edges."""
    n = rng.randint(8, 30)
    edges = [[rng.randint(1, node - 1), node] for node in range(2, n + 1 if connected else n - 2)]
    edges += [[rng.randint(1, n - 4), rng.randint(1, n - 4)] for _ in range(rng.randint(3, 20))]
    rng.shuffle(edges)
    return line([n, len(edges)]) + line([rng.randint(1, 999) for _ in range(n)]) + "".join(map(line, edges))


def neighbours(rng: random.Random, n: int) -> list[list[int]]:
    """Of each node from 1 on, in a graph without directions."""
    found: list[list[int]] = [[] for _ in range(n)]
    for node in range(1, n):
        other = rng.randrange(node)
        found[node].append(other + 1)
        found[other].append(node + 1)
    return found


def lists_on_lines_of_their_own(rng: random.Random) -> str:
    n = rng.randint(5, 14)
    return f"{n}\n" + "".join(f"{len(own)}\n{line(own)}" for own in neighbours(rng, n))


def lists_with_weights(rng: random.Random) -> str:
    n = rng.randint(5, 14)
    weight = {frozenset((a, b)): rng.randint(1, 99) for a in range(1, n + 1) for b in range(1, n + 1)}
    own = neighbours(rng, n)
    rows = [
        "".join(line([other, weight[frozenset((node, other))]]) for other in own[node - 1]) for node in range(1, n + 1)
    ]
    return f"{n}\n" + "".join(f"{len(own[node])}\n{rows[node]}" for node in range(n))


def parents(rng: random.Random) -> str:
    """Of each node its parent (0: none) with the number of its items, and these."""
    n = rng.randint(5, 14)
    sizes = [rng.randint(5, 9) for _ in range(n)]
    rows = (
        f"{rng.randrange(at + 1)} {k}\n" + line([rng.randint(1, 999) for _ in range(k)]) for at, k in enumerate(sizes)
    )
    return f"{n}\n" + "".join(rows)


def symmetric(rng: random.Random) -> str:
    """A name of each node, and its distances to all."""
    n = rng.randint(5, 9)
    far = {frozenset((a, b)): rng.randint(1, 99) for a in range(n) for b in range(n)}
    rows = (f"{rng.randint(100, 999)}\n" + line([far[frozenset((a, b))] for b in range(n)]) for a in range(n))
    return f"{n}\n" + "".join(rows)


def small_cases(rng: random.Random) -> str:
    """Many independent cases of small numbers."""
    sizes = [rng.randint(5, 9) for _ in range(rng.randint(40, 60))]
    return f"{len(sizes)}\n" + "".join(f"{k}\n" + line([rng.randint(0, 9) for _ in range(k)]) for k in sizes)


def known_of(make: Text, count: int = 8) -> Understood:
    rng = random.Random(5)
    known = understand([make(rng) for _ in range(count)])
    assert known.shapes
    return known


def all_made(known: Understood) -> list[str]:
    """What every way of making inputs gives."""
    found: list[Draft | None] = []
    for seed in range(25):
        found += [draft(known, f"{seed}"), habit(known, f"{seed}"), wider(known, {}, f"{seed}", seed)]
    texts = [larger(known, base, 2, "seed") for base in known.texts]
    return [*(one.text for one in found if one is not None), *(text for text in texts if text is not None)]


def isolated(text: str) -> int:
    (n, _), _, *edges = numbers(text)
    return n - len({node for edge in edges for node in edge})


def test_every_node_has_an_edge_where_every_given_one_has() -> None:
    made = all_made(known_of(weighted_nodes))
    assert len(made) > 30
    assert {isolated(text) for text in made} == {0}


def test_nodes_without_an_edge_are_added_where_the_given_inputs_have_such() -> None:
    known = known_of(lambda rng: weighted_nodes(rng, connected=False))
    least = min(map(isolated, known.texts))
    assert least > 0
    assert max(map(isolated, all_made(known))) > max(map(isolated, known.texts))


def is_symmetric(text: str, width: int) -> bool:
    rows = iter(numbers(text))
    (n,) = next(rows)
    found = []
    for node in range(1, n + 1):
        (k,) = next(rows)
        lists = [next(rows) for _ in range(k)] if width > 1 else [[one] for one in next(rows)]
        found += [(node, *one) for one in lists]
    return sorted(found) == sorted((other, node, *rest) for node, other, *rest in found)


@pytest.mark.parametrize(("make", "width"), [(lists_on_lines_of_their_own, 1), (lists_with_weights, 2)])
def test_lists_of_adjacent_nodes_stay_with_their_node(make: Text, width: int) -> None:
    known = known_of(make)
    assert all(is_symmetric(text, width) for text in known.texts)
    assert all(is_symmetric(text, width) for text in all_made(known))


def test_parents_come_before_their_children_in_made_inputs_too() -> None:
    made = all_made(known_of(parents))
    assert made
    for text in made:
        assert all(parent <= at for at, (parent, _) in enumerate(numbers(text)[1::2]))


def test_a_symmetric_matrix_whose_rows_have_a_line_before_them_stays_symmetric() -> None:
    for text in all_made(known_of(symmetric)):
        rows = numbers(text)[2::2]
        assert rows == [list(column) for column in zip(*rows, strict=True)]


def test_cases_whose_numbers_are_no_numbers_of_cases_still_change_places() -> None:
    known = known_of(small_cases)
    made = [draft(known, f"{seed}") for seed in range(40)]
    assert any("permuted" in one.how for one in made if one is not None)
    assert any("resized" in one.how for one in made if one is not None)
