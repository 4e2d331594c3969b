"""What differs between a recorded run and the run that a command asks for, in words for the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from maxcode.core.files import TEST, read_file
from maxcode.core.types import Case, Problem
from maxcode.problems.identity import started_with

PARTS = "parts"  # the key in run.toml
_OPTIONS = frozenset(
    {"flags", "checker", "goal", "policy", "method", "critic", "answer", "without", "seed", "budget", "replay"}
)
_OF_PROBLEM = frozenset({"flags", "checker", "goal", "language"})
_SHOWN = 5


def parts_of(problem: Problem) -> dict[str, Any]:
    """What tells which part of a problem has changed: hashes of sources, tests and helpers, and the other settings."""
    spec = problem.spec
    named = [word for word in (*spec.generator, *spec.checker.command) if Path(spec.folder, word).is_file()]
    return {
        "sources": {path: _hash(text.encode()) for path, text in problem.program.files.items()},
        "tests": {case.name: _hash_of(case) for case in (*spec.seen, *spec.held_out)},
        "held_out": [case.name for case in spec.held_out],
        "helpers": {word: _hash(read_file(Path(spec.folder, word), TEST)) for word in named},
        "statement": _hash(problem.statement.encode()),
        "limits": asdict(spec.limits),
        "tolerances": {"abs_tol": spec.checker.abs_tol, "rel_tol": spec.checker.rel_tol},
        "commands": {"generator": " ".join(spec.generator), "checker": " ".join(spec.checker.command)},
        "tests.generated": spec.generated,
        **started_with(problem),
    }


def _hash_of(case: Case) -> str:
    paths = (case.stdin, *((case.expected,) if case.expected is not None else ()))
    return " ".join(_hash(read_file(Path(path), TEST)) for path in paths)


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def differences(old: Mapping[str, Any], new: Mapping[str, Any], may_change: frozenset[str]) -> list[str]:
    """How two headers differ, in words without hashes; the keys in ``may_change`` are not compared, such as ``notes``
    or, in a table, ``machine.compilers.go``."""
    keys = [key for key in sorted((old.keys() | new.keys()) - may_change) if old.get(key) != new.get(key)]
    found: list[str] = []
    for key in keys:
        match key:
            case "digest":
                told = list(_changed_parts(old.get(PARTS, {}), new.get(PARTS, {})))
                found += told or ([] if _OF_PROBLEM & set(keys) else [_SOMETHING])
            case "candidate":
                found.append("the candidate is another program now")
            case "prompts":
                found.append("the prompts are those of another version of maxcode")
            case "value":
                found.append("--value, or its options, are others")
            case _:
                name = f"--{key.replace('_', '-')}" if key in _OPTIONS else key
                found += _changed(name, old.get(key), new.get(key), may_change)
    return found


_SOMETHING = "the problem has changed since: its program, tests, checker, limits or flags"


def _changed_parts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Which parts of the problem have changed; nothing if the record is of version 0.1, which kept none."""
    if not old:
        return
    for key, what in (("sources", "sources"), ("tests", "tests"), ("helpers", "files of the checker and generator")):
        if told := "; ".join(_changed_files(old.get(key, {}), new[key])):
            yield f"{what} changed since that run: {told}"
    if told := "; ".join(_changed_files(old.get("files", {}), new.get("files", {}))):
        yield f"data files changed since that run: {told}"
    for key in ("args", "env"):
        if old.get(key) != new.get(key):
            yield from _changed(f"--{key}", old.get(key), new.get(key))
    if old.get("statement") != new["statement"]:
        yield "the statement changed since that run"
    if old.get("tests") == new["tests"] and old.get("held_out") != new["held_out"]:
        yield from _changed("held-out tests", old.get("held_out"), new["held_out"])
    for key in ("limits", "tolerances", "commands", "tests.generated"):
        if old.get(key) != new[key]:
            yield from _changed(key, old.get(key), new[key])


def _changed_files(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Words such as ``added 03, 04``."""
    for word, names in (
        ("added", new.keys() - old.keys()),
        ("removed", old.keys() - new.keys()),
        ("changed", {name for name in old.keys() & new.keys() if old[name] != new[name]}),
    ):
        if names:
            shown = sorted(names)
            yield f"{word} {', '.join(shown[:_SHOWN])}{f' and {len(shown) - _SHOWN} more' * (len(shown) > _SHOWN)}"


def _changed(name: str, old: object, new: object, may_change: frozenset[str] = frozenset()) -> Iterator[str]:
    """Words such as ``--flags were -O2, now -O3``; of a table only its differing keys."""
    if name in may_change:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                yield from _changed(f"{name}.{key}", old.get(key), new.get(key), may_change)
        return
    is_list = isinstance(old, list | tuple) or isinstance(new, list | tuple)
    yield f"{name} {'were' if is_list else 'was'} {_shown(old)}, now {_shown(new)}"


def _shown(value: object) -> str:
    if value is None or value == "" or value == []:
        return "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(str, value))
    return str(value)


def next_out(folder: Path) -> Path:
    """The first free name for another run beside ``folder``."""
    number = 2
    while folder.with_name(f"{folder.name}-{number}").exists():
        number += 1
    return folder.with_name(f"{folder.name}-{number}")
