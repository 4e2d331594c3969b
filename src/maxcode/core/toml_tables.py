"""Tables of TOML files as values: keys and types are checked, and errors are in the words of the file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from maxcode.errors import InputError, unknown

T = TypeVar("T")


def converted(table: Mapping[str, Any], kind: type[T], where: str) -> T:
    """The table as a value of a dataclass, whose fields may be tables too.  ``where`` names the file in errors.

    InputError for a key that no field has, with the nearest spelling, and for a value of a wrong type.
    """
    _known(table, kind, where)
    try:
        return msgspec.convert(dict(table), kind, dec_hook=lambda wanted, value: wanted(value))
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {toml_complaint(error)}") from error


def _known(table: Mapping[str, Any], kind: Any, where: str) -> None:
    """``known_keys`` for a table and the tables in it."""
    known_keys(table, [one.name for one in fields(kind)], where)
    kinds = get_type_hints(kind)
    for key, value in table.items():
        inner = next((one for one in (kinds[key], *get_args(kinds[key])) if is_dataclass(one)), None)
        for one in value if isinstance(value, list) else [value]:
            if inner is not None and isinstance(one, Mapping):
                _known(one, inner, f"[{key}] of {where}")


def known_keys(table: Iterable[str], names: Collection[str], where: str) -> None:
    """InputError with the nearest spelling for a key that is none of these names."""
    for key in table:
        if key not in names:
            raise unknown(f"key in {where}:", key, names)


def toml_complaint(error: Exception) -> str:
    """An error of ``msgspec.convert`` in terms of a TOML file: the key first, then what is wrong with it."""
    parts = re.fullmatch(r"(.*?)(?: - at `\$\.?(.*)`)?", str(error), re.DOTALL)  # a value may have " - at " in it
    assert parts is not None
    complaint, key = parts[1], parts[2] or ""
    if missing := re.fullmatch("Object missing required field `(.+)`", complaint):
        return f"`{f'{key}.' * bool(key)}{missing[1]}` is missing"
    advice = "; write its keys in braces, { key = value }" if complaint.startswith("Expected `object`") else ""
    complaint = re.sub("`([a-z |]+)`", lambda types: _in_toml(types[1].split(" | ")), complaint)
    return f"`{key}`: {complaint[:1].lower()}{complaint[1:]}{advice}" if key else complaint


_TYPES = {"object": "a table", "array": "a list", "str": "a text", "int": "a whole number", "float": "a number",
          "bool": "true or false", "null": ""}  # fmt: skip


def _in_toml(types: list[str]) -> str:
    """Names of types in words; TOML has no null."""
    return " or ".join(filter(None, (_TYPES.get(one, f"`{one}`") for one in types)))
