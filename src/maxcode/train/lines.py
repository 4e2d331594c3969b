"""Files of lines that outlive a kill: one JSON object a line, flushed as it is written, a torn last line dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from maxcode.core.jsonl import append_line, open_lines
from maxcode.errors import RecordError

L = TypeVar("L", bound=msgspec.Struct)


class Lines(Generic[L]):
    """The lines of one kind in a file; without a file (``path`` None) they are kept in memory."""

    def __init__(self, path: Path | None, kind: type[L]) -> None:
        self._path = path
        self._kept: list[L] = []
        self._decode = msgspec.json.Decoder(kind).decode

    def append(self, line: L) -> None:
        """Write one line and hand it to the operating system before returning."""
        if self._path is None:
            self._kept.append(line)
            return
        with open_lines(self._path) as file:
            append_line(file, msgspec.json.encode(line), self._path.name)

    def read(self) -> Iterator[L]:
        """The lines in order; RecordError, with its number, for one that is damaged."""
        if self._path is None:
            yield from self._kept
            return
        if not self._path.exists():
            return
        for number, line in enumerate(self._path.read_bytes().split(b"\n")[:-1], start=1):
            try:
                yield self._decode(line)
            except msgspec.MsgspecError as error:
                raise RecordError(f"{self._path}, line {number} is damaged ({error}); choose another --out") from error

    def keep(self, wanted: Callable[[L], bool]) -> None:
        """Leave only the wanted lines, as when a run goes back to an earlier step."""
        left = [line for line in self.read() if wanted(line)]
        if self._path is None:
            self._kept = left
            return
        scratch = self._path.with_suffix(".new")
        scratch.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in left))
        scratch.replace(self._path)
