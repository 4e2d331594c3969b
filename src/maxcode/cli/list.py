"""``maxcode list``: lists the names that options accept."""

from __future__ import annotations

import json
from pathlib import Path

import click

from maxcode.cli.common import as_json
from maxcode.cli.terminal import echo, echo_json
from maxcode.code.languages import LANGUAGES
from maxcode.code.techniques import TECHNIQUES, describe
from maxcode.errors import InputError
from maxcode.observe import PARTS
from maxcode.policy.rules.kernels import STEPS
from maxcode.policy.rules.modules import MODULE_RULES
from maxcode.policy.rules.rewriter import RULES
from maxcode.run.names import ASK, CRITICS, POLICIES
from maxcode.run.rule_reach import count_reachable
from maxcode.search import methods
from maxcode.search import value_guided as guided

KINDS = ("methods", "parts", "policies", "critics", "rules", "steps", "modules", "techniques", "languages")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--count", "source", type=click.Path(path_type=Path, dir_okay=False),
              help="With `rules`: count the distinct programs that one to three steps reach from "
              "this source.")  # fmt: skip
@click.option(
    "--sample", default=20, show_default=True, help="With --count: number of these programs to build, as a check."
)
@as_json
def list_(kind: str, source: Path | None, sample: int, json_: bool) -> None:
    """List the methods, parts of the observation, policies, critics, rewriter rules, steps of the kernels policy,
    rules for modules, techniques or languages."""
    if source is not None:
        if kind != "rules":
            raise InputError(f"--count goes with `maxcode list rules`, not `{kind}`")
        found = count_reachable(source, cap=1000, sample=sample)
    else:
        found = _named(kind)
    if json_:
        echo_json(json.dumps(found))
    else:
        width = max(len(name) for name in found)
        for name, told in found.items():
            echo(f"{name:<{width}}  {told}".replace("\n", f"\n{'':<{width}}  "))


def _named(kind: str) -> dict[str, str]:
    match kind:
        case "methods":
            star = "a part of the prompt that is ours: no state of the paper holds it"
            return {**methods.explained(), **guided.explained(), "PART*": star}
        case "parts":
            return dict(PARTS)
        case "policies":
            model = (
                "a language model behind an OpenAI-compatible or Anthropic endpoint (--base-url, or the environment)"
            )
            return {
                **{name: line for name, (_, line) in POLICIES.items()},
                "llm:MODEL": model,
                "command:CMD": CRITICS["command:CMD"],
                "agent:CMD": "a coding agent (claude, codex, or a command); it edits the program in a confined folder",
                ASK: "whoever runs `maxcode ask RUN` and `maxcode tell RUN ID`, a coding agent for example",
            }
        case "critics":
            return dict(CRITICS)
        case "rules":
            return {rule.name: rule.summary + ("" if rule.usual else "  (Only with --with-rule.)") for rule in RULES}
        case "steps":
            return dict(STEPS)
        case "modules":
            return dict(MODULE_RULES)
        case "techniques":
            return {name: describe(name).partition(": ")[2] for name in TECHNIQUES}
        case _:
            return {name: " ".join(row.suffixes) for name, row in LANGUAGES.items()}
