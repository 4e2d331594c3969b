"""A value model on disk: ``value.json`` (the model and its card as data), ``CARD.md``, and the tensors of a network.

Everything is JSON or safetensors and is validated when it is read; nothing in the folder is ever executed.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from maxcode.core.files import RECORD_AT_MOST, FileKind, read_file, write_whole
from maxcode.errors import InputError
from maxcode.search.value.baselines import BusiestLoop, Constant, FastestSoFar, Random
from maxcode.search.value.blend import Blend
from maxcode.search.value.settings import Generative
from maxcode.search.value.trees import Trees

FILE = "value.json"
KIND = FileKind("the value model", "give the folder that `maxcode train to-go --out` wrote", RECORD_AT_MOST)
CARD = "CARD.md"
FORMAT = 1
Model = Trees | Blend | Generative | Constant | Random | FastestSoFar | BusiestLoop


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The content of ``value.json``.  ``edges``: the bounds of the classes by suite; ``card``: data, split and
    metrics."""

    format: int
    model: Model
    target: Literal["max", "mean"]
    gamma: float
    edges: dict[str, tuple[float, ...]]
    card: dict[str, Any] = {}


_decode = msgspec.json.Decoder(Saved)


def save(folder: Path, saved: Saved, card: str) -> None:
    """Write the card, then the model, atomically; its other files must be in the folder already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CARD).write_text(card)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}; choose another --out") from error
    write_whole(folder / FILE, msgspec.json.encode(saved) + b"\n")


def files_of(model: Model) -> tuple[str, ...]:
    """The files of a model besides ``value.json``."""
    return model.files if isinstance(model, Generative) else ()


def publish(made: Path, folder: Path, others: Sequence[str]) -> None:
    """Replace the model in ``folder`` by the one in ``made``, which has the files ``others``.

    All files are copied first, then the old ``value.json`` is removed, and the new one is written last.  So a folder
    with ``value.json`` is complete even if this is killed, and ``made`` still exists to repeat the call.
    """
    try:
        for name in (*others, FILE):
            shutil.copyfile(made / name, folder / f"{name}.new")
        (folder / FILE).unlink(missing_ok=True)
        for name in (*others, FILE):
            (folder / f"{name}.new").replace(folder / name)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}; choose another --out") from error


def read(folder: Path) -> Saved:
    """The model in a folder; InputError with a remedy if there is none, if it is damaged, or if it reads features of
    another version."""
    path = folder / FILE
    try:
        saved = _decode.decode(read_file(path, KIND))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InputError(f"{path} is not a value model of this version of maxcode ({error}); train it again") from error
    _check(path, saved)
    return saved


def _check(path: Path, saved: Saved) -> None:
    if saved.format != FORMAT:
        raise InputError(f"{path} has format {saved.format}, this maxcode reads {FORMAT}; train it again")
    if saved.model.reads != saved.model.needs():
        raise InputError(
            f"{path} was trained on feature version '{saved.model.reads}', this maxcode makes "
            f"'{saved.model.needs()}'; train it again from the same runs (`maxcode train to-go --from ...`)"
        )
    if not 0 < saved.gamma <= 1:
        raise InputError(f"{path} has gamma {saved.gamma}; it must be above 0 and at most 1; train it again")


def described(card: Mapping[str, Any]) -> str:
    """A card as Markdown: a heading for each part, a line for each fact."""
    lines: list[str] = []
    for title, facts in card.items():
        lines.append(f"\n## {title}\n")
        told = facts if isinstance(facts, Mapping) else {"": facts}
        lines += [f"- {key}: {_shown(value)}" if key else f"{_shown(value)}" for key, value in told.items()]
    return "# Value model\n" + "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(one)}" for key, one in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(one) for one in value) or "none"
    return str(value)
