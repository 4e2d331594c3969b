"""``maxcode problems``: checks and prepares problems before a search."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from maxcode.cli.common import as_json
from maxcode.cli.terminal import echo, echo_json
from maxcode.evaluate.module.shrink import LIMIT_MB
from maxcode.problems import Surveyed, survey
from maxcode.problems.shape_tables import as_toml
from maxcode.problems.small_shapes import ShapeRow, shrink_sources


@click.group()
def problems() -> None:
    """Check and prepare problems before a search."""


@problems.command("list", short_help="List problems, and what cannot be used.")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@as_json
def list_(sources: tuple[Path, ...], json_: bool) -> int:
    """List the problems that SOURCES name: those that load, and those that cannot be used, with the reason.

    SOURCES are names of suites (kernelbench:LEVEL, pie:test, polybench:all, algotune:all, folder:PATH), files
    suite.toml, or sources of `maxcode optimize`.  Nothing is built or run.  Exit status 1 if a problem cannot be used.
    """
    found = list(survey(sources))
    if json_:
        echo_json(json.dumps([one.as_table() for one in found]))
    else:
        loads = sum(one.loaded is not None for one in found)
        echo("\n".join([*map(_listed, found), f"{loads} of {len(found)} load"]))
    return int(any(one.loaded is None for one in found))


def _listed(one: Surveyed) -> str:
    if one.loaded is None:
        return f"{one.name}  CANNOT BE USED{f' ({one.where})' if one.where else ''}: {one.why}"
    problem = one.loaded.problem
    tests = f", {len(problem.spec.seen)} + {len(problem.spec.held_out)} tests" if problem.traits.has_tests else ""
    tags = f", {' '.join(one.source.tags)}" if one.source.tags else ""
    return f"{one.name}  {problem.kind}, {problem.language}{tests}{tags}"


@problems.command(short_help="Find smaller shapes for PyTorch modules.")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="TABLE.toml",
              help="Table to write or to extend, for --shapes.  [default: stdout]")  # fmt: skip
@click.option("--limit-mb", default=LIMIT_MB, show_default=True, help="Limit on the size of inputs and parameters.")
@as_json
def shrink(sources: tuple[Path, ...], out: Path | None, limit_mb: float, json_: bool) -> int:
    """Find smaller shapes for PyTorch modules in the KernelBench contract.

    SOURCES are files, kernelbench:LEVEL/ID, or kernelbench:LEVEL for a whole level.  Their constants are halved until
    inputs and parameters fit and the reference runs; kernel sizes, strides and similar constants stay.  Exit status 1
    if a problem has no smaller shapes.
    """
    shapes, rows = shrink_sources(sources, out, limit_mb, lambda row: echo(_line(row), err=True))
    if json_:
        echo_json(json.dumps([_told(row) for row in rows]))
    else:
        echo(str(out) if out is not None else as_toml(shapes), nl=out is not None)
    return int(any(row.shape is None for row in rows))


def _line(row: ShapeRow) -> str:
    if row.shape is None:
        return f"{row.source}: {row.refused}"
    words = ", ".join(f"{name} = {value}" for name, value in row.shape.constants.items()) or "as it is"
    if row.found is None:
        return f"{row.source}: {words} (as in the table)"
    given = row.found.contract
    size = f"{given.input_bytes / 2**20:.1f} MB in, first call {given.seconds * 1e3:.0f} ms"
    return f"{row.source}: {words} ({'; '.join((size, *row.found.degenerate))})"


def _told(row: ShapeRow) -> dict[str, Any]:
    found = row.found
    more = {} if found is None else {"input_bytes": found.contract.input_bytes, "seconds": found.contract.seconds,
                                     "degenerate": list(found.degenerate), "tried": list(found.tried)}  # fmt: skip
    shape = None if row.shape is None else asdict(row.shape)
    return {"source": row.source, "shape": shape, "refused": row.refused or None, **more}
