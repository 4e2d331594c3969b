"""``--help`` in groups: the options of a first run come first, those that are rarely needed last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import click

RARE = "Rarely needed"
GROUPS: Mapping[str, tuple[str, ...]] = {  # heading -> the options by their first long name, in the order of the help
    "Problem": (
        "--tests", "--against", "--reference", "--args", "--file", "--env", "--include",
        "--compile-commands", "--venv", "--flags", "--checker", "--tolerance", "--goal", "--run-limit",
        "--device", "--constant",
    ),
    "Who proposes": (
        "--policy", "--with-rule", "--without-rule", "--critic", "--method", "--methods", "--ablate", "--seed",
        "--seeds", "--models", "--set", "--base-url",
    ),
    "Budget": ("--budget", "--max-calls", "--max-tokens", "--max-dollars", "--max-seconds", "--total-seconds",
        "--dry-run"),
    "Measuring": (
        "--certificate", "--at-once", "--cluster", "--shared-cores", "--sandbox", "--unsafe-no-sandbox",
    ),
    "Output": (
        "--out", "--json", "--metric-line", "--profile-self", "--fail-on", "--csv", "--table-only", "--figures",
        "--help",
    ),
}  # fmt: skip


@final
class GroupedCommand(click.Command):
    """A command whose help lists its options by group; options without a group are listed as rarely needed."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        rows = {_name(option): option.get_help_record(ctx) for option in options}
        shown = {name: row for name, row in rows.items() if row is not None}
        grouped = {name for names in GROUPS.values() for name in names}
        rare = tuple(name for name in shown if name not in grouped)
        for heading, names in {**GROUPS, RARE: rare}.items():
            if found := [shown[name] for name in names if name in shown]:
                with formatter.section(heading):
                    formatter.write_dl(found)


def _name(option: click.Option) -> str:
    """The first long spelling of an option."""
    return next((spelling for spelling in option.opts if spelling.startswith("--")), "")
