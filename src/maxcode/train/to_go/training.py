"""``maxcode train to-go``: from recorded runs to a value model, its data set and its cards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.errors import InputError
from maxcode.train.to_go.dataset import Dataset, about, assembled, split, write_data
from maxcode.train.to_go.evaluation import Plan, asked, evaluate, summary, told_of
from maxcode.train.to_go.figures import figures
from maxcode.train.to_go.fitting import BASELINES, Fit, check_model, fit
from maxcode.train.to_go.pairs import Pair, Target, read_pairs, run_folders
from maxcode.value import QUANTILE, RELATIVE, SMALL, Predictor, Saved, described, preset, save
from maxcode.value.folder import FORMAT

METRICS = "metrics.json"
SMALL_CONTEXT, CONTEXT = 384, 2048  # tokens of a prompt at most


@final
@dataclass(frozen=True, slots=True)
class Training:
    """What the user asked for.  ``prefixes``: the largest depth of a state (None = any; the paper's is 2);
    ``held_out``: problems to keep for the figures (empty: ``share`` of them, drawn with ``seed``); ``seeds``: how many
    of an evaluation by folds, 0 for none."""

    runs: tuple[Path, ...]
    out: Path
    model: str = "blend"
    target: Target = "max"
    edges: str = QUANTILE
    gamma: float = 1.0
    prefixes: int | None = None
    held_out: tuple[str, ...] = ()
    share: float = 0.2
    seed: int = 0
    base: str = SMALL
    seeds: int = 0


@final
@dataclass(frozen=True, slots=True)
class Trained:
    """What came of it: the card, the figures of the model and the baselines on the held-out problems, and the summary
    of the evaluation by folds where it was asked for."""

    folder: str
    card: dict[str, Any]
    held_out: dict[str, dict[str, Any]]
    folds: dict[str, dict[str, Any]] = field(default_factory=dict)

    def as_json(self) -> str:
        """One JSON object."""
        return msgspec.json.encode(self).decode()


def train_to_go(wanted: Training, say: Callable[[str], None] = lambda words: None) -> Trained:
    """Train a value model and write it to ``wanted.out``; InputError before anything is written where the input is
    bad."""
    _check(wanted)
    pairs = [pair for pair in read_pairs(run_folders(wanted.runs), wanted.target, wanted.gamma) if _kept(pair, wanted)]
    held_out = frozenset(wanted.held_out) or split(pairs, wanted.share, wanted.seed)
    data = assembled(pairs, held_out, wanted.edges)
    told = about(data)
    say(f"class balance: {_shares(told)}")
    write_data(wanted.out, data)
    context = SMALL_CONTEXT if wanted.base == SMALL else CONTEXT
    how = Fit(wanted.out, wanted.seed, wanted.base, say, context=context)
    model, predictor = fit(wanted.model, data, how)
    beside = _held_out(wanted.model, predictor, data, how)
    card = {"model": _of_model(wanted), **told, "metrics on held-out problems": _metrics(beside)}
    edges = {suite: one.bounds for suite, one in data.edges.items()}
    saved = Saved(format=FORMAT, model=model, target=wanted.target, gamma=wanted.gamma, edges=edges, card=card)
    save(wanted.out, saved, described(card))
    folds = _folds(pairs, wanted, how) if wanted.seeds else {}
    found = Trained(str(wanted.out), card, beside, folds)
    (wanted.out / METRICS).write_text(found.as_json() + "\n")
    return found


def _check(wanted: Training) -> None:
    check_model(wanted.model)
    if wanted.edges not in (QUANTILE, RELATIVE):
        preset(wanted.edges)
    if not 0 < wanted.gamma <= 1:
        raise InputError(f"--gamma is {wanted.gamma}; give a number above 0 and at most 1 (the paper's is 1)")
    if not 0 < wanted.share < 1:
        raise InputError(f"--share is {wanted.share}; give a share between 0 and 1 (the paper's is 0.2)")
    if wanted.prefixes is not None and wanted.prefixes < 1:
        raise InputError(f"--prefixes is {wanted.prefixes}; give at least 1 (the paper's is 2)")


def _kept(pair: Pair, wanted: Training) -> bool:
    return wanted.prefixes is None or pair.situation.depth <= wanted.prefixes


def _shares(told: dict[str, Any]) -> str:
    shares = told["labels"]["share of each class, training"]
    return ", ".join(f"{at}: {share:.0%}" for at, share in shares.items())


def _held_out(name: str, predictor: Predictor, data: Dataset, how: Fit) -> dict[str, dict[str, Any]]:
    """The figures of the model and of the baselines, on the same held-out problems."""
    found = {name: told_of(predictor, data, data.held_out)}
    found |= {other: asked(other, data, data.held_out, how) for other in BASELINES if other != name}
    return summary({one: {how.seed: figures(told)} for one, told in found.items()})


def _metrics(beside: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    return {
        name: {key: round(value[0], 3) for key, value in row.items() if _is_spread(value)}
        for name, row in beside.items()
    }


def _is_spread(value: object) -> bool:
    return isinstance(value, tuple)


def _of_model(wanted: Training) -> dict[str, Any]:
    return {
        "kind": wanted.model,
        "made by": f"maxcode {version('maxcode')}, seed {wanted.seed}",
        **({"base": wanted.base} if wanted.model == "generative" else {}),
        "foresees": f"the class of the {wanted.target} speed-up still to be had, gamma {wanted.gamma:g}",
        "prefixes": "all" if wanted.prefixes is None else f"of depth at most {wanted.prefixes}",
        "readings": "after execution and critique, and before execution; both are trained on",
    }


def _folds(pairs: list[Pair], wanted: Training, how: Fit) -> dict[str, dict[str, Any]]:
    models = (wanted.model, *(name for name in BASELINES if name != wanted.model))
    return summary(evaluate(pairs, Plan(models, tuple(range(wanted.seeds)), wanted.edges, how=how)))
