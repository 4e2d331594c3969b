"""``maxcode scout``: finds build, tests, benchmark and hot places of a repository, and writes its problem.toml."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from maxcode.cli.common import as_json, sandbox_options
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.files import write_whole
from maxcode.errors import InputError
from maxcode.evaluate.repo.git import top_of
from maxcode.run.display import Display
from maxcode.run.scout.scouting import ScoutRequest, scout
from maxcode.run.waits import waits_on


@click.command("scout")
@click.argument("folder", metavar="REPO", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--build", metavar="CMD", help="Build command, in place of the one that is found.")
@click.option("--tests", metavar="CMD", help="Test command, in place of the one that is found.")
@click.option("--benchmark", metavar="CMD", help="Benchmark command, in place of the one that is found.")
@click.option("--setup", metavar="CMD", help="Set-up command, in place of the one that is found.")
@click.option("--edit", multiple=True, metavar="PATTERN", help="Files that may be changed; may be repeated.")
@click.option("--run-setup", "runs_setup", is_flag=True,
              help="Run the set-up now, as you and with the network.  [default: only write it down]")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Where to write.  [default: REPO/problem.toml]")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
@sandbox_options
@as_json
def scout_(folder: Path, out: Path | None, overwrite: bool, json_: bool, **options: Any) -> None:
    """Find how a git repository is built, tested and timed, profile its benchmark, and write its problem.toml.

    It knows CMake, make, cargo, Go, Python and npm.  Build and benchmark run in the sandbox, on the files of HEAD.
    """
    top = top_of(folder)
    target = out if out is not None else top / "problem.toml"
    if target.exists() and not overwrite:
        raise InputError(f"{target} is there already; add --overwrite, or choose another place with --out")
    with Display() as display, waits_on(display):
        found = anyio.run(partial(scout, ScoutRequest(top, **options), display.say))
    is_beside = target.parent.resolve() == top.resolve()
    write_whole(target, found.toml("." if is_beside else top.as_posix()).encode())
    if json_:
        echo_json(found.as_json())
    else:
        echo(f"{found}\nwritten to {target}")
