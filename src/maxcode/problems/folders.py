"""The suite ``folder``: ``folder:PATH`` is every problem below a folder.

A problem is a folder with ``problem.toml`` (its subfolders are not searched), or a PyTorch file in the KernelBench
contract.  Hidden folders are skipped.  The order is by name; numbers in names are compared as numbers.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import final

from maxcode.core.files import read_file, read_toml
from maxcode.errors import InputError
from maxcode.problems.cases import natural
from maxcode.problems.description import DESCRIPTION
from maxcode.problems.kernelbench import is_contract
from maxcode.problems.suite import Given, LeftOut, Listing, Source


@final
class Folder:
    def listing(self, words: str) -> Listing:
        """Every problem below the folder.  Ids are unique: if problems would share one, because their folders have the
        same name, they are named after their paths.  InputError if two files claim one id."""
        top = Path(words)
        if not words or not top.is_dir():
            raise InputError(f"there is no folder '{words}'; write folder:PATH with a folder that contains problems")
        read = [_read(path) for path in sorted(_found(top), key=lambda path: natural(path.as_posix()))]
        known = [one for one in read if not isinstance(one, LeftOut)]
        if not read:
            raise InputError(
                f"there are no problems below {top}; a problem is a folder with {DESCRIPTION} or a PyTorch file in the "
                "KernelBench contract"
            )
        often = Counter(said or usual for _, said, usual in known)
        sources = tuple(_source(top, path, said, often[said or usual] > 1) for path, said, usual in known)
        _refuse_shared(known)
        return Listing(sources, tuple(one for one in read if isinstance(one, LeftOut)))

    def given(self, words: str) -> Given:
        raise InputError(f"folder:{words} stands for several problems; give one of them, by its path")


def _found(top: Path) -> Iterator[Path]:
    """Problem folders and PyTorch files, in no particular order."""
    for here, folders, files in os.walk(top):
        if DESCRIPTION in files:
            folders.clear()
            yield Path(here)
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(here, name) for name in files if name.endswith(".py"))
        yield from (path for path in paths if path.is_file() and is_contract(read_file(path).decode(errors="replace")))


def _read(path: Path) -> tuple[Path, str, str] | LeftOut:
    """A problem with the id that it declares, and its id without one."""
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
