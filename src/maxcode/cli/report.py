"""``maxcode report``: writes the HTML page of a run, of one of its candidates, or of a bench again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from maxcode import bench as room
from maxcode.bench.bench_folder import HEADER
from maxcode.cli.bench import BenchAnswer
from maxcode.cli.common import as_json
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.types import StateId
from maxcode.errors import InputError
from maxcode.run.report import write_candidate, write_report


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--node", metavar="BATCH:SLOT",
              help="Write a page of this candidate only, with all its recorded data.")  # fmt: skip
@as_json
def report(run: Path, node: str | None, json_: bool) -> None:
    """Write RUN/report.html; RUN is the folder of a run or of a bench, finished or not."""
    if node is not None:
        path = write_candidate(run, _state_id(node))
    else:
        path = _bench(run) if (run / HEADER).is_file() else write_report(run)
    if json_:
        echo_json(json.dumps({"report": str(path)}))
    else:
        echo(path)


def _bench(out: Path) -> Path:
    plan = room.planned(out)
    return room.write_bench_report(out, BenchAnswer(room.read_bench(out, plan), plan, ()).view)


def _state_id(node: str) -> StateId:
    found = re.fullmatch(r"(\d+):(\d+)", node.strip())
    if found is None:
        raise InputError(f"--node is {node!r}; give the batch and the slot of a candidate, like 2:3")
    return int(found[1]), int(found[2])
