"""Which functions of a profile are the repository's own, and who pays for the others: the own function that calls them.

A patch of a function can spare the library code that it calls, such as a container or an allocation.  So the time of
code outside the repository counts for the nearest own caller; where no caller is known, the profile says how much that
is.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple, final

from maxcode.code.definitions import definitions, function_at, short_name
from maxcode.code.languages import HEADERS, LANGUAGES
from maxcode.core.printable import printable

_NAME_AT_MOST, _WHERE_AT_MOST = 120, 4000  # names of templates are long, and their ends differ
_COST_AT_MOST, _LINE_AT_MOST = 1e18, 10**8  # what a profiler can say: sums of it stay finite
_ROUNDS = 60  # calls from library to library that are followed
_UNKNOWN = ("", "??", "???")
_TOPS = ("main", "<module>", "(top level)")  # names of what a program begins with
NATIVE = {**{end: row.name for row in LANGUAGES.values() if row.native or row.name == "rust" for end in row.suffixes},
          **dict.fromkeys(HEADERS, "cpp")}  # fmt: skip
"""The language of machine code by the suffix of a file."""
_GO = re.compile(r"^func\s+(?:\(\s*(?:\w+\s+)?(?P<star>\*?)(?P<type>\w+)[^)\n]*\)\s*)?(?P<name>\w+)")
_GO_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_STATIC = re.compile(r"(?:inline\s+)?static\b(?![^{]*::)")
_FOREIGN = re.compile(r"(?:std|__gnu_cxx|__gnu_debug|core|alloc)::|_start$|__libc_")
_ADDED = re.compile(r"::h[0-9a-f]{16}$|\.(?:constprop|isra|part|cold|lto_priv)\b.*| \[clone .*|[(<].*", re.DOTALL)


class Function(NamedTuple):
    """A function: its file, relative to the repository ("" if it is not of it), and its name.

    ``where``: the path and the whole name of one outside the repository, to tell it from others.
    """

    file: str
    name: str
    where: str = ""


@final
@dataclass(frozen=True)
class Tree:
    """The files of a repository: its folder ``top``, the paths of its files, and the texts of those to edit."""

    top: str
    known: Collection[str]
    texts: Mapping[str, str] = field(default_factory=dict)

    def function(self, path: str, name: str, line: int = 0) -> Function:
        """The function of a place.  A line behind the end of its file is of code that was inlined from elsewhere."""
        inside = self._inside(path)
        is_own = inside in self.known and line <= self._lines.get(inside, line)
        return Function(inside, _told(name)) if is_own else _foreign(name, path)

    def compiled(self, path: str, name: str, line: int | None = None) -> Function:
        """The function of a place in a program, which without debug information (line 0) has a name only; None: its
        line was not told."""
        if path not in _UNKNOWN and line != 0:
            return self.function(path, name, line or 0)
        paths = () if _FOREIGN.match(name) else self._defined.get(short(name), ())
        return Function(*paths, _told(name)) if len(paths) == 1 else _foreign(name)

    def line_of(self, function: Function) -> int:
        """The line where a function begins; 0 if it is not known."""
        kind = NATIVE.get(PurePosixPath(function.file).suffix, "")
        found = definitions(kind, self.texts.get(function.file, "")) if kind else ()
        return next((one.first for one in found if not one.is_type and one.name == short(function.name)), 0)

    def may_call(self, callers: Sequence[tuple[Function, int]], called: tuple[Function, int]) -> bool:
        """Whether one of the functions at a place, inlined in each other, may call a function of C, C++ or Rust: False
        if their texts are known and none names it, or if they are of another file and it is static."""
        place = (tuple(one for one, _ in callers), called[0])
        if place not in self._calls:
            self._calls[place] = self._names(callers, called)
        return self._calls[place]

    def _names(self, callers: Sequence[tuple[Function, int]], called: tuple[Function, int]) -> bool:
        name = short_name(called[0].name)
        own = [(one, line) for one, line in callers if one.file]
        if not own or not called[0].file or not name.isidentifier():
            return True
        is_far = all(one.file != called[0].file for one, _ in own) and not called[0].file.endswith(HEADERS)
        if is_far and _STATIC.match(self._text_of(*called) or ""):
            return False
        texts = [self._text_of(*one) for one in own]
        return any(text is None or re.search(rf"\b{re.escape(name)}\b", text) for text in texts)

    @cached_property
    def _calls(self) -> dict[tuple[tuple[Function, ...], Function], bool]:
        """What ``may_call`` found."""
        return {}

    def _text_of(self, function: Function, line: int) -> str | None:
        kind, text = NATIVE.get(PurePosixPath(function.file).suffix, ""), self.texts.get(function.file)
        found = function_at(kind, text, function.name, line) if kind and text is not None else None
        return found.text if found is not None else None

    def around(self, path: str, line: int) -> str:
        """The function of C, C++, Rust or Go that a line of a file to edit is in; empty if it is not known."""
        firsts, functions = self._functions.get(self._inside(path), ((), ()))
        last, name = functions[bisect_right(firsts, line) - 1] if firsts and firsts[0] <= line else (0, "")
        return name if line <= last else ""

    def of_go(self, path: str, name: str) -> str:
        """The name of a function of Go, without types, behind the package that its file names: the last folder of the
        import path, which symbols have, may be another."""
        plain = _without_types(name).rpartition("/")[2]
        _, dot, rest = plain.partition(".")
        package = self._packages.get(self._inside(path), "")
        return f"{package}.{rest}" if package and dot else plain

    def _inside(self, path: str) -> str:
        """A path from the top of the repository, if it is below it.  Debug information has ``../`` in its paths."""
        return posixpath.normpath(path).removeprefix(f"{self.top}/")

    @cached_property
    def _packages(self) -> dict[str, str]:
        found = ((path, _GO_PACKAGE.search(text)) for path, text in self.texts.items() if path.endswith(".go"))
        return {path: package[1] for path, package in found if package}

    @cached_property
    def _functions(self) -> dict[str, tuple[list[int], list[tuple[int, str]]]]:
        """The first lines of the functions of each file, and their last lines with their names."""
        found = {}
        for path, text in self.texts.items():
            rows = sorted(_rows_of_go(text, self._packages[path]) if path in self._packages else _rows(path, text))
            found[path] = [first for first, _, _ in rows], [(last, name) for _, last, name in rows]
        return found

    @cached_property
    def _lines(self) -> dict[str, int]:
        return {path: text.count("\n") + 1 for path, text in self.texts.items()}

    @cached_property
    def _defined(self) -> dict[str, tuple[str, ...]]:
        """The files that define a function, by its name without classes and arguments."""
        found: dict[str, set[str]] = defaultdict(set)
        for path, text in self.texts.items():
            if kind := NATIVE.get(PurePosixPath(path).suffix, ""):
                for one in definitions(kind, text):
                    found[one.name] |= set() if one.is_type else {path}
        return {name: tuple(paths) for name, paths in found.items()}


def _rows(path: str, text: str) -> Iterator[tuple[int, int, str]]:
    """The first and last line, and the name, of each function of machine code."""
    if kind := NATIVE.get(PurePosixPath(path).suffix, ""):
        yield from ((one.first, one.last, one.name) for one in definitions(kind, text) if not one.is_type)


def _rows_of_go(text: str, package: str) -> Iterator[tuple[int, int, str]]:
    """The same of Go, with names as its tools write them; each reaches to the next."""
    found = [(number, one) for number, line in enumerate(text.splitlines(), 1) if (one := _GO.match(line))]
    for (number, one), end in zip(found, [*(first for first, _ in found[1:]), _LINE_AT_MOST], strict=True):
        kind = f"(*{one['type']})." if one["star"] else f"{one['type']}." if one["type"] else ""
        yield number, end - 1, f"{package}.{kind}{one['name']}"


def _without_types(name: str) -> str:
    """A name without what stands in brackets, which may be nested."""
    depth, found = 0, []
    for one in name[:_WHERE_AT_MOST]:
        depth += one == "["
        found += [one] if depth <= 0 else []
        depth -= one == "]"
    return "".join(found)


def _foreign(name: str, path: str = "") -> Function:
    return Function("", _told(name), f"{path} {name}"[:_WHERE_AT_MOST])


def _told(name: str) -> str:
    """A name, which a program chooses itself, as it may stand in a prompt and in a record."""
    return printable(name[:_NAME_AT_MOST])[:_NAME_AT_MOST]


def short(name: str) -> str:
    """A name of C++ without classes, arguments and what compilers add."""
    return _ADDED.sub("", name.replace("(anonymous namespace)::", "")).rpartition("::")[2]


@final
@dataclass(slots=True)
class Costs:
    """``own``: the cost of each function itself.  ``lines``: the first line of it that was seen.  ``callers``: how
    often, or at which cost with all that it calls, others called it.  ``tops``: functions that no other function of the
    repository called in a stack that is known to its end.

    A program may have written the profile: a cost that is no number, negative or beyond all measure is left out."""

    own: dict[Function, float] = field(default_factory=lambda: defaultdict(float))
    lines: dict[Function, int] = field(default_factory=dict)
    callers: dict[Function, dict[Function, float]] = field(default_factory=dict)
    tops: set[Function] = field(default_factory=set)

    def add(self, function: Function, cost: float, line: int) -> None:
        """Adds cost to a function."""
        if 0 <= cost <= _COST_AT_MOST:
            self.own[function] += cost
            self.lines.setdefault(function, line if 0 <= line <= _LINE_AT_MOST else 0)

    def add_call(self, function: Function, caller: Function, cost: float) -> None:
        """Adds the cost of calls of a function by another."""
        if 0 <= cost <= _COST_AT_MOST:
            callers = self.callers.setdefault(function, {})
            callers[caller] = callers.get(caller, 0.0) + cost

    def most_callers(self, function: Function, most: int) -> tuple[Function, ...]:
        """Those whose calls of a function cost most."""
        callers = self.callers.get(function, {})
        return tuple(sorted(callers, key=lambda one: -callers[one])[:most])

    def merge(self, other: Costs) -> None:
        """Adds the costs of another process."""
        for function, cost in other.own.items():
            self.add(function, cost, other.lines[function])
        for function, callers in other.callers.items():
            for caller, cost in callers.items():
                self.add_call(function, caller, cost)
        self.tops |= other.tops


def charged(costs: Costs) -> tuple[dict[Function, float], float]:
    """The cost of each own function with the code outside the repository that it called, and the cost of such code
    without a known caller.  What several callers share is divided by what their calls cost."""
    paid: dict[Function, float] = defaultdict(float)
    open_, lost = costs.own, 0.0
    for _ in range(_ROUNDS):
        following: dict[Function, float] = defaultdict(float)
        for function, cost in open_.items():
            if function.file:
                paid[function] += cost
                continue
            callers = {one: weight for one, weight in costs.callers.get(function, {}).items() if one != function}
            if (total := sum(callers.values())) <= 0:
                lost += cost
            for one, weight in callers.items() if total > 0 else ():
                following[one] += cost * weight / total
        open_ = following
    return dict(paid), lost + sum(open_.values())


def outside(costs: Costs, is_editable: Callable[[Function], bool]) -> float:
    """The cost that no editable function causes: that of calls which lead there from the top of a program without one.
    Where a chain of calls is not known to its top, its cost is not in it."""
    open_: Mapping[tuple[Function, bool], float] = {(function, False): cost for function, cost in costs.own.items()}
    found = 0.0
    for _ in range(_ROUNDS):
        following: dict[tuple[Function, bool], float] = defaultdict(float)
        for (function, was_below), cost in open_.items():
            if is_editable(function):
                continue
            is_top = function.name in _TOPS or function.name.endswith("::main") or function in costs.tops
            is_below = was_below or is_top
            callers = {one: weight for one, weight in costs.callers.get(function, {}).items() if one != function}
            total = sum(callers.values())
            found += cost if total <= 0 and is_below else 0.0
            for one, weight in callers.items() if total > 0 else ():
                following[one, is_below] += cost * weight / total
        open_ = following
    return found
