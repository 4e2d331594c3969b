"""``maxcode train to-go``: makes a value model, its data set and its cards from recorded runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.errors import InputError
from maxcode.search.value import (
    OF_PAPER,
    QUANTILE,
    RELATIVE,
    SMALL,
    Generative,
    Model,
    Predictor,
    Saved,
    described,
    preset,
    save,
)
from maxcode.search.value.generative import needs_extra
from maxcode.search.value.model_folder import CARD, FILE, FORMAT, files_of, publish
from maxcode.train.to_go.dataset import DATA, DATA_CARD, Dataset, about, assembled, split, write_data
from maxcode.train.to_go.evaluation import FOLDS, Plan, asked, evaluate, folded, summary, table, told_of
from maxcode.train.to_go.fit import CONTEXT, SMALL_CONTEXT, Fit
from maxcode.train.to_go.fitting import BASELINES, check_model, fit
from maxcode.train.to_go.model_figures import figures
from maxcode.train.to_go.pairs import Pair, Target, read_pairs, run_folders

METRICS = "metrics.json"
_BESIDE = (DATA, DATA_CARD, CARD, METRICS)  # files of every model next to value.json


@final
@dataclass(frozen=True, slots=True)
class Training:
    """The user's request.

    ``prefixes``  the largest depth of a state; None: any; the paper's is 2
    ``held_out``  problems to keep for the figures; empty: ``share`` of them, chosen with ``seed``
    ``seeds``     number of seeds of an evaluation by folds; 0: none
    ``context``   tokens of a generative model's prompt at most; None: what its base usually gets
    """

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
    context: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Trained:
    """The result: the card, the figures of the model and the baselines on the held-out problems, and the summary of the
    evaluation by folds if requested."""

    folder: str
    card: dict[str, Any]
    held_out: dict[str, dict[str, Any]]
    folds: dict[str, dict[str, Any]] = field(default_factory=dict)

    def as_json(self) -> str:
        """One JSON object."""
        return msgspec.json.encode(self).decode()


def _nothing(words: str) -> None: ...


def train_to_go(
    wanted: Training, say: Callable[[str], None] = _nothing, note: Callable[[str], None] = _nothing
) -> Trained:
    """Trains a value model and writes it to ``wanted.out``; an older model stays there until this one is finished.

    Raises InputError for bad input, before anything is written.  ``say`` is called with the progress, ``note`` with
    results that are ready before the end."""
    _check(wanted)
    pairs = [pair for pair in read_pairs(run_folders(wanted.runs), wanted.target, wanted.gamma) if _kept(pair, wanted)]
    held_out = frozenset(wanted.held_out) or split(pairs, wanted.share, wanted.seed)
    data = assembled(pairs, held_out, wanted.edges)
    _check_folds(pairs, wanted)
    say(f"class balance: {_shares(about(data))}")
    context = wanted.context or (SMALL_CONTEXT if wanted.base == SMALL else CONTEXT)
    how = Fit(wanted.out / f"{wanted.model}.unfinished", wanted.seed, wanted.base, say, context=context)
    found = _trained(data, wanted, how)
    if not wanted.seeds:
        return found
    note(f"model {found.folder}, on held-out problems:\n{table(found.held_out)}")  # folds take many times as long
    kept = wanted.out / f"{wanted.model}.folds"
    found = replace(found, folds=_folds(pairs, wanted, replace(how, kept=kept)))
    _write(wanted.out, found)
    shutil.rmtree(kept, ignore_errors=True)
    return found


def _trained(data: Dataset, wanted: Training, how: Fit) -> Trained:
    """The model and its figures, made in ``how.folder`` and moved to ``wanted.out``."""
    model, predictor = fit(wanted.model, data, how)
    beside = _held_out(wanted.model, predictor, data, how)
    card = {"model": _of_model(wanted, model), **about(data), "metrics on held-out problems": _metrics(beside)}
    edges = {suite: one.bounds for suite, one in data.edges.items()}
    saved = Saved(format=FORMAT, model=model, target=wanted.target, gamma=wanted.gamma, edges=edges, card=card)
    found = Trained(str(wanted.out), card, beside)
    write_data(how.folder, data)
    save(how.folder, saved, described(card))
    _write(how.folder, found)
    publish(how.folder, wanted.out, (*files_of(model), *_BESIDE))
    shutil.rmtree(how.folder, ignore_errors=True)
    return found


def _write(folder: Path, found: Trained) -> None:
    try:
        (folder / METRICS).write_text(found.as_json() + "\n")
    except OSError as error:
        raise InputError(f"cannot write {folder / METRICS}: {error.strerror}; choose another --out") from error


def _check(wanted: Training) -> None:
    check_model(wanted.model)
    if wanted.model == "generative":
        needs_extra()
    if wanted.edges not in (QUANTILE, RELATIVE, OF_PAPER):
        preset(wanted.edges)
    _check_numbers(wanted)
    for name in (*_BESIDE, FILE):  # checked before the training, which may take hours
        if (wanted.out / name).is_dir():
            raise InputError(
                f"{wanted.out / name} is a folder, but maxcode writes a file of that name; choose another --out"
            )


def _check_numbers(wanted: Training) -> None:
    if not 0 < wanted.gamma <= 1:
        raise InputError(f"--gamma is {wanted.gamma}; give a number above 0 and at most 1 (the paper's is 1)")
    if not 0 < wanted.share < 1:
        raise InputError(f"--share is {wanted.share}; give a share between 0 and 1 (the paper's is 0.2)")
    if wanted.prefixes is not None and wanted.prefixes < 1:
        raise InputError(f"--prefixes is {wanted.prefixes}; give at least 1 (the paper's is 2)")
    if wanted.seeds < 0:
        raise InputError(f"--evaluate is {wanted.seeds}; give a number of seeds, or 0")


def _check_folds(pairs: list[Pair], wanted: Training) -> None:
    for seed in range(wanted.seeds):
        for held_out in folded(pairs, FOLDS, seed):
            try:
                assembled(pairs, held_out, wanted.edges)
            except InputError as error:
                told = ", ".join(sorted(held_out))
                raise InputError(f"--evaluate cannot hold out {told}: {error}; or leave --evaluate out") from error


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


def _of_model(wanted: Training, model: Model) -> dict[str, Any]:
    return {
        "kind": wanted.model,
        "made by": f"maxcode {version('maxcode')}, seed {wanted.seed}",
        **({"base": model.base} if isinstance(model, Generative) else {}),
        "foresees": f"the class of the {wanted.target} speed-up still to be had, gamma {wanted.gamma:g}",
        "prefixes": "all" if wanted.prefixes is None else f"of depth at most {wanted.prefixes}",
        "readings": "after execution and critique, and before execution; both are trained on",
    }


def _folds(pairs: list[Pair], wanted: Training, how: Fit) -> dict[str, dict[str, Any]]:
    models = (wanted.model, *(name for name in BASELINES if name != wanted.model))
    return summary(evaluate(pairs, Plan(models, tuple(range(wanted.seeds)), wanted.edges, how=how)))
