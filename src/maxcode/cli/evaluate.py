"""``maxcode evaluate``: measure one candidate against the original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from maxcode.cli.common import as_json, overrides, problem_options, sandbox_options, show
from maxcode.request import Request
from maxcode.run import evaluate_source
from maxcode.types import Outcome

UNVERIFIED_STATUS = 4  # it was compiled at most, and never ran: not the job that was asked for


@click.command()
@click.argument("candidate", type=click.Path(path_type=Path))
@click.option("--against", "source", type=click.Path(path_type=Path), required=True,
              help="The original: a source file with --tests, a folder with problem.toml, or "
              "kernelbench:LEVEL/ID.")  # fmt: skip
@problem_options
@sandbox_options
@as_json
def evaluate(candidate: Path, source: Path, tests: Path | None, json_: bool, **options: Any) -> int:
    """Verify and time CANDIDATE, a whole program, against the original.

    A CUDA candidate where there is no GPU is compiled only: its outcome is "unverified", and the exit status 4.
    """
    shapes = options.pop("shapes")
    verdict = evaluate_source(candidate, Request(source, tests, overrides=overrides(options), shapes=shapes))
    show(verdict, json_)
    return UNVERIFIED_STATUS if verdict.outcome == Outcome.UNVERIFIED.value else 0
