"""The cells of a comparison: each is a file, so the same command goes on where it was stopped.

A file keeps what its row depends on.  A command that asks for something else does not read it, but ends with an error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from maxcode.core.files import write_whole
from maxcode.errors import InputError
from maxcode.problems import is_named
from maxcode.train.config import TrainConfig, read_config
from maxcode.train.evaluators import TrainTarget
from maxcode.train.pipeline import Note

Row = dict[str, Any]
Say = Callable[[Note], None]
ASKED = "asked"  # the key in a cell's file of what its row depends on
SHOWN = 5  # keys that differ
SHARED = ("corpus.jsonl", "corpus.json", "pretrained")  # of the base run, in every run that begins with them


@dataclass(frozen=True)
class Setting:
    """The settings of all cells."""

    path: Path
    out: Path
    bench: TrainTarget
    say: Say
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the configuration, in every cell

    @property
    def base(self) -> Path:
        """The run that made the corpus and the pre-trained policy."""
        return self.out / "base"

    @property
    def asked(self) -> dict[str, Any]:
        """The whole configuration, as a cell keeps it."""
        config = self.config({})
        table = json.loads(msgspec.json.encode(config, enc_hook=str))
        paths = [str(path if is_named(path) else path.resolve()) for path in config.paths]
        return dict(_flat({**table, "problems": paths, "folder": ""}))

    def config(self, changes: Mapping[str, Any]) -> TrainConfig:
        """The configuration of a cell."""
        return read_config(self.path, {**self.changes, **changes})

    def begun(self, name: str) -> Path:
        """The folder of a run that begins with the corpus and the pre-trained policy of the base run."""
        folder = self.out / "runs" / slug(name)
        folder.mkdir(parents=True, exist_ok=True)
        for part in SHARED:
            if not (folder / part).is_symlink():
                (folder / part).symlink_to((self.base / part).resolve())
        return folder


def kept(setting: Setting, name: str, make: Callable[[], Row], given: Mapping[str, Any] | None = None) -> Row:
    """The row in a cell's file, which is made if it is missing.

    ``given``: what the row depends on beside the configuration.  InputError if a file is there that was made with
    anything else.
    """
    path = setting.out / "cells" / f"{slug(name)}.json"
    asked = {**setting.asked, **json.loads(json.dumps(given or {}))}
    if not path.exists():
        print(name, file=sys.stderr, flush=True)
        started = time.monotonic()
        row = {ASKED: asked, **make(), "seconds": round(time.monotonic() - started, 1)}
        write_whole(path, json.dumps(row, indent=1).encode())
    found: Row = json.loads(path.read_text())
    known = found.pop(ASKED, {})
    if known != asked:
        differ = sorted(key for key in known.keys() | asked.keys() if known.get(key) != asked.get(key))[:SHOWN]
        raise InputError(
            f"{path} was made with another {', '.join(differ)}; give another --out, or delete the file to make it anew"
        )
    return found


def mark_of(texts: object) -> str:
    """A short word for something long that a row depends on."""
    return sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:16]


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The keys of a table with those of the tables around them: ``grpo.steps``."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def slug(name: str) -> str:
    """A name as a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def interval(found: Mapping[str, float] | Sequence[float]) -> str:
    """A figure with its interval; a sequence has the low end, the value and the high end."""
    low, value, high = found if isinstance(found, Sequence) else (found["low"], found["value"], found["high"])
    return f"{value:6.2f} [{low:5.2f}, {high:5.2f}]"
