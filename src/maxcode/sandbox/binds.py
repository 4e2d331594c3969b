"""Folders of the host that the sandbox's own user cannot walk to, shown to it all the same.

Root's virtual environment often lies below a folder that nobody else may enter.  The shim, while it is still root,
binds such a folder to one of the cache, in a mount namespace of its own; nobody else sees it there.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

Binds = Sequence[tuple[Path, str]]


def is_enterable(folder: Path) -> bool:
    """Whether every user may walk there."""
    real = folder.resolve()
    return all(path.stat().st_mode & stat.S_IXOTH for path in (real, *real.parents))


def reached(binds: Binds, cache: Path) -> tuple[Binds, tuple[str, ...]]:
    """The binds, with a folder of the cache in the place of what only root can enter, and the words for
    ``shim launch`` that fill those folders."""
    found: list[tuple[Path, str]] = []
    words = []
    for folder, path in binds:
        if os.geteuid() == 0 and folder.is_dir() and not is_enterable(folder):
            shown = cache / "shown" / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
            shown.mkdir(parents=True, exist_ok=True, mode=0o755)
            words.append(f"{folder.resolve()}:{shown}")
            folder = shown
        found.append((folder, path))
    return found, tuple(words)
