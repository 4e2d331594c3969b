"""The rarer keywords of ``optimize_program``, checked: a name or a type that is wrong is refused with its cure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypedDict, get_args, get_origin, get_type_hints

from maxcode.core.budget import Caps
from maxcode.errors import InputError, unknown
from maxcode.llm.clients import AnswerSettings
from maxcode.llm.clients.connect import ModelSettings
from maxcode.llm.completion import Answer
from maxcode.policy.agent import AgentSettings

_MAX = "max_"


class RequestOptions(TypedDict, total=False):
    """The rarer options of ``optimize_program``.  The first four are the caps of the command line (``--max-calls`` and
    so on); the others are fields of ``maxcode.Request``, where each one is described."""

    max_calls: int
    max_tokens: int
    max_dollars: float
    max_seconds: float
    total_seconds: float | None
    critic: str
    answer: Answer
    without: tuple[str, ...]
    width_for: int
    caps: Caps
    models: ModelSettings
    ask_policy: AnswerSettings
    ask_critic: AnswerSettings
    agent: AgentSettings
    replay: Path | None
    certificate: bool
    overrides: Mapping[str, Any]
    shapes: str
    value: Path | None
    draw: int
    unranked: float
    gamma: float
    trajectory_tokens: int
    cluster: str
    with_rules: tuple[str, ...]
    without_rules: tuple[str, ...]
    anyway: bool
    branch: str


def fields_of(options: RequestOptions, others: Collection[str]) -> dict[str, Any]:
    """The fields of ``Request`` from the keywords.  ``others``: the other keywords, which may be meant."""
    known = get_type_hints(RequestOptions)
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise unknown("option", name, {*known, *others})
        found[name] = _checked(name, value, known[name])
    bounds = {name: found.pop(name) for name in list(found) if name.startswith(_MAX)}
    if bounds and "caps" in found:
        raise InputError(f"{', '.join(bounds)} and caps limit the same; leave one of them out")
    if bounds:
        found["caps"] = Caps(**{name.removeprefix(_MAX): bound for name, bound in bounds.items()})
    return found


def _checked(name: str, value: Any, wanted: Any) -> Any:
    """The value, with a path or a list in the form that ``Request`` holds; InputError if the type is wrong."""
    kinds = get_args(wanted) if NoneType in get_args(wanted) else (wanted,)
    if Path in kinds and isinstance(value, str | PathLike):
        return Path(value)
    if any(_fits(value, kind) for kind in kinds):
        return tuple(value) if isinstance(value, list) else value
    raise InputError(f"{name} is {value!r}, of the type {type(value).__name__}; give {_cure(name, wanted)}")


def _fits(value: Any, kind: Any) -> bool:
    origin = get_origin(kind) or kind
    if origin is Literal:
        return value in get_args(kind)
    if isinstance(value, bool):
        return origin is bool
    if origin is tuple:
        return isinstance(value, tuple | list) and all(isinstance(one, str) for one in value)
    return isinstance(value, int | float if origin is float else origin)


def _cure(name: str, wanted: Any) -> str:
    if wanted is Caps:
        return f"{', '.join(f'{_MAX}{one.name}' for one in fields(Caps))} as keywords, e.g. max_seconds=600"
    if get_origin(wanted) is Literal:
        return " or ".join(map(repr, get_args(wanted)))
    examples: Mapping[Any, str] = {
        int: "a whole number, e.g. 4",
        float: "a number, e.g. 0.5",
        str: "a string",
        bool: "True or False",
        tuple: f'a tuple of strings, e.g. {name}=("NAME",)',
        Mapping: '{"KEY": VALUE} with keys of problem.toml',
    }
    kind = get_origin(wanted) or wanted
    name = getattr(kind, "__name__", str(kind))
    return examples.get(kind, "a path" if Path in get_args(wanted) else f"{'an' if name[0] in 'AEIOU' else 'a'} {name}")
