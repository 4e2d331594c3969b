"""The cells of a comparison: each is a file, so the same command goes on where it was stopped."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maxcode.core.files import write_whole
from maxcode.train.config import TrainConfig, read_config
from maxcode.train.evaluators import TrainTarget
from maxcode.train.pipeline import Note

Row = dict[str, Any]
Say = Callable[[Note], None]
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


def kept(setting: Setting, name: str, make: Callable[[], Row]) -> Row:
    """The row in a cell's file, which is made if it is missing."""
    path = setting.out / "cells" / f"{slug(name)}.json"
    if not path.exists():
        print(name, file=sys.stderr, flush=True)
        started = time.monotonic()
        row = make()
        write_whole(path, json.dumps({**row, "seconds": round(time.monotonic() - started, 1)}, indent=1).encode())
    found: Row = json.loads(path.read_text())
    return found


def slug(name: str) -> str:
    """A name as a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def interval(found: Mapping[str, float] | Sequence[float]) -> str:
    """A figure with its interval; a sequence has the low end, the value and the high end."""
    low, value, high = found if isinstance(found, Sequence) else (found["low"], found["value"], found["high"])
    return f"{value:6.2f} [{low:5.2f}, {high:5.2f}]"
