"""Programs on which nodes were lost.  The run folder keeps them, so a resumed run knows them.

Two losses in a row prove nothing: a node may go at any time.  So a quarantined program counts as neither wrong nor
slow.  It is not run again, and the user is informed.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.files import read_file
from maxcode.core.jsonl import LINES, append_line, open_lines
from maxcode.core.types import Evaluation, Feedback, Outcome, Program
from maxcode.errors import RecordError

FILE = "losses.jsonl"
LOSSES = 2


class Loss(msgspec.Struct, frozen=True):
    """One line of ``losses.jsonl``.

    ``node``: the node that was lost; empty: the program was measured since then, so its earlier losses do not count.
    ``digest``: the program that the node was working on.
    """

    node: str
    digest: str


@final
class Quarantine:
    """Counts losses by program.  ``folder`` None keeps them in memory only."""

    def __init__(self, folder: Path | None = None) -> None:
        self._lost: dict[str, list[str]] = defaultdict(list)
        self._path = folder / FILE if folder is not None else None
        if self._path is not None and self._path.exists():
            for loss in _read(self._path):
                self._take(loss)

    def record_loss(self, program: Program, node: str) -> None:
        """A node was lost while it worked on the program."""
        self._note(Loss(node, program.digest))

    def clear(self, program: Program) -> None:
        """A task with the program was completed, so the program did not cause the earlier losses."""
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
        """The evaluation of a quarantined program; None for any other program."""
        nodes = self._lost.get(program.digest, [])
        if len(nodes) < LOSSES:
            return None
        why = (
            f"quarantined: {len(nodes)} benchmark nodes were lost while they worked on it ({', '.join(nodes)}), so it "
            "is not run again; it counts as neither wrong nor slow"
        )
        return Evaluation(Outcome.QUARANTINED, Feedback((why,)), warnings=(why,))


def _read(path: Path) -> list[Loss]:
    try:
        return [msgspec.json.decode(line, type=Loss) for line in read_file(path, LINES).splitlines()]
    except msgspec.MsgspecError as error:
        raise RecordError(f"cannot read {path}: {error}; to forget which nodes were lost, move it away") from error
