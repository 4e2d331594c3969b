"""``maxcode report``: write a run's HTML page anew."""

from __future__ import annotations

import json
from pathlib import Path

import click

from maxcode.cli.common import as_json
from maxcode.report import write_report


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@as_json
def report(run: Path, json_: bool) -> None:
    """Write RUN/report.html from the run folder RUN, finished or not."""
    path = write_report(run)
    click.echo(json.dumps({"report": str(path)}) if json_ else str(path))
