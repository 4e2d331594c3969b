"""``maxcode train grpo`` and ``maxcode train demo``: online RL on measured speed; the same command resumes."""

from __future__ import annotations

import json
import time
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import click
import msgspec

from maxcode.cli.common import as_json, parse_changes, sandbox_options, together
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.types import Interval
from maxcode.evaluate.machine.machine import describe
from maxcode.run.display import Display
from maxcode.train.config import read_config
from maxcode.train.evaluators import train_target
from maxcode.train.grpo import require_train
from maxcode.train.pipeline import Note, TrainResult, run
from maxcode.train.plan import plan_of

PLAIN_EVERY_S = 20.0  # between two lines if there is no terminal
_BAR = 24


_run_options = together(
    click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Run folder; the same "
                 "command resumes.  [default: runs/train-NAME-SEED]"),
    click.option("--seed", type=int, help="Random seed; replaces the configuration's."),
    click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", callback=parse_changes,
                 help="Change a key of the configuration, e.g. grpo.steps=100; may be repeated."),
    click.option("--cluster", default="", metavar="WHERE", help="Measure on benchmark nodes, as `maxcode optimize`; "
                 "replaces the configuration's bench.cluster."),
    click.option("--shared-cores", is_flag=True, help="With --cluster: also use nodes whose cores other programs use."),
)  # fmt: skip


@click.command(short_help="Train a policy by GRPO on measured speed.")
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False))
@_run_options
@click.option("--dry-run", is_flag=True, help="Print the first prompt, the ladder of rewards and the sizes; load no "
              "model and measure nothing.")  # fmt: skip
@sandbox_options
@as_json
def grpo(config: Path, dry_run: bool, **options: Any) -> None:
    """Train a policy by GRPO on measured speed; CONFIG is a TOML file (docs/how-to/train-a-policy.md)."""
    if dry_run:
        changes = options["changes"] | ({"seed": options["seed"]} if options["seed"] is not None else {})
        plan = plan_of(read_config(config, changes), describe("not opened"))
        echo_json(plan.as_json()) if options["json_"] else echo(plan.as_text())
        return
    _run(config, **options)


@click.command(short_help="Train a small policy from random weights: ten minutes.")
@click.option("--short", is_flag=True, help="Run the same phases in two minutes, which is too short to learn much.")
@_run_options
@sandbox_options
@as_json
def demo(short: bool, **options: Any) -> None:
    """Train a policy that writes matrix products from random weights, on their GFLOPS measured on this machine.

    Phases: make a corpus by legal transformations; make a tokenizer; pre-train a model of 0.7 million parameters;
    evaluate it; train it by GRPO with Staged Quality-Diversity; evaluate it again.  `report.html` shows all phases.
    The demo takes about ten minutes on two idle cores.
    """
    name = "short.toml" if short else "demo.toml"
    with resources.as_file(resources.files("maxcode.train") / "demo") as folder:
        _run(folder / name, **options)


def _run(
    path: Path,
    out: Path | None,
    seed: int | None,
    changes: dict[str, Any],
    json_: bool,
    **measured: Any,
) -> None:
    if seed is not None:
        changes = {**changes, "seed": seed}
    changes |= {f"bench.{key}": value for key, value in measured.items() if value}
    config = read_config(path, changes)
    require_train()
    folder = out or Path("runs") / f"train-{path.stem}-{config.seed}"
    with TrainProgress() as progress, train_target(config, folder) as bench:
        result = run(config, folder, bench, progress.say)
    if json_:
        echo_json(json.dumps(msgspec.to_builtins(result)))
    else:
        echo("\n".join(_lines(result)))


def _lines(result: TrainResult) -> list[str]:
    lines = [f"parameters {result.parameters}", f"kernels    {result.kernels} distinct ones measured during training"]
    for name in ("before", "after"):
        found = getattr(result, name).get("all")
        if found is not None:
            mean, eight = _interval(found["mean"]), _interval(found["best_of"]["8"])
            lines.append(
                f"{name:<10} mean {mean}, best of 8 {eight}, valid {found['valid']['value']:.0%}, unique "
                f"{found['unique']:.0%} of {found['answers']} answers"
            )
    if result.best is not None:
        lines.append(f"best       {_interval(msgspec.to_builtins(result.best))} measured again")
    if result.corpus_best:
        lines.append(
            f"corpus     {result.corpus_best:.1f} the fastest of its evaluated kernels (only a few are evaluated)"
        )
    total = sum(result.seconds.values())
    parts = ", ".join(f"{name} {seconds:.0f}" for name, seconds in result.seconds.items())
    return [*lines, f"seconds    {total:.0f}: {parts}", f"report     {result.report}"]


def _interval(found: dict[str, float]) -> str:
    one = Interval(**found)
    return f"{one.value:.1f} [{one.low:.1f}, {one.high:.1f}]"


@final
class TrainProgress:
    """Shows the current phase, a bar and the time left: a live line on a terminal, else a line every 20 s."""

    def __init__(self) -> None:
        self._display = Display()
        self._phase = ""
        self._began = self._told = 0.0
        self._first = 0

    def __enter__(self) -> Self:
        self._display.__enter__()
        self._display.say("admitting the problems: building and checking the originals")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._display.__exit__(kind, error, at)

    def say(self, note: Note) -> None:
        now = time.monotonic()
        if note.phase != self._phase:
            self._phase, self._began, self._first, self._told = note.phase, now, note.done, 0.0
        if self._display.is_live or note.done >= note.whole or now - self._told >= PLAIN_EVERY_S:
            self._told = now
            self._display.say(self._line(note, now))

    def _line(self, note: Note, now: float) -> str:
        share = note.done / max(1, note.whole)
        bar = "#" * round(_BAR * share) + "." * (_BAR - round(_BAR * share))
        done = note.done - self._first
        left = (now - self._began) / done * (note.whole - note.done) if done > 0 else 0.0
        told = f"{note.phase:<9} [{bar}] {note.done}/{note.whole}"
        told += f", {left:.0f} s left" if left >= 1 else ""
        return f"{told}  {note.words}" if note.words else told
