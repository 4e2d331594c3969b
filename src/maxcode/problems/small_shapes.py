"""The shapes that a module problem runs with: its own, those of a table, or small ones that are searched for and
cached.

A choice on the command line becomes constants in the problem's ``overrides``: they are part of its hash, and every
reader of a run sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import anyio

from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.evaluate.module.shrink import LIMIT_MB, Shrunk, shrink
from maxcode.problems import expanded, load
from maxcode.problems.shape_tables import OURS, Shapes, SmallShape, read_shapes, with_constants, write_shapes
from maxcode.problems.suite import sha256
from maxcode.sandbox.selftest import open_safe
from maxcode.sandbox.toolchain import cache_root

SMALL = "small"
_VERSION = 1  # version of ``shrink``: a change that gives other shapes needs another cache


def shaped(source: Path, tests: Path | None, overrides: Mapping[str, Any], chosen: str) -> Mapping[str, Any]:
    """``overrides`` with the constants of the chosen shapes: "" the problem's own, ``small``, or the path of a table.
    Constants in ``overrides`` win.  InputError if there are no such shapes."""
    if not chosen:
        return overrides
    problem = load(source, tests, overrides).problem
    if problem.kind != "module":
        raise InputError(
            f"--shapes is for PyTorch modules in the KernelBench contract, and {source} is a {problem.kind}: leave it "
            "out"
        )
    return with_constants(overrides, _small(problem) if chosen == SMALL else _listed(problem, Path(chosen), source))


def _listed(problem: Problem, table: Path, source: Path) -> SmallShape:
    if not table.is_file():
        raise InputError(
            f"the table of shapes {table} does not exist; give --shapes small, or make one with "
            f"`maxcode problems shrink {source} --out {table}`"
        )
    found = read_shapes(table).of(problem.program.text)
    if found is None:
        raise InputError(
            f"{table} has no shapes for {problem.id} (SHA-256 {sha256(problem.program.text)}); add them with `maxcode "
            f"problems shrink {source} --out {table}`"
        )
    return found


def _small(problem: Problem) -> SmallShape:
    """Small shapes, searched for once and cached."""
    tool = f"{_VERSION}-{LIMIT_MB:g}-{sha256(OURS.read_text())[:8]}"
    kept = cache_root() / "shapes" / tool / f"{sha256(problem.program.text)}.toml"
    if kept.is_file() and (found := read_shapes(kept).of(problem.program.text)) is not None:
        return found
    shape = SmallShape(problem.program.name, anyio.run(_shrunk, problem, LIMIT_MB).constants)
    write_shapes(kept, Shapes(LIMIT_MB, {sha256(problem.program.text): shape}))
    return shape


async def _shrunk(problem: Problem, limit_mb: float) -> Shrunk:
    sandbox = await open_safe()
    ours = read_shapes(OURS).of(problem.program.text)
    return await shrink(sandbox, problem, limit_mb, () if ours is None else (ours.constants,))


@final
@dataclass(frozen=True, slots=True)
class ShapeRow:
    """The result for one problem: its shape, and the details if it was searched for now; or why there is none."""

    source: str
    shape: SmallShape | None = None
    found: Shrunk | None = None
    refused: str = ""


def shrink_sources(
    sources: Iterable[Path],
    out: Path | None = None,
    limit_mb: float = LIMIT_MB,
    say: Callable[[ShapeRow], None] = lambda row: None,
) -> tuple[Shapes, list[ShapeRow]]:
    """Shapes for problems, added to the table ``out`` after each; problems in the table are skipped.

    ``kernelbench:LEVEL`` stands for all problems of a level.  A problem without a small shape gives a row with the
    reason. InputError for a source that is not a module, and for a table with another limit.
    """
    if not limit_mb > 0:
        raise InputError(f"--limit-mb is {limit_mb:g}; give a number above 0")
    shapes = read_shapes(out) if out is not None and out.exists() else Shapes(limit_mb)
    if shapes.limit_mb != limit_mb:
        raise InputError(f"{out} is a table for {shapes.limit_mb:g} MB, not {limit_mb:g}; choose another --out")
    rows = []
    for problem, source in [(_module(one.path), one.path) for one in expanded(sources).sources]:
        row = _row(problem, source, shapes)
        if row.shape is not None:
            shapes.problems[sha256(problem.program.text)] = row.shape
            if out is not None:
                write_shapes(out, shapes)
        say(row)
        rows.append(row)
    return shapes, rows


def _module(source: Path) -> Problem:
    problem = load(source).problem
    if problem.kind != "module":
        raise InputError(f"{source} is not a PyTorch module in the KernelBench contract, so it has no shapes to shrink")
    return problem


def _row(problem: Problem, source: Path, shapes: Shapes) -> ShapeRow:
    if (known := shapes.of(problem.program.text)) is not None:
        return ShapeRow(str(source), known)
    try:
        found = anyio.run(_shrunk, problem, shapes.limit_mb)
    except InputError as error:
        return ShapeRow(str(source), refused=str(error))
    return ShapeRow(str(source), SmallShape(problem.program.name, found.constants), found)
