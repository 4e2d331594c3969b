"""``maxcode train``: the group of the training verbs; each verb has its own file."""

from __future__ import annotations

import click

from maxcode.cli.train_assess import assess
from maxcode.cli.train_grpo import demo, grpo
from maxcode.cli.train_to_go import to_go


@click.group()
def train() -> None:
    """Train policies and value models on measured speed."""


for verb in (to_go, grpo, demo, assess):
    train.add_command(verb)
