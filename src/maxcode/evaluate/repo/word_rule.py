"""A rule of words: what the tables of ``word_rules`` and ``words_of_others`` are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from maxcode.evaluate.repo.gaps import with_gaps


@final
@dataclass(frozen=True)
class Rule:
    """A way to deceive.  ``words``: patterns of code, also around comments; ``calls``: of lines of ``python_names``.

    A function that ``pattern`` calls ``own`` counts only where the file does not define it; one that it calls
    ``static`` only where the file, in C, does not define it for itself alone."""

    what: str
    words: tuple[str, ...]
    calls: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any of the words; made when a patch is judged, because all rules together take half of a second."""
        return _any_of([with_gaps(word) for word in self.words])

    @cached_property
    def names(self) -> re.Pattern[str]:
        """Any of the calls."""
        return _any_of(self.calls)


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(words) or r"(?!)", re.MULTILINE)


def rule(what: str, *words: str, names: Sequence[str] = ()) -> Rule:
    """A rule of ``words`` and, as ``calls``, of ``names``."""
    return Rule(what, words, tuple(names))
