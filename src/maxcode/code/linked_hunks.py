"""The hunks of a patch that belong together: those of one function, which are taken out together or not at all, and
those that name what it adds, such as a function and its calls.  Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from maxcode.code.hunks import Hunk

Code = Callable[[str, str], str]  # (path, text) -> the text without comments
Functions = Callable[[str, str], Sequence[tuple[int, int]]]  # (path, text) -> lines of each, half-open ranges from 0
Group = frozenset[Hunk]

_NAME = re.compile(r"[^\W\d]\w+")


def linked(before: Mapping[str, str], after: Mapping[str, str], hunks: Sequence[Hunk], code: Code) -> list[Group]:
    """The hunks that share a name which no file had before, by name, then all that are linked by such names; each group
    once, the smaller ones first, and none of a single hunk."""
    known = set().union(*(_names(text) for text in before.values()))
    added = {path: _names(code(path, text)) - known for path, text in after.items() if before.get(path) != text}
    naming: dict[str, set[Hunk]] = {}
    for hunk in hunks:
        own = "\n".join(after[hunk.path].split("\n")[slice(*hunk.after)])
        for name in _names(own) & added[hunk.path]:
            naming.setdefault(name, set()).add(hunk)
    by_name = {frozenset(group) for group in naming.values() if len(group) > 1}
    found = by_name | set(_joined(by_name))
    return sorted(found, key=lambda group: (len(group), sorted(map(hunks.index, group))))


def units(
    before: Mapping[str, str], after: Mapping[str, str], hunks: Sequence[Hunk], functions: Functions
) -> list[Group]:
    """The hunks that no step parts, in order: those of one function, old or new, and each other one.

    Half of what somebody changed in a function is a program that nobody wrote: a check that has gone, or old code that
    is never reached, can pass every test."""
    groups = [frozenset({hunk}) for hunk in hunks]
    for path in dict.fromkeys(hunk.path for hunk in hunks):
        own = [hunk for hunk in hunks if hunk.path == path]
        for lines in functions(path, before.get(path, "")):
            groups.append(frozenset(hunk for hunk in own if _touches(hunk.before, lines)))
        for lines in functions(path, after[path]):
            groups.append(frozenset(hunk for hunk in own if _touches(hunk.after, lines)))
    joined = _joined([group for group in groups if group])
    return sorted(joined, key=lambda group: min(map(hunks.index, group)))


def _touches(changed: tuple[int, int], lines: tuple[int, int]) -> bool:
    """Whether a change lies in these lines; one that is empty lies between two lines."""
    return changed[0] < lines[1] and lines[0] < changed[1]


def of_files(hunks: Sequence[Hunk]) -> list[Group]:
    """The hunks of each file that has several."""
    paths = dict.fromkeys(hunk.path for hunk in hunks)
    groups = [frozenset(hunk for hunk in hunks if hunk.path == path) for path in paths]
    return [group for group in groups if len(group) > 1]


def _names(text: str) -> set[str]:
    return set(_NAME.findall(text))


def _joined(groups: Collection[Group]) -> list[Group]:
    """The unions of groups that have a hunk in common, directly or through others."""
    found: list[Group] = []
    for group in groups:
        touching = [one for one in found if one & group]
        found = [one for one in found if not one & group] + [group.union(*touching)]
    return found
