"""Reads what profilers write: cProfile (as ``profile_hook.py`` tells it), callgrind, V8 and Go's pprof.

Each reader gives the cost of every function of the repository itself, with the calls that led there.  All of it was
written by untrusted programs: what cannot be read is left out, and nothing is ever judged by it.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NamedTuple, final

_NAME_AT_MOST = 120
_PPROF = re.compile(
    r"^\s*([\d.]+)(ns|us|ms|s|mins|hrs)?\s+[\d.]+%\s+[\d.]+%\s+\S+\s+[\d.]+%\s+(\S+) (\S+\.go):(\d+)", re.MULTILINE
)
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "mins": 60.0, "hrs": 3600.0}


class Function(NamedTuple):
    """A function: its file, relative to the repository ("" if it is not of it), and its name."""

    file: str
    name: str


@final
@dataclass(slots=True)
class Costs:
    """``own``: the cost of each function itself.  ``lines``: the first line of it that was seen.  ``callers``: how
    often, or at which cost, others called it."""

    own: dict[Function, float] = field(default_factory=lambda: defaultdict(float))
    lines: dict[Function, int] = field(default_factory=dict)
    callers: dict[Function, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, function: Function, cost: float, line: int) -> None:
        """Adds cost to a function."""
        self.own[function] += cost
        self.lines.setdefault(function, line)

    def merge(self, other: Costs) -> None:
        """Adds the costs of another process."""
        for function, cost in other.own.items():
            self.add(function, cost, other.lines[function])
        for function, callers in other.callers.items():
            self.callers[function].update(callers)


def function_at(path: str, name: str, top: str) -> Function:
    """The function ``name`` of the file at an absolute or relative path; ``top``: the repository's folder."""
    pure = PurePosixPath(path)
    inside = pure.relative_to(top) if pure.is_relative_to(top) else pure
    is_own = bool(path) and not inside.is_absolute() and ".." not in inside.parts
    return Function(str(inside) if is_own else "", name[:_NAME_AT_MOST])


def of_cprofile(lines: str, top: str) -> Costs:
    """The lines of ``profile_hook.py``, one for each process: [[file, line, function, seconds, [[caller, calls]]]]."""
    found = Costs()
    for line in lines.splitlines():
        with suppress(ValueError, TypeError, KeyError):
            for file, at, name, seconds, callers in json.loads(line):
                function = function_at(str(file), str(name), top)
                found.add(function, float(seconds), int(at))
                for caller, calls in callers:
                    found.callers[function][str(caller)[:_NAME_AT_MOST]] += int(calls)
    return found


def of_callgrind(text: str, top: str) -> Costs:
    """The file of callgrind, written without compressed names.  Inlined code of a library counts for its function."""
    found = Costs()
    at = {"fl": "", "fi": "", "fn": "", "cfi": "", "cfn": ""}
    is_call = False
    for line in text.splitlines():
        key, is_pair, value = line.partition("=")
        if line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if not is_call:
                _add_line(found, _inlined(at, top), line)
            is_call = False
        elif is_pair and key == "calls":
            called = function_at(at["cfi"] or at["fl"], at["cfn"], top)
            with suppress(ValueError):
                found.callers[called][at["fn"][:_NAME_AT_MOST]] += int(value.split()[0])
            at["cfi"], is_call = "", True
        elif is_pair and key == "fl":
            at["fl"] = at["fi"] = value
        elif is_pair and key in _FIELDS:
            at[_FIELDS[key]] = value
    return found


_FIELDS = {"fi": "fi", "fe": "fi", "fn": "fn", "cfi": "cfi", "cfl": "cfi", "cfn": "cfn"}


def _inlined(at: Mapping[str, str], top: str) -> Function:
    inner = function_at(at["fi"], at["fn"], top)
    return inner if inner.file else function_at(at["fl"], at["fn"], top)


def _add_line(found: Costs, function: Function, line: str) -> None:
    with suppress(ValueError, IndexError):
        words = line.split()
        found.add(function, float(words[1]), int(words[0]) if words[0].isdigit() else 0)


def of_v8(profiles: Mapping[str, bytes], top: str) -> Costs:
    """The files of node's ``--cpu-prof``."""
    found = Costs()
    for data in profiles.values():
        with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
            profile = json.loads(data)
            nodes = {one["id"]: one for one in profile["nodes"]}
            parents = {child: one for one in nodes.values() for child in one.get("children", ())}
            for number, one in nodes.items():
                _add_node(found, one, parents.get(number), top)
    return found


def _add_node(found: Costs, node: Any, parent: Any, top: str) -> None:
    frame, hits = node["callFrame"], int(node.get("hitCount", 0))
    function = function_at(str(frame["url"]).removeprefix("file://"), str(frame["functionName"]) or "(top level)", top)
    if not hits or function.name in ("(idle)", "(root)"):
        return
    found.add(function, hits, int(frame["lineNumber"]) + 1)
    if parent is not None:
        found.callers[function][str(parent["callFrame"]["functionName"])[:_NAME_AT_MOST] or "(top level)"] += hits


def of_pprof(text: str, top: str) -> Costs:
    """What ``go tool pprof -top -lines`` prints."""
    found = Costs()
    for number, unit, name, path, line in _PPROF.findall(text):  # the costliest line of a function comes first
        found.add(function_at(path, name.rpartition("/")[2], top), float(number) * _UNITS[unit or "s"], int(line))
    return found


def frames_of(text: str) -> Iterator[tuple[int, list[tuple[str, str, int]]]]:
    """The output of addr2line -a -i -f: an address, then (function, path, line) of its frames, innermost first."""
    for block in re.split(r"^(?=0x)", text, flags=re.MULTILINE):
        head, *rest = block.splitlines() or [""]
        if not re.fullmatch(r"0x[0-9a-f]{1,16}", head):
            continue
        frames = []
        for name, place in zip(rest[::2], rest[1::2], strict=False):
            path, _, line = place.partition(" (")[0].rpartition(":")
            frames.append((name, path, int(line) if line.isdigit() else 0))
        yield int(head, 16), frames
