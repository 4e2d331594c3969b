"""The settings of language models: a TOML file with the tables ``[model]``, ``[policy]``, ``[critic]`` and ``[agent]``,
and the same keys on the command line (``--set policy.max_tokens=32000``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

from maxcode.core.files import read_toml
from maxcode.core.toml_tables import converted
from maxcode.errors import InputError
from maxcode.llm.clients import AnswerSettings
from maxcode.llm.clients.connect import ModelSettings
from maxcode.policy.agent import AgentSettings


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
    converted(found, ModelTables, str(path))  # errors of the file name it
    for key, value in changes.items():
        table, dot, name = key.partition(".")
        if not dot:
            raise InputError(
                f"--set {key}=... names no table; write TABLE.KEY=VALUE, e.g. --set policy.temperature=0.8"
            )
        found[table] = {**found.get(table, {}), name: value}
    tables = converted(found, ModelTables, "--set")
    chosen = {key: value for key, value in given.items() if value is not None}
    return replace(tables, model=replace(tables.model, **chosen))
