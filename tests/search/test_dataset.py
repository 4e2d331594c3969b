"""A data set is honest: sides by problem, no program on both, quantiles from training alone, one class refused."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxcode.errors import InputError
from maxcode.search.value import PRESETS, Edges, preset, quantile_edges
from maxcode.train.to_go.dataset import DATA, assembled, families, split, write_data
from maxcode.train.to_go.evaluation import folded
from maxcode.train.to_go.pairs import Pair, read_pairs, run_folders
from tests.support.value_help import several

PROBLEMS = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    return read_pairs(run_folders([several(tmp_path_factory.mktemp("runs"), PROBLEMS)]))


def test_classes_are_the_papers() -> None:
    bounds = {name: edges.bounds for name, edges in PRESETS.items()}
    assert bounds == {
        "kernelbench-l1": (1.4, 3.2, 4.75),
        "kernelbench-l2": (1.2, 1.7, 2.15),
        "pie": (1.25, 1.8, 2.6),
    }
    pie = preset("pie")
    assert [pie.classify(one) for one in (0, 0.9, 1.0, 1.01, 1.25, 1.26, 1.8, 2.6, 2.61, 99)] == [
        0, 0, 0, 1, 1, 2, 2, 3, 4, 4,
    ]  # fmt: skip
    with pytest.raises(InputError, match="did you mean 'pie'"):
        preset("pje")
    with pytest.raises(InputError, match="do not rise"):
        Edges("mine", (1.5, 1.2))


@given(st.lists(st.floats(0.1, 100), min_size=2, max_size=50))
def test_a_position_rises_with_the_speedup_and_stays_beside_its_class(speedups: list[float]) -> None:
    edges = PRESETS["pie"]
    ordered = sorted(speedups)
    places = [edges.position(one) for one in ordered]
    assert places == sorted(places)
    assert all(abs(place - edges.classify(one)) <= 0.5 + 1e-9 for one, place in zip(ordered, places, strict=True))


@pytest.mark.parametrize("count", [4, 8, 100])
def test_quantile_edges_leave_as_many_above_the_last_edge_as_below_the_first(count: int) -> None:
    speedups = [1 + n / 1000 for n in range(1, count + 1)]
    edges = quantile_edges(speedups)
    assert Counter(map(edges.classify, speedups)) == dict.fromkeys((1, 2, 3, 4), count // 4)


def test_quantile_edges_share_the_faster_ones_out_evenly() -> None:
    edges = quantile_edges([0.0, 0.5, 1.0, *(1 + n / 100 for n in range(1, 401))])
    counts = [0] * 5
    for n in range(1, 401):
        counts[edges.classify(1 + n / 100)] += 1
    assert counts[0] == 0
    assert max(counts[1:]) - min(counts[1:]) <= 2
    with pytest.raises(InputError, match="give more runs"):
        quantile_edges([0.0, 1.0, 2.0, 2.0])


def test_no_problem_and_no_program_is_on_both_sides(pairs: list[Pair]) -> None:
    for seed in range(5):
        held_out = split(pairs, 0.2, seed)
        data = assembled(pairs, held_out, "quantile")
        assert 0 < len(held_out) < len(PROBLEMS)
        assert not {p.problem for p in data.train} & {p.problem for p in data.held_out}
        assert not {p.mark for p in data.train} & {p.mark for p in data.held_out}
    assert len({split(pairs, 0.2, seed) for seed in range(8)}) > 1


def sharing(pairs: list[Pair], one: str, other: str) -> list[Pair]:
    """The pairs, the last one of ``other`` having a program of ``one``."""
    found = list(pairs)
    mark = next(pair.mark for pair in found if pair.problem == one)
    at = max(at for at, pair in enumerate(found) if pair.problem == other)
    found[at] = replace(found[at], mark=mark)
    return found


def test_problems_that_share_one_program_stay_together(pairs: list[Pair]) -> None:
    assert families(pairs) == [frozenset(name) for name in PROBLEMS]
    joined = sharing(sharing(pairs, "a", "c"), "c", "e")
    assert families(joined) == [frozenset("ace"), frozenset("b"), frozenset("d")]
    for seed in range(8):
        chosen = split(joined, 0.4, seed)
        assert chosen.isdisjoint("ace") or chosen >= set("ace")
        folds = folded(joined, 5, seed)
        assert sorted(name for fold in folds for name in fold) == PROBLEMS
        assert any(fold >= set("ace") for fold in folds)


def test_problems_with_the_same_original_stay_together(pairs: list[Pair]) -> None:
    origin = next(pair.origin for pair in pairs if pair.problem == "a")
    twins = [replace(pair, origin=origin) if pair.problem == "b" else pair for pair in pairs]
    assert frozenset("ab") in families(twins)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda pairs: ([p for p in pairs if p.problem == "a"], None), "a split by problem needs two"),
        (lambda pairs: (pairs[:4] + [p for p in pairs if p.problem == "b"], {"b"}), "4 states to train on"),
        (lambda pairs: (sharing(pairs, "a", "b"), {"b"}), "share the same program"),
        (lambda pairs: (pairs, {"nowhere"}), "no run of nowhere"),
        (lambda pairs: ([replace(p, target=0.5) for p in pairs], {"b"}), "give more runs"),
        (lambda pairs: ([replace(p, target=p.target if p.at == (1, 0) else 9.0) for p in pairs], {"b"}), "class"),
    ],
)
def test_bad_input_is_one_error_with_its_cure(pairs: list[Pair], spoil, words: str) -> None:  # type: ignore[no-untyped-def]
    spoiled, held_out = spoil(pairs)
    with pytest.raises(InputError, match=words) as caught:
        assembled(spoiled, frozenset(held_out) if held_out else split(spoiled, 0.2, 0), "quantile")
    assert caught.value.exit_code == 2


def test_a_class_with_nearly_all_states_is_refused_with_the_shares(pairs: list[Pair]) -> None:
    with pytest.raises(InputError, match=r"9\d% of the training states are of class 4 \(0: .*4: 9\d%\)"):
        assembled([replace(p, target=99.0 if p.at != (1, 0) else 1.5) for p in pairs], frozenset("b"), "pie")


def test_held_out_problems_take_no_part_in_the_quantiles(pairs: list[Pair]) -> None:
    edges = assembled(pairs, frozenset("b"), "quantile").edges
    changed = [replace(p, target=1e6) if p.problem == "b" else p for p in pairs]
    assert assembled(changed, frozenset("b"), "quantile").edges == edges


def test_where_every_problem_has_its_own_edges_the_main_ones_are_those_of_all_training_pairs(pairs: list[Pair]) -> None:
    data = assembled(pairs, frozenset("b"), "problem")
    assert set(data.edges) == set(PROBLEMS)
    assert data.edges["a"] == quantile_edges(pair.target for pair in pairs if pair.problem == "a")
    assert data.main == quantile_edges(pair.target for pair in pairs if pair.problem != "b")


def test_the_data_set_says_where_every_state_is_and_has_a_card(pairs: list[Pair], tmp_path: Path) -> None:
    data = assembled(pairs, frozenset("b"), "quantile")
    write_data(tmp_path, data)
    rows = [json.loads(line) for line in (tmp_path / DATA).read_text().splitlines()]
    assert len(rows) == len(pairs)
    assert {row["side"] for row in rows if row["problem"] == "b"} == {"held-out"}
    assert all(set(row) >= {"run", "at", "label", "target", "u", "guided", "off_policy", "below"} for row in rows)
    card = (tmp_path / "DATA.md").read_text()
    assert "held-out problems: b" in card
    assert "programs on both sides: 0" in card


def test_every_suite_gets_the_papers_edges_of_its_own(pairs: list[Pair]) -> None:
    suites = {"a": "kernelbench-l1", "b": "kernelbench-l1"}
    known = [replace(pair, suite=suites.get(pair.problem, "pie")) for pair in pairs]
    assert assembled(known, frozenset("b"), "paper").edges == {
        name: PRESETS[name] for name in ("kernelbench-l1", "pie")
    }
    with pytest.raises(InputError, match="the paper has no edges for programs"):
        assembled([replace(pair, suite="programs") for pair in pairs], frozenset("b"), "paper")
