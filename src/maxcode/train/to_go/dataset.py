"""Pairs -> a data set: sides by problem, labels by suite, and the checks that prevent misleading figures.

Problems that share a program (the same code, up to comments and layout) are one family and stay on one side, so that no
model is evaluated on code that it was trained on.  Held-out problems are not part of the quantiles either.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from maxcode.errors import InputError
from maxcode.search.value import OF_PAPER, QUANTILE, RELATIVE, Edges, described, papers, preset, quantile_edges
from maxcode.train.to_go.pairs import Pair

LEAST_PAIRS = 20
LARGEST_SHARE = 0.8
DATA, DATA_CARD = "pairs.jsonl", "DATA.md"


@final
@dataclass(frozen=True, slots=True)
class Dataset:
    """Both sides, in the order of the runs, and the edges of every suite (or of every problem, depending on ``kind``).

    ``main``: the edges of the suite with the most training pairs; of all pairs if every problem has its own edges.
    """

    train: tuple[Pair, ...]
    held_out: tuple[Pair, ...]
    edges: Mapping[str, Edges]
    main: Edges
    kind: str = QUANTILE

    def label(self, pair: Pair) -> int:
        """The class of a pair, by its suite's edges; a suite without training pairs uses those of the largest."""
        return self.edges.get(group_of(pair, self.kind), self.main).classify(pair.target)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.main.classes

    def balance(self, pairs: Sequence[Pair]) -> dict[int, float]:
        """The share of every class, empty ones included."""
        counts = Counter(self.label(pair) for pair in pairs)
        return {at: counts[at] / max(1, len(pairs)) for at in range(self.classes)}


def group_of(pair: Pair, kind: str) -> str:
    """The group whose edges a pair uses."""
    return pair.problem if kind == RELATIVE else pair.suite


def families(pairs: Iterable[Pair]) -> list[frozenset[str]]:
    """Problems that share a program, in groups; sorted by their first name."""
    groups: dict[str, set[str]] = {}
    seen: dict[str, str] = {}
    for pair in pairs:
        groups.setdefault(pair.problem, {pair.problem})
        for mark in (pair.mark, pair.origin):
            other = seen.setdefault(mark, pair.problem)
            if groups[other] is not groups[pair.problem]:
                joined = groups[other] | groups[pair.problem]
                groups.update(dict.fromkeys(joined, joined))
    return sorted({frozenset(group) for group in groups.values()}, key=min)


def split(pairs: Sequence[Pair], share: float, seed: int) -> frozenset[str]:
    """The problems to hold out: whole families, chosen with ``seed``, about ``share`` of all problems, at least one on
    each side."""
    groups = families(pairs)
    _refuse_one(pairs, groups)
    order = random.Random(f"split/{seed}").sample(groups, len(groups))
    wanted = share * sum(map(len, groups))
    chosen: set[str] = set()
    for group in order[:-1]:
        if not chosen or len(chosen) + len(group) / 2 <= wanted:
            chosen |= group
    return frozenset(chosen)


def _refuse_one(pairs: Sequence[Pair], groups: Sequence[frozenset[str]]) -> None:
    if len(groups) < 2:
        told = ", ".join(sorted({pair.problem for pair in pairs})) or "none"
        raise InputError(
            f"{len({pair.run for pair in pairs})} run(s) with a finished batch, of problems that are one family "
            f"({told}: they share code); a split by problem needs two: give runs of other problems with --from"
        )


def assembled(pairs: Sequence[Pair], held_out: frozenset[str], edges: str) -> Dataset:
    """The data set; raises InputError if the sides overlap, too little is left, or one class is nearly all.

    ``edges``: "quantile", taken from the training side for every suite; a name of the paper's edges; "paper", for
    every suite the edges of its name; or "problem", the quantiles of every problem.  With "problem" a class tells how
    good a state is among those of its problem, which is all that a search compares; the labels of held-out problems,
    used only for figures, are relative in the same way.
    """
    _refuse_overlap(pairs, held_out)
    train = tuple(pair for pair in pairs if pair.problem not in held_out)
    rest = tuple(pair for pair in pairs if pair.problem in held_out)
    if len(train) < LEAST_PAIRS or not rest:
        raise InputError(
            f"{len(train)} states to train on and {len(rest)} held out, from {len({p.run for p in pairs})} run(s); "
            f"at least {LEAST_PAIRS} and 1 are needed: give more runs with --from, or hold other problems out"
        )
    by_group: dict[str, list[float]] = defaultdict(list)
    for pair in pairs if edges == RELATIVE else train:
        by_group[group_of(pair, edges)].append(pair.target)
    together = [pair.target for pair in train]
    all_edges = _all_edges(edges, by_group, together)
    largest = Counter(group_of(pair, edges) for pair in train).most_common(1)[0][0]
    main = quantile_edges(together) if edges == RELATIVE else all_edges[largest]
    found = Dataset(train, rest, all_edges, main, edges)
    _refuse_one_class(found)
    return found


def _all_edges(kind: str, by_group: Mapping[str, Sequence[float]], together: Sequence[float]) -> dict[str, Edges]:
    """Edges by group; a group with too few speed-ups for its own quantiles gets those of the whole training side."""
    if kind == OF_PAPER:
        return {suite: papers(suite) for suite in sorted(by_group)}
    if kind not in (QUANTILE, RELATIVE):
        return dict.fromkeys(sorted(by_group), preset(kind))
    usual = quantile_edges(together)
    found = {}
    for group, targets in sorted(by_group.items()):
        try:
            found[group] = quantile_edges(targets)
        except InputError:
            found[group] = usual
    return found


def _refuse_overlap(pairs: Sequence[Pair], held_out: frozenset[str]) -> None:
    known = {pair.problem for pair in pairs}
    if missing := sorted(held_out - known):
        raise InputError(f"no run of {', '.join(missing)} to be held out; there are runs of {', '.join(sorted(known))}")
    for group in families(pairs):
        if group & held_out and group - held_out:
            raise InputError(
                f"{', '.join(sorted(group & held_out))} (held out) and {', '.join(sorted(group - held_out))} (to train "
                "on) share the same program, comments and layout apart: hold all of them out, or none"
            )


def _refuse_one_class(found: Dataset) -> None:
    balance = found.balance(found.train)
    largest = max(balance, key=lambda at: balance[at])
    if balance[largest] > LARGEST_SHARE:
        shares = ", ".join(f"{at}: {share:.0%}" for at, share in balance.items())
        raise InputError(
            f"{balance[largest]:.0%} of the training states are of class {largest} ({shares}); above "
            f"{LARGEST_SHARE:.0%} a model learns to predict only that class: give runs of problems where more "
            "candidates are faster, or other --edges"
        )


# ----------------------------------------------------------------------------------------------------- data set card


def about(found: Dataset) -> dict[str, Any]:
    """The description of a data set, for its card and the model's."""
    pairs = (*found.train, *found.held_out)
    return {
        "data": {
            "runs": len({pair.run for pair in pairs}),
            "problems": len({pair.problem for pair in pairs}),
            "states": len(pairs),
            "by suite": dict(Counter(pair.suite for pair in pairs)),
            "by method": dict(Counter(pair.method for pair in pairs)),
            "by policy": dict(Counter(pair.policy for pair in pairs)),
            "guided by a value model": sum(pair.guided for pair in pairs),
            "off-policy (another policy than most of its suite)": sum(pair.off_policy for pair in pairs),
            "nothing was tried from": sum(pair.below == 0 for pair in pairs),
            "of depth at most 2, the paper's prefixes": sum(pair.situation.depth <= 2 for pair in pairs),
        },
        "split": {
            "by": "problem; problems that share a program stay together",
            "training problems": sorted({pair.problem for pair in found.train}),
            "held-out problems": sorted({pair.problem for pair in found.held_out}),
            "training states": len(found.train),
            "held-out states": len(found.held_out),
            "programs on both sides": len({p.mark for p in found.train} & {p.mark for p in found.held_out}),
        },
        "labels": {
            "edges": {suite: [round(one, 4) for one in edges.bounds] for suite, edges in found.edges.items()},
            "kind of edges": found.kind,
            "share of each class, training": {f"{at}": round(one, 3) for at, one in found.balance(found.train).items()},
            "share of each class, held out": {
                f"{at}": round(one, 3) for at, one in found.balance(found.held_out).items()
            },
        },
    }


def write_data(folder: Path, found: Dataset) -> None:
    """Writes ``pairs.jsonl``, one line per pair with the place of its state, and the card."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / DATA).open("w") as file:
            for side, pairs in (("train", found.train), ("held-out", found.held_out)):
                file.writelines(json.dumps({"side": side, **_row(pair, found)}) + "\n" for pair in pairs)
        (folder / DATA_CARD).write_text(described(about(found)).replace("# Value model", "# Data set", 1))
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}; choose another --out") from error


def _row(pair: Pair, found: Dataset) -> dict[str, Any]:
    names = ("problem", "suite", "run", "at", "method", "policy", "seed", "guided", "off_policy", "below")
    return {
        **{name: getattr(pair, name) for name in names},
        "depth": pair.situation.depth,
        "u": round(pair.situation.u, 6),
        "target": round(pair.target, 6),
        "label": found.label(pair),
    }
