"""``maxcode train to-go``: a value model from recorded runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from maxcode.cli.common import as_json
from maxcode.cli.terminal import echo, echo_json
from maxcode.run.display import Display
from maxcode.search.value import OF_PAPER, PRESETS, QUANTILE, RELATIVE, SMALL
from maxcode.train.to_go import Trained, Training, train_to_go
from maxcode.train.to_go.evaluation import table
from maxcode.train.to_go.fit import CONTEXT, SMALL_CONTEXT
from maxcode.train.to_go.fitting import MODELS
from maxcode.train.to_go.pairs import Target


@click.command("to-go", short_help="Train a value model on run folders.")
@click.option("--from", "runs", multiple=True, required=True, type=click.Path(path_type=Path, exists=True),
              help="Run folders, or folders that contain run folders; may be repeated.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder of the model.")
@click.option("--model", default="blend", show_default=True, help="; ".join(f"{k}: {v}" for k, v in MODELS.items()))
@click.option("--target", type=click.Choice(get_args(Target)), default="max", show_default=True, help="Target of "
              "the prediction: the best speed-up reached or still reachable, or the mean of those that "
              "follow.")  # fmt: skip
@click.option("--edges", default=QUANTILE, show_default=True, help=f"How speed-ups become classes: {QUANTILE}s of the "
              f"training problems for every suite, {RELATIVE} (of every problem on its own), or the paper's: "
              f"{', '.join(PRESETS)}, or {OF_PAPER}, which is the one of each suite.")  # fmt: skip
@click.option("--gamma", default=1.0, show_default=True, help="The discount; the paper's is 1.")
@click.option("--prefixes", type=int, help="The largest depth of a state; the paper's is 2.  [default: any]")
@click.option("--hold-out", "held_out", multiple=True, metavar="PROBLEM",
              help="Problem to hold out for evaluation; may be repeated.  [default: a share of them]")  # fmt: skip
@click.option("--share", default=0.2, show_default=True, help="Share of the problems to hold out.")
@click.option("--seed", default=0, show_default=True, help="Random seed of the split and the model.")
@click.option("--base", default=SMALL, show_default=True, help="For --model generative: `small` (trained from "
              "scratch), or the name or folder of weights, e.g. Qwen/Qwen2.5-7B-Instruct.")  # fmt: skip
@click.option("--context", type=click.IntRange(16, 1 << 17), metavar="TOKENS", help="For --model generative: the "
              "longest prompt; the middle of longer texts is left out.  "
              f"[default: {SMALL_CONTEXT} with `small`, else {CONTEXT}]")  # fmt: skip
@click.option("--evaluate", "seeds", type=click.IntRange(0), default=0, metavar="SEEDS", help="Also evaluate by "
              "holding out every problem in turn, for this number of seeds, and report the baselines as well; 0 = do "
              "not.  [default: 0]")  # fmt: skip
@as_json
def to_go(runs: tuple[Path, ...], out: Path, json_: bool, **options: Any) -> None:
    """Train a value model (reward-to-go) on the runs of `maxcode optimize` and `maxcode bench`.

    The training of a generative model resumes from its last checkpoint if the same command is repeated.
    """
    with Display() as display:
        found = train_to_go(Training(runs, out, **options), display.say, display.note)
    if json_:
        echo_json(found.as_json())
    else:
        echo(_told(found))


def _told(found: Trained) -> str:
    data, split, labels = (found.card[part] for part in ("data", "split", "labels"))
    shares = ", ".join(f"{at}: {share:.0%}" for at, share in labels["share of each class, training"].items())
    lines = [
        f"data       {data['states']} states of {data['runs']} runs, {data['problems']} problems; "
        f"{data['guided by a value model']} guided, "
        f"{data['off-policy (another policy than most of its suite)']} off-policy",
        f"held out   {', '.join(split['held-out problems'])}: {split['held-out states']} states, "
        f"{split['programs on both sides']} programs on both sides",
        f"classes    {shares}; edges {labels['edges']}",
        f"model      {found.folder}",
        "",
        table(found.held_out),
    ]
    if found.folds:
        lines += ["", "every problem held out in turn", table(found.folds)]
    return "\n".join(lines)
