"""``maxcode optimize``: make a program faster."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from maxcode.cli.common import as_json, overrides, problem_options, show
from maxcode.cli.progress import Progress
from maxcode.errors import BoundaryError, Interrupted
from maxcode.run import Request, optimize_source


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@problem_options
@click.option(
    "--policy", default="", help="Who proposes: a name, or file.py:name.  [default: rewriter; kernels for functions]"
)
@click.option("--method", default="", help="See `maxcode list methods`.  "
              "[default: cuda-llm+maxcode; elites+maxcode for functions]")  # fmt: skip
@click.option("--budget", default=24, show_default=True, help="How many candidates to try.")
@click.option("--seed", default=0, show_default=True, help="Another seed, other proposals.")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder; repeating the command resumes it. "
              "[default: runs/PROBLEM-METHOD-SEED]")  # fmt: skip
@as_json
def optimize(source: Path, tests: Path | None, json_: bool, **options: Any) -> None:
    """Make SOURCE faster: a C, C++ or Python program with --tests, or a folder with problem.toml.

    Ctrl-C once finishes what runs; the same command resumes.
    """
    problem = {key: options.pop(key) for key in ("flags", "checker", "tolerance", "goal", "run_limit")}
    request = Request(source, tests, overrides=overrides(**problem), **options)
    with Progress(request.budget) as progress:
        try:
            verdict = optimize_source(request, progress.watch, progress.admitted)
        except (Interrupted, BoundaryError) as error:
            error.add_note(f"to resume: {shlex.join(['maxcode', *sys.argv[1:]])}")
            raise
    show(verdict, json_)
