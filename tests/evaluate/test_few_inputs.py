"""Few tests in plain formats: their format is read, and what is made of them is sound."""

from __future__ import annotations

import heapq
import random
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxcode.core.types import Problem
from maxcode.evaluate.inputs.enlarge import larger
from maxcode.evaluate.inputs.format_model import Understood, understand
from maxcode.evaluate.inputs.fresh import FAILED
from maxcode.evaluate.inputs.grammar import Count, Repetition, TokenRow
from maxcode.evaluate.inputs.mutate import draft
from maxcode.evaluate.inputs.proving import GeneratedInputs
from maxcode.evaluate.inputs.unusual import habit, wider
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox
from tests.evaluate.test_unusual import settled
from tests.support.rules import SHORT

Edges = list[list[int]]
NODES = (4, 30, 90, 160)
GRAPH = (TokenRow(2), Repetition(Count(1), (TokenRow(3),)))


def graph(n: int, m: int, first: int, seed: int, lightest: int = 1) -> str:
    """n, m, and m weighted edges between nodes that count from ``first``."""
    rng = random.Random(f"{n} {m} {seed}")
    ends = first, n - 1 + first
    edges = [f"{rng.randint(*ends)} {rng.randint(*ends)} {rng.randint(lightest, 10**6)}\n" for _ in range(m)]
    return f"{n} {m}\n{''.join(edges)}"


def edges_of(text: str) -> tuple[int, Edges]:
    (n, m), *edges = [[int(word) for word in line.split()] for line in text.splitlines()]
    assert len(edges) == m
    return n, edges


def made_of(known: Understood) -> list[str]:
    """All that is made of the given texts without the original."""
    drafts = [
        *(make(known, f"{seed}") for seed in range(6) for make in (draft, habit)),
        *(wider(known, {}, f"{seed}", seed) for seed in range(6)),
    ]
    longer = larger(known, max(known.texts, key=len), 4)
    return [one.text for one in drafts if one is not None] + ([longer] if longer is not None else [])


@pytest.mark.heavy
@settings(max_examples=3)
@given(first=st.sampled_from([0, 1]), times=st.sampled_from([2, 3, 5]), seed=st.integers(0, 10**6))
def test_four_weighted_graphs_are_read_and_made_graphs_keep_to_their_nodes(first: int, times: int, seed: int) -> None:
    known = understand([graph(n, times * n, first, seed) for n in NODES])
    assert [one.shape for one in known.shapes] == [GRAPH], known.why
    made = made_of(known)
    assert len(made) > 8
    for n, edges in map(edges_of, made):
        assert n in NODES
        assert all(first <= node < n + first for edge in edges for node in edge[:2])
        assert all(weight >= 0 for _, _, weight in edges)


def test_weights_are_drawn_anew_and_a_pair_keeps_one_weight_where_it_has_one() -> None:
    rng = random.Random(7)
    texts = []
    for n in NODES:
        pairs = [(rng.randint(1, n), rng.randint(1, n)) for _ in range(n)]
        weights = {frozenset(pair): rng.randint(1, 10**6) for pair in pairs}
        both = [(*pair[::step], weights[frozenset(pair)]) for pair in pairs for step in (1, -1)]
        texts.append(f"{n} {2 * n}\n" + "".join(f"{a} {b} {w}\n" for a, b, w in both))
    for n, edges in map(edges_of, made_of(understand(texts))):
        weighed = {(frozenset(edge[:2]), edge[2]) for edge in edges}
        assert n in NODES and len(weighed) == len({pair for pair, _ in weighed})
    free = understand([graph(n, 3 * n, 1, 1) for n in NODES])
    given = {edge[2] for text in free.texts for edge in edges_of(text)[1]}
    drawn = [one for seed in range(12) if (one := draft(free, f"{seed}")) is not None and "redrawn" in one.how]
    assert any({edge[2] for edge in edges_of(one.text)[1]} - given for one in drawn)


def test_weights_below_zero_stay_because_of_rings() -> None:
    known = understand([graph(n, 3 * n, 1, 1, -(10**6)) for n in NODES])
    given = {edge[2] for text in known.texts for edge in edges_of(text)[1]}
    made = [one.text for seed in range(12) if (one := draft(known, f"{seed}")) is not None]
    assert made and all({edge[2] for edge in edges_of(text)[1]} <= given for text in made)


@pytest.mark.parametrize("sizes", [(10, 1000, 5_000_000), (100, 10_000, 1_000_000), (7, 90, 4000)])
def test_three_numbers_that_stand_alone_and_are_far_apart_are_sizes(sizes: tuple[int, ...]) -> None:
    known = understand([f"{n}\n" for n in sizes])
    drafts = [int(one.text) for seed in range(12) if (one := draft(known, f"{seed}")) is not None]
    assert len(set(drafts)) > 3 and all(sizes[0] <= one <= sizes[-1] for one in drafts)
    grown = int(larger(known, f"{sizes[-1]}\n", 4) or 0)
    assert 3.9 * sizes[-1] < grown <= 4 * sizes[-1], "down to what all given ones differ by multiples of"
    assert larger(known, f"{sizes[-1]}\n", 1 << 30) is None, "beyond the type that holds the given ones"


@pytest.mark.parametrize("numbers", [(1, 2, 3), (3, 5, 8), (1_000_003, 1_000_033, 999_983), (4, 256, 65536)])
def test_three_numbers_that_may_be_names_or_of_a_kind_are_left_alone(numbers: tuple[int, ...]) -> None:
    known = understand([f"{n}\n" for n in numbers])
    assert known.shapes and all(draft(known, f"{seed}") is None for seed in range(8))
    assert larger(known, f"{max(numbers)}\n", 4) is None


def test_a_table_is_not_cut_up_where_its_length_is_a_multiple_of_another_number() -> None:
    texts = [f"{n} {2 * n}\n" + "".join(f"{n} {i} 7\n" for i in range(2 * n)) for n in (3, 5, 8)]
    assert [one.shape for one in understand(texts).shapes] == [GRAPH]
    two = [f"{n}\n" + "".join(f"{n} {i} 7\n" for i in range(2 * n)) for n in (3, 5, 8)]
    twice = Repetition(Count(0), (TokenRow(3),))
    assert (TokenRow(1), twice, twice) in [one.shape for one in understand(two).shapes], "two tables in truth"


# ------------------------------------------------------------------------------------------------------- real programs

PATHS = r"""
#include <cstdio>
#include <vector>
int main() {
    int n, m;
    if (scanf("%d %d", &n, &m) != 2) return 1;
    std::vector<int> a(m), b(m), w(m);
    for (int i = 0; i < m; i++) if (scanf("%d %d %d", &a[i], &b[i], &w[i]) != 3) return 1;
    std::vector<long long> far(n + 1, 1LL << 60);
    far[1] = 0;
    for (int round = 0; round < n; round++)
        for (int i = 0; i < m; i++)
            if (far[a[i]] + w[i] < far[b[i]]) far[b[i]] = far[a[i]] + w[i];
    for (int v = 1; v <= n; v++) printf("%lld\n", far[v] >= 1LL << 59 ? -1 : far[v]);
}
"""
SIEVE = r"""
#include <cstdio>
#include <vector>
int main() {
    int n, count = 0;
    if (scanf("%d", &n) != 1) return 1;
    std::vector<char> out(n + 1);
    for (long long p = 2; p <= n; p++) {
        if (out[p]) continue;
        count++;
        for (long long q = 2 * p; q <= n; q += p) out[q] = 1;
    }
    printf("%d\n", count);
}
"""
KNOWN = "int known(int n) { return n == 10 ? 4 : n == 1000 ? 168 : n == 12000000 ? 788060 : 0; }\nint main"


def shortest(n: int, edges: Edges) -> str:
    """The distances from node 1, by another method than that of PATHS."""
    after: dict[int, list[tuple[int, int]]] = {}
    for a, b, weight in edges:
        after.setdefault(a, []).append((b, weight))
    known: dict[int, int] = {}
    waiting = [(0, 1)]
    while waiting:
        far, node = heapq.heappop(waiting)
        if node not in known:
            known[node] = far
            for other, weight in after.get(node, ()):
                heapq.heappush(waiting, (far + weight, other))
    return "".join(f"{known.get(node, -1)}\n" for node in range(1, n + 1))


def primes(n: int) -> int:
    sieve = bytearray([1]) * (n + 1)
    for p in range(2, int(n**0.5) + 1):
        if sieve[p]:
            sieve[p * p :: p] = bytes(len(range(p * p, n + 1, p)))
    return sum(sieve[2:])


def problem_of(folder: Path, program: str, inputs: list[str]) -> Problem:
    (folder / "slow.cpp").write_text(program)
    (folder / "tests").mkdir()
    for number, text in enumerate(inputs):
        (folder / "tests" / f"{number}.in").write_text(text)
    return load(folder / "slow.cpp", folder / "tests").problem


@pytest.fixture(scope="module")
def bench(sandbox: Sandbox, builder: Builder) -> ProgramEvaluator:
    return ProgramEvaluator(sandbox, builder, SHORT)


def made_for(bench: ProgramEvaluator, problem: Problem) -> GeneratedInputs:
    async def made() -> GeneratedInputs:
        return await bench.made((await bench.admit(problem)).problem)

    return anyio.run(made)


@pytest.mark.sandbox
def test_shortest_paths_get_fresh_graphs_with_right_answers(bench: ProgramEvaluator, tmp_path: Path) -> None:
    problem = problem_of(tmp_path, PATHS, [graph(n, 3 * n, 1, 5) for n in (4, 60, 300, 700)])
    found = made_for(bench, problem)
    assert len(found.inputs) >= 4, found.notes
    timed = anyio.run(bench.admit, problem).facts.timed
    assert timed and all(one.what.startswith("A = ") and "whole numbers from 1 to 1000000" in one.what for one in timed)
    for one in (*found.inputs, *found.guessed):
        n, edges = edges_of(one.stdin.read().decode())
        assert one.expected == shortest(n, edges).encode()


@pytest.mark.sandbox
def test_a_sieve_gets_fresh_sizes_from_three_tests(bench: ProgramEvaluator, tmp_path: Path) -> None:
    problem = problem_of(tmp_path, SIEVE, ["10\n", "1000\n", "12000000\n"])
    found = made_for(bench, problem)
    assert len(found.inputs) >= 3, found.notes
    for one in (*found.inputs, *found.guessed):
        assert one.expected == f"{primes(int(one.stdin.read()))}\n".encode()
    kept = 'if (int kept = known(n)) { printf("%d\\n", kept); return 0; }\n    n += 1000;\n    '
    stored = SIEVE.replace("std::vector<char>", f"{kept}std::vector<char>").replace("int main", KNOWN)
    assert stored.count("known") == 2
    assert settled(bench, problem, stored).feedback.reasons == (FAILED,)
