"""Binds folders of the host that the sandbox user has no permission to enter.

Root's virtual environment is often below a folder that only root may enter.  The shim, while it is still root, binds
such a folder to a folder of the cache, in a separate mount namespace; no other process sees it there.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

Binds = Sequence[tuple[Path, str]]


def is_enterable(folder: Path) -> bool:
    """Whether every user has permission to enter the folder and its parents."""
    real = folder.resolve()
    return all(path.stat().st_mode & stat.S_IXOTH for path in (real, *real.parents))


def reached(binds: Binds, cache: Path, uid: int) -> tuple[Binds, tuple[str, ...]]:
    """The binds, with a folder of the cache in place of each folder that only root can enter, and the arguments of
    ``shim launch`` that bind those folders.  ``uid``: the user whom root becomes; 0: it stays itself."""
    replaced: list[tuple[Path, str]] = []
    words = []
    for folder, path in binds:
        if os.geteuid() == 0 and uid and folder.is_dir() and not is_enterable(folder):
            shown = cache / "shown" / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
            shown.mkdir(parents=True, exist_ok=True, mode=0o755)
            words.append(f"{folder.resolve()}:{shown}")
            folder = shown
        replaced.append((folder, path))
    return replaced, tuple(words)
