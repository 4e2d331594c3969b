"""What a command may read and run that somebody else began, or that goes on with somebody else's files.

``maxcode mcp`` begins the commands of its clients with two variables: the folders that they may read from, and that no
set-up of a repository is run.  ``maxcode tell``, ``verify`` and ``compare`` say the latter for what a run folder names.
Without these nothing is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from maxcode.errors import InputError

FOLDERS, NO_SETUP = "MAXCODE_ONLY_FROM", "MAXCODE_NO_SETUP"
_folders: ContextVar[tuple[Path, ...]] = ContextVar("folders", default=())
_no_setup: ContextVar[bool] = ContextVar("no_setup", default=False)


def as_variables(folders: Sequence[Path], runs_setup: bool) -> dict[str, str]:
    """The environment of a command that may read from these folders alone."""
    named = json.dumps([str(one.resolve()) for one in folders])
    return {FOLDERS: named} if runs_setup else {FOLDERS: named, NO_SETUP: "1"}


@contextmanager
def only_from(folders: Sequence[Path]) -> Iterator[None]:
    """The same for the block: it may read from these folders alone."""
    before = _folders.set(tuple(one.resolve() for one in folders))
    try:
        yield
    finally:
        _folders.reset(before)


@contextmanager
def without_setup(is_so: bool = True) -> Iterator[None]:
    """No set-up is run in the block but those that this user has run before."""
    before = _no_setup.set(_no_setup.get() or is_so)
    try:
        yield
    finally:
        _no_setup.reset(before)


def is_confined() -> bool:
    """Whether only some folders may be read from."""
    return bool(_allowed())


def _allowed() -> tuple[Path, ...]:
    said = os.environ.get(FOLDERS)
    return _folders.get() or (tuple(map(Path, json.loads(said))) if said else ())


def is_outside(path: Path) -> bool:
    """Whether a file or a folder lies outside the folders that may be read from, wherever links lead."""
    allowed = _allowed()
    place = Path(os.path.realpath(path))
    return bool(allowed) and not any(place.is_relative_to(one) for one in allowed)


def refuse_outside(path: Path, what: str) -> None:
    """InputError if a file or a folder lies outside; ``what`` names it."""
    if is_outside(path):
        raise InputError(
            f"{what} {path} is outside the folder of this server; give one below it, or let the user name its folder "
            "with `maxcode mcp --show`"
        )


def runs_setup() -> bool:
    """Whether a set-up may be run that this user has not run before."""
    return not (_no_setup.get() or os.environ.get(NO_SETUP))
