"""Programs that nodes were lost with, kept in the run folder so that a resumed run knows them too.

Two losses in a row are no proof: a node may go at any time.  So a quarantined program is neither wrong nor slow;
nothing is known of it, it is not run again, and the user is told.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.jsonl import append_line, open_lines
from maxcode.core.types import Evaluation, Feedback, Outcome, Program
from maxcode.errors import RecordError

FILE = "losses.jsonl"
LOSSES = 2


class Loss(msgspec.Struct, frozen=True):
    """A node that was lost while it worked on a program (``digest``); no node: the program came through since."""

    node: str
    digest: str


@final
class Quarantine:
    """Counts losses by program; ``folder`` None keeps them in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._lost: dict[str, list[str]] = defaultdict(list)
        self._path = folder / FILE if folder is not None else None
        if self._path is not None and self._path.exists():
            for loss in _read(self._path):
                self._take(loss)

    def blame(self, program: Program, node: str) -> None:
        """A node was lost with the program on it."""
        self._note(Loss(node, program.digest))

    def absolve(self, program: Program) -> None:
        """An order with the program was carried out: earlier losses were not its doing."""
        if self._lost.get(program.digest):
            self._note(Loss("", program.digest))

    def _note(self, loss: Loss) -> None:
        if self._path is not None:
            with open_lines(self._path) as file:
                append_line(file, msgspec.json.encode(loss), FILE)
        self._take(loss)

    def _take(self, loss: Loss) -> None:
        if loss.node:
            self._lost[loss.digest].append(loss.node)
        else:
            self._lost.pop(loss.digest, None)

    def verdict(self, program: Program) -> Evaluation | None:
        """The evaluation of a quarantined program; None for any other."""
        nodes = self._lost.get(program.digest, [])
        if len(nodes) < LOSSES:
            return None
        why = (
            f"quarantined: {len(nodes)} benchmark nodes were lost while it was on them ({', '.join(nodes)}), so it is "
            "not run again; nothing is known of it"
        )
        return Evaluation(Outcome.QUARANTINED, Feedback((why,)), warnings=(why,))


def _read(path: Path) -> list[Loss]:
    try:
        return [msgspec.json.decode(line, type=Loss) for line in path.read_bytes().splitlines()]
    except msgspec.MsgspecError as error:
        raise RecordError(f"cannot read {path}: {error}; move it away to forget which nodes were lost") from error
