"""Reads what profilers write: cProfile (as ``profile_hook.py`` tells it), callgrind, V8 and Go's pprof.

Each reader gives the cost of every function of the repository itself, with the calls that led there.  All of it was
written by untrusted programs: what cannot be read is left out, and nothing is ever judged by it.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from maxcode.core.printable import printable
from maxcode.evaluate.repo.own_functions import Costs, Function, Tree, short

_DEEPEST, _NODES = 1000, 5000  # frames of a stack, and the costliest nodes of a profile by V8
_JSON_AT_MOST = 16 << 20  # characters of a line or of a file: what they stand for takes many times as much memory
# What a text of whatever form makes a reader raise: deep lists, numbers without end, fields that are not there.
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
_LIBRARIES, _WORDS = 12, 400  # libraries, and characters, of what is told of an interpreter
_PPROF = re.compile(r" *(?:(\d{1,15}(?:\.\d{1,9})?)(ns|us|ms|s|mins|hrs) {3}| {13})(\S.*)")
_GO_TOPS = ("runtime.main", "testing.")  # what calls main and benchmarks
_LINE = re.compile(r"[0-9]{1,9}")
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "mins": 60.0, "hrs": 3600.0}
_Place = tuple[Function, int]


def of_cprofile(lines: str, tree: Tree) -> Costs:
    """The lines of ``profile_hook.py``, one for each process: [[file, line, function, seconds, [[file of a caller,
    line, caller, seconds with what it calls]]]]."""
    found = Costs()
    for line in lines.splitlines():
        with suppress(*_UNREADABLE):
            for file, at, name, seconds, callers in _json(line):
                function = _of_python(tree, file, at, name)
                found.add(function, float(seconds), int(at))
                for whose, where, caller, cost in callers:
                    found.add_call(function, _of_python(tree, whose, where, caller), float(cost))
    return found


def _of_python(tree: Tree, file: object, line: object, name: object) -> Function:
    found = tree.function(str(file), str(name))
    return found if found.file else found._replace(where=f"{file}:{line}")


def _json(text: str | bytes) -> Any:
    """One of ``_UNREADABLE`` for what is none, or too long."""
    if len(text) > _JSON_AT_MOST:
        raise ValueError(f"{len(text)} characters, at most {_JSON_AT_MOST} are read")
    return json.loads(text)


def run_by(lines: str) -> str:
    """The interpreter with the libraries that it loaded, of the first process of which ``profile_hook.py`` tells it;
    empty if none does."""
    for line in lines.splitlines():
        with suppress(*_UNREADABLE):
            interpreter, libraries = _json(line)
            told = ", ".join(f"{name} {version}" for name, version in list(libraries.items())[:_LIBRARIES])
            return printable(f"{interpreter}{f', with {told}' if told else ''}"[:_WORDS])[:_WORDS]
    return ""


def of_callgrind(text: str, tree: Tree) -> Costs:
    """The file of callgrind, written without compressed names.  Inlined code of a library counts for its function."""
    found = Costs()
    at = {"fl": "", "fi": "", "fn": "", "cfi": "", "cfn": ""}
    called: Function | None = None
    is_call = False
    for line in text.splitlines():
        key, is_pair, value = line.partition("=")
        if line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if not is_call:
                _add_line(found, _inlined(at, tree), line)
            elif called is not None:
                _add_call(found, called, tree.compiled(at["fl"], at["fn"]), line)
            is_call, called = False, None
        elif is_pair and key == "calls":
            called = tree.compiled(at["cfi"] or at["fi"], at["cfn"])
            at["cfi"], is_call = "", True
        elif is_pair and key == "fl":
            at["fl"] = at["fi"] = value
        elif is_pair and key in _FIELDS:
            at[_FIELDS[key]] = value
    return found


_FIELDS = {"fi": "fi", "fe": "fi", "fn": "fn", "cfi": "cfi", "cfl": "cfi", "cfn": "cfn"}


def _inlined(at: Mapping[str, str], tree: Tree) -> Function:
    inner = tree.compiled(at["fi"], at["fn"])
    return inner if inner.file else tree.compiled(at["fl"], at["fn"])


def _add_call(found: Costs, called: Function, caller: Function, line: str) -> None:
    """Adds the cost of a call, with all that it calls in turn."""
    with suppress(*_UNREADABLE):
        found.add_call(called, caller, float(line.split()[1]))


def _add_line(found: Costs, function: Function, line: str) -> None:
    with suppress(*_UNREADABLE):
        words = line.split()
        found.add(function, float(words[1]), int(words[0]) if words[0].isdecimal() else 0)


def of_v8(profiles: Mapping[str, bytes], tree: Tree) -> Costs:
    """The files of node's ``--cpu-prof``.  Code outside the repository counts for the own function that led there."""
    found = Costs()
    for data in profiles.values():
        with suppress(*_UNREADABLE):
            profile = _json(data)
            nodes = {one["id"]: one for one in profile["nodes"]}
            parents = {child: one for one in nodes.values() for child in one.get("children", ())}
            places: dict[Any, _Place] = {}
            for one in heapq.nlargest(_NODES, nodes.values(), key=_hits):
                _add_node(found, one, parents, tree, places)
    return found


def _hits(node: Any) -> int:
    return int(node.get("hitCount", 0))


def _add_node(found: Costs, node: Any, parents: Mapping[Any, Any], tree: Tree, places: dict[Any, _Place]) -> None:
    """Adds a node with its stack; ``places``: of the nodes that were in one before."""
    hits, path = _hits(node), [node]
    if not hits or node["callFrame"]["functionName"] in ("(idle)", "(root)"):
        return
    while path[-1]["id"] in parents and len(path) <= _DEEPEST:
        path.append(parents[path[-1]["id"]])
    for one in path:
        if one["id"] not in places:
            places[one["id"]] = _of_node(one, tree)
    add_stack(found, [places[one["id"]] for one in path], hits)


def _of_node(node: Any, tree: Tree) -> _Place:
    frame = node["callFrame"]
    path, line = str(frame["url"]).removeprefix("file://"), int(frame["lineNumber"]) + 1
    return tree.function(path, str(frame["functionName"]) or "(top level)"), line


def add_stack(found: Costs, stack: Sequence[tuple[Function, int]], cost: float) -> None:
    """Adds the cost of a stack of (function, line), innermost first, to the first own function of it, and to each call
    between own functions once."""
    own = [at for at in stack if at[0].file]
    if not own:
        found.add(stack[0][0] if stack else Function("", "?"), cost, 0)
        return
    function, line = own[0]
    found.add(function, cost, line)
    if stack[-1][0].name.startswith(_GO_TOPS):
        found.tops.add(own[-1][0])
    names = [at[0] for at in own]
    for called, caller in dict.fromkeys(pairwise(names)):
        if called != caller:
            found.add_call(called, caller, cost)


def of_pprof(text: str, tree: Tree) -> Costs:
    """What ``go tool pprof -traces -lines`` prints: stacks with their seconds, innermost first."""
    found = Costs()
    places: dict[str, _Place] = {}
    for block in re.split(r"^-+\+-+\n", text, flags=re.MULTILINE)[1:]:
        seconds = 0.0
        stack: list[_Place] = []
        for number, unit, place in (one.groups() for line in block.splitlines() if (one := _PPROF.match(line))):
            seconds = float(number) * _UNITS[unit] if number else seconds
            if place not in places:
                places[place] = _of_go(place, tree)
            stack += [places[place]] if len(stack) <= _DEEPEST else []
        if stack:
            add_stack(found, stack, seconds)
    return found


def _of_go(place: str, tree: Tree) -> _Place:
    """The place of a frame: ``name path:line``, without a path for code that has none."""
    name, slash, rest = place.removesuffix(" (inline)").partition(" /")
    if not slash:  # paths begin with a package if it was built so
        name, slash, rest = name.rpartition(" ")
    path, _, line = f"{'/' * (slash == ' /')}{rest}".rpartition(":")
    is_known = bool(name) and _LINE.fullmatch(line) is not None
    return (tree.function(path, tree.of_go(path, name)), int(line)) if is_known else (Function("", place[:_WORDS]), 0)


def frames_of(text: str) -> Iterator[tuple[int, list[tuple[str, str, int]]]]:
    """The output of addr2line -a -i -f: an address, then (function, path, line) of its frames, innermost first."""
    for block in re.split(r"^(?=0x)", text, flags=re.MULTILINE):
        head, *rest = block.splitlines() or [""]
        if not re.fullmatch(r"0x[0-9a-f]{1,16}", head):
            continue
        frames = []
        for name, place in zip(rest[::2], rest[1::2], strict=False):
            path, _, line = place.partition(" (")[0].rpartition(":")
            frames.append((name, path, int(line) if _LINE.fullmatch(line) else 0))
        yield int(head, 16), frames


def places_of(frames: Sequence[tuple[str, str, int]], tree: Tree) -> list[_Place]:
    """The functions of an address with their lines, by its frames of addr2line.

    It gives the innermost code, if that is inlined, the name of what it was inlined in: in Go always, in C++ where it
    is ``static``.  The text of the file tells the true one.
    """
    found = []
    for number, (name, path, line) in enumerate(frames):
        is_inlined = number == 0 and len(frames) > 1
        if path.endswith(".go"):
            name = (tree.around(path, line) if is_inlined else "") or tree.of_go(path, name)
        elif is_inlined and short(name) == short(frames[-1][0]):
            name = tree.around(path, line) or name
        found.append((tree.compiled(path, name, line), line))
    return found
