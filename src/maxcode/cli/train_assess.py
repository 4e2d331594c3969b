"""``maxcode train assess``: measures the answers of a model, with adapters or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from maxcode.cli.common import as_json, parse_changes, sandbox_options
from maxcode.cli.terminal import echo, echo_json
from maxcode.cli.train_grpo import TrainProgress
from maxcode.train.assess import as_json as figures_as_json
from maxcode.train.config import read_config
from maxcode.train.evaluators import train_target
from maxcode.train.grpo import require_train
from maxcode.train.pipeline import assess_model


@click.command(short_help="Measure fresh answers of a model.")
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--adapter", type=click.Path(path_type=Path, file_okay=False, exists=True), help="Folder of trained "
              "adapters (RUN/grpo/final).  [default: the model of CONFIG as it is]")  # fmt: skip
@click.option("--samples", default=16, show_default=True, type=click.IntRange(1), help="Answers for each problem and "
              "stage.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder of the answers; the same command "
              "resumes.  [default: runs/assess-CONFIG, and the adapter's name]")  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", callback=parse_changes,
              help="Change a key of the configuration; may be repeated.")  # fmt: skip
@sandbox_options
@as_json
def assess(
    config: Path, adapter: Path | None, samples: int, out: Path | None, changes: dict[str, Any], json_: bool
) -> None:
    """Measure fresh answers of the model of CONFIG, with --adapter or without; the prompts are those of training and of
    the first proposal of `maxcode optimize`."""
    found = read_config(config, {**changes, "assess.samples": samples})
    require_train()
    name = f"{config.stem}-{adapter.parent.parent.name if adapter is not None else 'base'}"
    folder = out or Path("runs") / f"assess-{name}"
    with TrainProgress() as progress, train_target(found, folder) as bench:
        answers = assess_model(found, adapter, folder, bench, progress.say)
    if json_:
        echo_json(figures_as_json(answers))
        return
    for problem, stage in answers.places:
        part = msgspec.to_builtins(answers.at(problem, stage))
        mean, valid = part["mean"], part["valid"]
        echo(f"{problem} stage {stage}  mean {mean['value']:.1f} [{mean['low']:.1f}, {mean['high']:.1f}], best "
                   f"{part['best']:.1f}, valid {valid['value']:.0%} of {part['answers']} answers")  # fmt: skip
