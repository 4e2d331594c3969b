"""Which of some files are opened while a block runs, by any process, in the sandbox or not (inotify).

An opened file is not an executed line: that a change ran is shown only as far as its file was used.  A program that
keeps files open in a server, or that reads them before the block, opens nothing.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import final

MOST_FILES = 20_000
_IN_OPEN, _NONBLOCK, _CLOEXEC = 0x20, 0o4000, 0o2000000
_EVENT = struct.Struct("iIII")


@final
class Opened:
    """The files that are watched.  ``why_not``: why they are not, else empty."""

    def __init__(self, why_not: str = "") -> None:
        self.why_not = why_not
        self.paths: set[str] = set()
        self._fd = -1
        self._watched: dict[int, str] = {}

    def watch(self, fd: int, folder: Path, names: Sequence[str]) -> None:
        """Watches the files of a folder that exist; a link is watched by what it points to."""
        self._fd = fd
        for name in names:
            at = _LIBC.inotify_add_watch(fd, os.fsencode(folder / name), _IN_OPEN)
            if at >= 0:
                self._watched[at] = name
            elif (number := ctypes.get_errno()) not in (2, 20, 40):  # it does not exist here, or is a circle of links
                self.why_not = f"files cannot be watched: {os.strerror(number)}"

    def collect(self) -> None:
        """Reads what happened so far."""
        while True:
            try:
                data = os.read(self._fd, 1 << 16)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                watch, _, _, size = _EVENT.unpack_from(data, at)
                at += _EVENT.size + size
                if watch in self._watched:
                    self.paths.add(self._watched[watch])


_LIBC = ctypes.CDLL(None, use_errno=True)


@contextmanager
def opened(folder: Path, names: Sequence[str]) -> Iterator[Opened]:
    """The files among ``names`` (relative to the folder) that are opened in the block."""
    if len(names) > MOST_FILES:
        yield Opened(f"{len(names)} files differ, and at most {MOST_FILES} are watched")
        return
    fd = _LIBC.inotify_init1(_NONBLOCK | _CLOEXEC)
    if fd < 0:
        yield Opened(f"the kernel offers no inotify: {os.strerror(ctypes.get_errno())}")
        return
    found = Opened()
    try:
        found.watch(fd, folder, names)
        yield found
        found.collect()
    finally:
        os.close(fd)
