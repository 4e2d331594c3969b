"""Paths that a command line gives: they may be anywhere, those of a ``problem.toml`` are in its folder.

They travel in the overrides of a problem as Paths, which no TOML file can hold, so that a problem from elsewhere cannot
name a file outside its folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

PATHS = ("files", "include", "compile_commands")


@final
@dataclass(frozen=True, slots=True)
class GivenPaths:
    """What a command line gives beside the keys of problem.toml: paths, which may be anywhere."""

    files: Mapping[str, Path] = field(default_factory=dict)
    include: Sequence[Path] = ()
    compile_commands: Path | None = None


def apart(overrides: Mapping[str, Any]) -> tuple[Mapping[str, Any], GivenPaths]:
    """The keys of problem.toml, and the paths of the command line: Paths, which no TOML file can hold."""
    given = {key: overrides[key] for key in PATHS if is_given(overrides.get(key))}
    return {key: value for key, value in overrides.items() if key not in given}, GivenPaths(**given)


def is_given(value: object) -> bool:
    """Whether the value of an override holds Paths, so that a command line gave it."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else [value]
    return bool(inner) and all(isinstance(one, Path) for one in inner)
