"""``maxcode export``: writes runs in the formats of other projects."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from maxcode.bench.export import Exported, export_kernelbench
from maxcode.cli.common import as_json
from maxcode.cli.terminal import echo, echo_json


@click.group()
def export() -> None:
    """Write runs in the formats of other projects."""


@export.command(short_help="Write runs as KernelBench's results.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write to.")
@click.option("--name", default="maxcode", show_default=True, help="Name of the run in the exported files.")
@as_json
def kernelbench(runs: tuple[Path, ...], out: Path, name: str, json_: bool) -> None:
    """Write RUNS, folders of `maxcode optimize kernelbench:LEVEL/ID`, as KernelBench's eval_results.json, kernels and
    baselines, for its own analysis script, and print fast_p."""
    found = export_kernelbench(runs, out, name)
    if json_:
        echo_json(json.dumps([asdict(one) for one in found], default=str))
    else:
        echo("\n\n".join(_lines(one) for one in found))


def _lines(one: Exported) -> str:
    mean = "-" if one.geometric_mean is None else f"{one.geometric_mean:.2f}x"
    lines = [
        f"level {one.level}    {one.tried} of {one.problems} problems, {one.correct} correct, "
        f"{one.confirmed} confirmed to be faster, geometric mean {mean}",
        "fast_p     " + ", ".join(f"{p:g}: {share:.3f}" for p, share in one.scores.items()),
        f"results    {one.eval_results}",
        f"baseline   {one.baseline}",
        f"analysis   {one.analysis}",
    ]
    if one.not_compared:
        lines.append(
            f"note       {one.not_compared} correct answer(s) were not compared with torch.compile: no baseline"
        )
    return "\n".join(lines)
