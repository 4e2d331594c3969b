"""Ways to harm a file in a store that only its own user may write, or the store itself."""

from __future__ import annotations

import os
from pathlib import Path


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def altered(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def linked(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def opened(path: Path) -> None:
    path.parent.chmod(0o770)


HARMS = (cut, altered, linked, opened)
