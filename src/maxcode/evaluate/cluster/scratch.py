"""The folder of a node for the files of its problems.  It is removed with the node.

If the node was killed, the next node of the same user removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import final

PREFIX = "maxcode-node-"
_HELD = "held"  # the kernel keeps the lock as long as the node lives


@final
class Scratch:
    """A new folder in ``within`` (default: the machine's temporary folder), until ``close`` or the end of the process.

    Folders that killed nodes of this user left there are removed first.
    """

    def __init__(self, within: Path | None = None) -> None:
        within = within if within is not None else Path(tempfile.gettempdir())
        for left in within.glob(f"{PREFIX}*"):
            _remove_if_left(left)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=within))
        making = self.path / "making"
        self._lock = os.open(making, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        making.rename(self.path / _HELD)  # renamed with its lock: whoever sees the name can test the lock

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _remove_if_left(folder: Path) -> None:
    """Remove a folder of this user that no process holds.  A folder without its lock file yet is in use."""
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        lock = os.open(folder / _HELD, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(lock)
