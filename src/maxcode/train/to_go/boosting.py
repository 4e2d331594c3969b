"""Gradient-boosted trees by scikit-learn, returned as plain lists.

Only this file needs scikit-learn (extra ``value``).  The fitted trees are copied and applied by ``value.trees``; the
copy is first compared with the original.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from maxcode.errors import InputError, MachineError
from maxcode.search.value import Situation, Tree, Trees
from maxcode.search.value.features import VERSION, features

ROUNDS, RATE, LEAVES, LEAST, RIDGE = 120, 0.06, 12, 12, 1.0
_CLOSE = 1e-9


def fit_trees(situations: Sequence[Situation], labels: Sequence[int], seed: int = 0) -> Trees:
    """Trees for the classes of ``labels``, at least two; the same input gives the same trees."""
    ensemble, numpy, limited = _sklearn()
    rows = numpy.array([features(one) for one in situations])
    model = ensemble(
        max_iter=ROUNDS,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=min(LEAST, max(1, len(rows) // 10)),
        l2_regularization=RIDGE,
        max_features=0.5,
        early_stopping=False,
        categorical_features=None,
        random_state=seed,
    )
    known = numpy.flatnonzero(~numpy.isnan(rows).all(axis=0))  # scikit-learn 1.9 fails on a column of NaN alone
    with limited(limits=1):  # on a machine that also builds and times, more threads would only wait
        model.fit(rows[:, known], numpy.array(labels))
    found = _copied(model, known.tolist())
    _compare(found, model, rows, known)
    return found


def _sklearn() -> tuple[Any, Any, Any]:
    try:
        import numpy
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise InputError(
            f"training trees needs scikit-learn ({error}); install it: pip install 'maxcode[value]'"
        ) from error
    return HistGradientBoostingClassifier, numpy, threadpool_limits


def _copied(model: Any, known: Sequence[int]) -> Trees:
    rounds = tuple(tuple(_tree(one.nodes, known) for one in trees) for trees in model._predictors)
    start = tuple(float(one) for one in model._baseline_prediction.ravel())
    return Trees(VERSION, tuple(int(one) for one in model.classes_), start, rounds)


def _tree(nodes: Any, known: Sequence[int]) -> Tree:
    """A tree over the columns ``known``.  scikit-learn keeps its nodes as one array of records.  An infinite threshold
    separates missing values from all others, and JSON has no infinity."""
    inner = [not leaf for leaf in nodes["is_leaf"]]
    left, right = nodes["left"].tolist(), nodes["right"].tolist()
    missing = [a if goes else b for a, b, goes in zip(left, right, nodes["missing_go_to_left"], strict=True)]
    bounds = [min(float(one), sys.float_info.max) for one in nodes["num_threshold"]]
    return Tree(
        tuple(known[at] if is_inner else -1 for at, is_inner in zip(nodes["feature_idx"], inner, strict=True)),
        tuple(bound if is_inner else 0.0 for bound, is_inner in zip(bounds, inner, strict=True)),
        tuple(missing),
        tuple(left),
        tuple(right),
        tuple(float(one) for one in nodes["value"]),
    )


def _compare(found: Trees, model: Any, rows: Any, known: Any) -> None:
    some = rows[:: max(1, len(rows) // 200)]
    for row, told in zip(some, model.predict_proba(some[:, known]), strict=True):
        own = found.probabilities(row.tolist())
        if any(not math.isclose(a, b, abs_tol=_CLOSE) for a, b in zip(own, told, strict=True)):
            raise MachineError(
                "the trees of scikit-learn could not be copied (its own predictions differ from those of the copy): "
                "this version of scikit-learn stores them in another form; install another one (1.9 works)"
            )
