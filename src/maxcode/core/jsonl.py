"""A file of lines that one process appends to: the record of a run, and the journal of its model calls.

It is locked while it is open.  A line is there whole or not at all: what a process that died left of one is dropped
when the file is opened again.  A line survives the death of this process, not that of the machine: it is handed to the
operating system, and not waited for.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import BinaryIO

from maxcode.errors import InputError, MachineError, RecordError

_BLOCK = 1 << 16


def open_lines(path: Path) -> BinaryIO:
    """The file, made where it is not there, with its folder; locked until it is closed, without a torn last line.

    InputError where it cannot be written, RecordError where another process has it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Unbuffered: one line is one write, and nothing is left behind in this process.
        file = open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), "r+b", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise InputError(
            f"cannot write to the output folder {path.parent}: {error.strerror}; choose another --out"
        ) from error
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
    """Hand one line, without its end, to the operating system; MachineError where ``name`` cannot hold it, which is
    then as it was."""
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
    """Where the last whole line ends."""
    at = file.seek(0, os.SEEK_END)
    while at > 0:
        start = max(0, at - _BLOCK)
        file.seek(start)
        if (found := file.read(at - start).rfind(b"\n")) >= 0:
            return start + found + 1
        at = start
    return 0
