"""Files of JSON lines that one process appends to: the record of a run, the journal of its model calls, measurements.

A file is locked while it is open.  A part of a line, left by a process that died, is dropped when the file is opened
again.  A line survives the death of this process, but perhaps not that of the machine: it is given to the operating
system without an fsync.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

import msgspec

from maxcode.core.files import RECORD_AT_MOST, FileKind, read_lines, write_whole
from maxcode.errors import InputError, MachineError, RecordError

LINES = FileKind("", "give a folder that this user may read", RECORD_AT_MOST, grows=True, error=RecordError)
_BLOCK = 1 << 16
_OLD_VERDICT = re.compile(rb'("verdict": ?)"(beaten|waits|busy|unseen)"')
# What JSON raises that somebody else may have written: it is none, not of the type, not UTF-8, or lists within lists.
DAMAGED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_OLD_WORDS = {b"beaten": b"dominated", b"waits": b"slower_by_wall", b"busy": b"noisy", b"unseen": b"not_in_cpu_time"}


def in_words_of_today(text: bytes) -> bytes:
    """The JSON of a file that version 0.1 may have written, with today's names of the race verdicts."""
    return _OLD_VERDICT.sub(lambda found: b'%s"%s"' % (found[1], _OLD_WORDS[found[2]]), text)


def open_lines(path: Path) -> BinaryIO:
    """Opens the file, creates it and its folder if needed, locks it until it is closed, and drops a torn last line.

    InputError if it cannot be written, RecordError if another process has it open.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Unbuffered: one line is one write, and this process buffers nothing.
        file = open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644), "r+b", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise InputError(
            f"cannot write to the output folder {path.parent}: {error.strerror}; choose another --out"
        ) from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise RecordError(f"{path} is no regular file; choose another --out")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise RecordError(
            f"{path.parent} is in use by another maxcode; wait for it, or choose another --out"
        ) from error
    file.truncate(_end_of_lines(file))
    return file


def append_line(file: BinaryIO, line: bytes, name: str) -> None:
    """Writes one line, given without its newline.  On MachineError (the disk is full) the file is unchanged.

    ``name``: the file in the message."""
    end = file.seek(0, os.SEEK_END)
    try:
        whole = file.write(line + b"\n") == len(line) + 1
    except OSError as error:
        file.truncate(end)
        raise MachineError(f"cannot write to {name}: {error.strerror}; make room, then run again") from error
    if not whole:
        file.truncate(end)
        raise MachineError(f"cannot write to {name}: the disk is full; make room, then run again")


def _end_of_lines(file: BinaryIO) -> int:
    """The offset in bytes of the end of the last whole line."""
    at = file.seek(0, os.SEEK_END)
    while at > 0:
        start = max(0, at - _BLOCK)
        file.seek(start)
        if (newline := file.read(at - start).rfind(b"\n")) >= 0:
            return start + newline + 1
        at = start
    return 0


L = TypeVar("L", bound=msgspec.Struct)


class Lines(Generic[L]):
    """The lines of one kind in a file, or in memory if ``path`` is None."""

    def __init__(self, path: Path | None, kind: type[L]) -> None:
        self._path = path
        self._kept: list[L] = []
        self._decode = msgspec.json.Decoder(kind).decode

    def append(self, line: L) -> None:
        """Writes one line to the operating system before it returns."""
        if self._path is None:
            self._kept.append(line)
            return
        with open_lines(self._path) as file:
            append_line(file, msgspec.json.encode(line), self._path.name)

    def read(self) -> Iterator[L]:
        """The lines in order; RecordError with the line number if one is damaged."""
        if self._path is None:
            yield from self._kept
            return
        if not self._path.exists():
            return
        for number, line in enumerate(read_lines(self._path, LINES), start=1):
            try:
                yield self._decode(in_words_of_today(line))
            except DAMAGED as error:
                raise RecordError(f"{self._path}, line {number} is damaged ({error}); choose another --out") from error

    def keep(self, wanted: Callable[[L], bool]) -> None:
        """Keeps only the wanted lines, for example when a run goes back to an earlier step."""
        left = [line for line in self.read() if wanted(line)]
        if self._path is None:
            self._kept = left
            return
        write_whole(self._path, b"".join(msgspec.json.encode(line) + b"\n" for line in left))
