"""The suite ``folder``: ``folder:PATH`` is every problem below a folder.

A problem is a folder with ``problem.toml``, of which nothing below is looked at, or a bare file in the contract of
KernelBench.  Hidden folders are left alone.  In the order of names, numbers counted as numbers.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.files import read_toml
from maxcode.errors import InputError
from maxcode.problems.cases import natural
from maxcode.problems.description import DESCRIPTION
from maxcode.problems.kernelbench import is_contract
from maxcode.problems.suite import Given, LeftOut, Listing, Source


@final
@dataclass(frozen=True, slots=True)
class Folder:
    """The suite."""

    def listing(self, words: str) -> Listing:
        """Every problem below the folder.  Ids are unique: problems that would share one, because their folders have
        the same name, are called after their paths; InputError where two files claim one id."""
        top = Path(words)
        if not words or not top.is_dir():
            raise InputError(f"there is no folder '{words}'; write folder:PATH, a folder with problems below it")
        read = [_read(path) for path in sorted(_found(top), key=lambda path: natural(path.as_posix()))]
        known = [one for one in read if not isinstance(one, LeftOut)]
        if not read:
            raise InputError(
                f"there are no problems below {top}; they are folders with {DESCRIPTION}, or PyTorch files in the "
                "KernelBench contract"
            )
        often = Counter(said or usual for _, said, usual in known)
        sources = tuple(_source(top, path, said, often[said or usual] > 1) for path, said, usual in known)
        _refuse_shared(known)
        return Listing(sources, tuple(one for one in read if isinstance(one, LeftOut)))

    def given(self, words: str) -> Given:
        raise InputError(f"folder:{words} stands for several problems; give one of them, by its path")


def _found(top: Path) -> Iterator[Path]:
    """Problem folders and bare files, in no order."""
    for here, folders, files in os.walk(top):
        if DESCRIPTION in files:
            folders.clear()
            yield Path(here)
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(here, name) for name in files if name.endswith(".py"))
        yield from (path for path in paths if is_contract(path.read_text(errors="replace")))


def _read(path: Path) -> tuple[Path, str, str] | LeftOut:
    """A problem with the id that it gives itself, and the one that it has without."""
    if path.suffix == ".py" and path.is_file():
        return path, "", path.stem
    try:
        said = read_toml(path / DESCRIPTION).get("id", "")
    except InputError as error:
        return LeftOut(str(path), "", str(error))
    return path, said if isinstance(said, str) else "", path.resolve().name


def _source(top: Path, path: Path, said: str, shared: bool) -> Source:
    if said or not shared:
        return Source(path)
    return Source(path, {"id": "-".join(path.relative_to(top).with_suffix("").parts)})


def _refuse_shared(known: list[tuple[Path, str, str]]) -> None:
    claimed: dict[str, Path] = {}
    for path, said, _ in known:
        if said and claimed.setdefault(said, path) != path:
            raise InputError(
                f"{claimed[said]} and {path} have the same id '{said}'; give one of them another in its {DESCRIPTION}"
            )
