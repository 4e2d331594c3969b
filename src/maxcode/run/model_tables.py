"""The settings of language models: a TOML file with the tables ``[model]``, ``[policy]``, ``[critic]`` and ``[agent]``,
and the same keys on the command line (``--set policy.max_tokens=32000``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar, final

import msgspec

from maxcode.core.files import read_toml, toml_complaint
from maxcode.errors import InputError, unknown
from maxcode.llm.clients import AnswerSettings
from maxcode.llm.clients.connect import ModelSettings
from maxcode.policy.agent import AgentSettings

Table = TypeVar("Table", ModelSettings, AnswerSettings, AgentSettings)


@final
@dataclass(frozen=True, slots=True)
class ModelTables:
    """How models are reached, how the policy and the critic ask theirs, and what an agent gets."""

    model: ModelSettings = field(default_factory=ModelSettings)
    policy: AnswerSettings = field(default_factory=AnswerSettings)
    critic: AnswerSettings = field(default_factory=AnswerSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)


def model_tables(path: Path | None, changes: Mapping[str, Any], given: Mapping[str, Any]) -> ModelTables:
    """The tables of a TOML file, changed by ``changes`` (TABLE.KEY -> value) and then by the values in ``given`` that
    are not None, which are keys of ``[model]``.  InputError for an unknown table or key, with the nearest spelling."""
    found = read_toml(path, "the settings") if path is not None else {}
    where = str(path) if path is not None else "--set"
    _refuse_unknown(where, found, ModelTables)
    for key, value in changes.items():
        table, dot, name = key.partition(".")
        if not dot:
            raise InputError(
                f"--set {key}=... names no table; write TABLE.KEY=VALUE, e.g. --set policy.temperature=0.8"
            )
        _refuse_unknown("--set", {table: value}, ModelTables)
        found[table] = {**_table(where, table, found), name: value}
    tables = ModelTables(
        _read(where, "model", found, ModelSettings),
        _read(where, "policy", found, AnswerSettings),
        _read(where, "critic", found, AnswerSettings),
        _read(where, "agent", found, AgentSettings),
    )
    chosen = {key: value for key, value in given.items() if value is not None}
    return replace(tables, model=replace(tables.model, **chosen))


def _table(where: str, name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    table = found.get(name, {})
    if not isinstance(table, dict):
        raise InputError(f"{where}: {name} = {table!r} is no table; write its keys under a line [{name}]")
    return table


def _read(where: str, name: str, found: Mapping[str, Any], kind: type[Table]) -> Table:
    table = _table(where, name, found)
    _refuse_unknown(where, table, kind)
    try:
        return msgspec.convert(table, kind, dec_hook=lambda wanted, value: wanted(value))
    except msgspec.ValidationError as error:
        raise InputError(f"{where}, table [{name}]: {toml_complaint(error)}") from error


def _refuse_unknown(where: str, keys: Mapping[str, Any], kind: type[Any]) -> None:
    known = [one.name for one in fields(kind)]
    for key in keys:
        if key not in known:
            raise unknown(f"key of {where}", key, known)
