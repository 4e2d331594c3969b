"""The texts of a repository's revision that are not to be changed, for a model that asks to see one."""

from __future__ import annotations

from pathlib import Path

from maxcode.code.languages import HEADERS, LANGUAGES
from maxcode.core.types import RepoSpec
from maxcode.errors import InputError
from maxcode.evaluate.repo.git import contents, tracked

_SUFFIXES = (*(suffix for row in LANGUAGES.values() for suffix in row.suffixes), *HEADERS)


def base_text(repo: RepoSpec, path: str) -> str | None:
    """The text of a tracked source file or header of base, by its suffix; None if there is none, or it is a link."""
    if not path.endswith(_SUFFIXES):
        return None
    try:
        found = tracked(Path(repo.folder), repo.commit).get(path)
        return (
            contents(Path(repo.folder), [found.blob])[0].decode(errors="replace") if found and found.is_file else None
        )
    except InputError:  # the repository is not there any more, or lacks the object
        return None
