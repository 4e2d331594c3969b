"""Tables of shapes: the constants to run a problem with, by the SHA-256 of its text.

    limit_mb = 4
    [problems.36d1...]
    file = "19_ReLU.py"
    constants = { batch_size = 1024, dim = 768 }

``maxcode problems shrink`` writes them, ``--shapes TABLE.toml`` reads them.  ``shapes.toml`` in this folder is such a
table: our own data for problems whose shapes repeated halving does not find.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import msgspec
import tomli_w

from maxcode.core.files import read_toml, write_whole
from maxcode.core.toml_tables import toml_complaint
from maxcode.errors import InputError
from maxcode.problems.suite import sha256

OURS = Path(__file__).parent / "shapes.toml"


@final
@dataclass(frozen=True, slots=True)
class SmallShape:
    """The constants of one problem; ``file`` is for readers only, the SHA-256 identifies the text."""

    file: str
    constants: dict[str, int]


@final
@dataclass(frozen=True, slots=True)
class Shapes:
    """A table: SHA-256 of a problem's text -> shape."""

    limit_mb: float
    problems: dict[str, SmallShape] = field(default_factory=dict)

    def of(self, text: str) -> SmallShape | None:
        return self.problems.get(sha256(text))


def read_shapes(path: Path) -> Shapes:
    """The table in a file; InputError if it is not one."""
    try:
        return msgspec.convert(read_toml(path), Shapes)
    except msgspec.ValidationError as error:
        raise InputError(
            f"{path} is not a table of shapes: {toml_complaint(error)}; make one with `maxcode problems shrink`"
        ) from error


def write_shapes(path: Path, shapes: Shapes) -> None:
    """Write the table to a file atomically; InputError if that fails."""
    write_whole(path, as_toml(shapes).encode())


def as_toml(shapes: Shapes) -> str:
    """The table as text."""
    return tomli_w.dumps(msgspec.to_builtins(shapes))


def with_constants(overrides: Mapping[str, Any], shape: SmallShape) -> dict[str, Any]:
    """``overrides`` (see ``loading.load``) with the constants of a shape; constants in ``overrides`` win."""
    module = dict(overrides.get("module", {}))
    constants = {**shape.constants, **module.get("constants", {})}
    return {**overrides, "module": {**module, "constants": constants}}
